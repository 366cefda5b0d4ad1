"""The average over languages: over all that a run has, or over those that its options name."""

from pathlib import Path

import pytest

from ct_tasks.errors import UnknownNameError
from ct_tasks.reports.identity import Identity
from ct_tasks.reports.multilingual import averages, chosen
from ct_tasks.reports.read import Run, TaskResult
from ct_tasks.reports.tables import markdown, rows


def run(values: dict[str, float], languages: list[str] | None = None) -> Run:
    tasks = {f"ct_cruxeval_x_{name}": TaskResult({"acc": value, "acc_official": 1.0}, {}, 10, None, {}) for name, value in values.items()}
    return Run(Path("r.json"), Identity("m"), "k", 0.0, None, tasks, {"languages": languages} if languages else {})


def test_every_language_counts_the_same():
    assert averages(run({"cpp": 0.5, "go": 0.25, "py": 0.75})) == [("cruxeval_x (3 languages)", {"acc": 0.5, "acc_official": 1.0}, 30)]


def test_the_options_choose_the_languages():
    assert averages(run({"cpp": 0.5, "go": 0.25, "py": 0.75}, ["cpp", "py"]))[0][:2] == ("cruxeval_x (2 languages)", {"acc": 0.625, "acc_official": 1.0})
    assert averages(run({"cpp": 0.5, "go": 0.25}, ["cpp", "py"])) == [], "a chosen language is missing: no average of the rest"
    with pytest.raises(UnknownNameError, match="did you mean"):
        chosen(run({"cpp": 0.5}, ["cppp"]))


def test_one_language_is_no_average():
    assert averages(run({"cpp": 0.5})) == []


def test_the_row_is_in_the_tables():
    assert "cruxeval_x (2 languages)" in markdown(rows([run({"cpp": 0.5, "go": 0.25})]))
