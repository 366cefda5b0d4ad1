"""Verdicts that are kept from run to run: which, under what name, and that nothing runs twice."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from ct_tasks.execution import docker
from ct_tasks.execution.jobs import Result
from ct_tasks.execution.languages import runner
from ct_tasks.execution.languages.kept import Verdicts


def verdicts(file: Path, image: str = "sha256:1", run_s: float = 5.0, source: str = "guest") -> Verdicts:
    return Verdicts(file, image, {"run": ["python3"], "run_s": run_s}, source)


def test_only_what_the_program_did_by_itself_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "verdicts.sqlite"
    statuses = ["ok", "exception", "timeout", "memory", "killed", "output_limit", "harness_error"]
    programs = [f"program {status} \udcff" for status in statuses]
    verdicts(file).add(programs, [Result(status, error=f"why {status}") for status in statuses])  # type: ignore[arg-type]
    found = verdicts(file).find(programs)
    assert {i: (r.status, r.error) for i, r in found.items()} == {0: ("ok", "why ok"), 1: ("exception", "why exception")}


def test_another_image_recipe_runner_or_program_is_another_verdict(tmp_path: Path) -> None:
    file = tmp_path / "v.sqlite"
    verdicts(file).add(["x"], [Result("ok")])
    assert list(verdicts(file).find(["y", "x"])) == [1]
    for other in (verdicts(file, image="sha256:2"), verdicts(file, run_s=6.0), verdicts(file, source="guest 2")):
        assert other.find(["x"]) == {}


def test_a_damaged_file_is_told_once_and_programs_are_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "v.sqlite"
    file.write_bytes(b"no database " * 100)
    with caplog.at_level(logging.WARNING):
        broken = verdicts(file)
        assert broken.find(["x"]) == {}
        broken.add(["x"], [Result("ok")])
        assert broken.find(["x"]) == {}
    assert caplog.text.count("not kept") == 1


@pytest.mark.docker
def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "v.sqlite"
    programs = ["assert 1 == 1", "assert 1 == 2", "assert 1 == 1"]
    first = runner.run_programs("py", programs[:2], kept=file)
    sent: list[list[str]] = []
    real = runner._request

    def watched(name, recipe, part, *rest):  # type: ignore[no-untyped-def]
        sent.append(list(part))
        return real(name, recipe, part, *rest)

    monkeypatch.setattr(runner, "_request", watched)
    again = runner.run_programs("py", [*programs, "assert 2 == 2"], kept=file)
    assert [r.status for r in again] == ["ok", "exception", "ok", "ok"]
    assert again[1].error == first[1].error
    assert sent == [["assert 2 == 2"]]
    monkeypatch.setattr(docker, "container", None)  # nothing is left to run, so no container is made
    assert [r.status for r in runner.run_programs("py", programs, kept=file)] == ["ok", "exception", "ok"]
