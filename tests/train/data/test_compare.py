"""Other training sets beside LeetCodeReasoning (Table 7, Figure 11): measured by the same rules, refused where they cannot be."""

import json

import pytest

from ct_tasks.errors import ConfigError, DataError
from ct_train.__main__ import main
from ct_train.data.statistics import statistics_step

EASY = "def f(n):\n    return n + 1"
HARD = "def f(n):\n    t = 0\n    for i in range(n):\n        for j in range(i):\n            if j % 2:\n                t += j\n    return t"


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def folder(tmp_path):
    for half in ("sft", "grpo"):
        write(tmp_path / f"{half}.jsonl", [{"id": half, "sample": f"{half}/{n}", "program": HARD, "entry": "f", "call": f"f({n})", "output": "0"} for n in (3, 5)])
    return tmp_path


def test_another_set_is_a_row_of_the_table(folder):
    other = write(folder / "other.jsonl", [{"program": EASY, "call": f"f({n})"} for n in range(3)])
    statistics_step(folder, "statement", (), 1, compare={"other": other})
    summary = json.loads((folder / "statistics.json").read_text())
    assert (summary["other"]["functions"], summary["other"]["samples"], summary["other"]["complexity"]["mean"]) == (1, 3, 1.0)
    assert summary["all"]["complexity"]["mean"] == 4.0
    assert summary["all"]["loop_depth"]["mean"] == 2.0
    assert "| other | 1 | 3 |" in (folder / "statistics.md").read_text()
    write(other, [{"program": EASY, "call": "f(1)"}, {"program": HARD, "call": "f(2)"}])  # another file under the same name
    statistics_step(folder, "statement", (), 1, compare={"other": other})
    assert json.loads((folder / "statistics.json").read_text())["other"]["functions"] == 2


def test_what_is_no_training_set_is_refused(folder):
    with pytest.raises(DataError, match="no rows of other at"):
        statistics_step(folder, "statement", (), 1, compare={"other": folder / "nowhere"})
    bad = write(folder / "bad.jsonl", [{"program": EASY}])
    with pytest.raises(DataError, match=r"bad.jsonl:1 needs program and call"):
        statistics_step(folder, "statement", (), 1, compare={"other": bad})
    with pytest.raises(ConfigError, match="there already"):
        statistics_step(folder, "statement", (), 1, compare={"cruxeval": bad})


def test_the_command_needs_no_rows_to_compare_a_finished_set(folder):
    write(folder / "other.jsonl", [{"program": EASY, "call": "f(1)"}])
    assert main(["data", f"compare.other={folder / 'other.jsonl'}", "similarity.benchmarks=[]", "execute.workers=1", "--out", str(folder), "--steps", "statistics"]) == 0
    assert "| other | 1 | 1 |" in (folder / "statistics.md").read_text()
