"""The code-generation tasks on real data, a sample of each: gold, hostile, plus inputs really used, forging, limits."""

from __future__ import annotations

import base64
import json
import logging
import pickle
import zlib
from pathlib import Path
from typing import Any

import pytest

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.base import Answer, Item
from ct_tasks.benchmarks.codegen import runner
from ct_tasks.benchmarks.codegen.lcb import LcbCodegen, read_cases, same_output
from ct_tasks.benchmarks.codegen.mbpp import SHOTS, Asserts, Mbpp
from ct_tasks.benchmarks.codegen.oracles import CORRECTED
from ct_tasks.benchmarks.codegen.plus import HumanEvalPlus, MbppPlus, read_tests
from ct_tasks.errors import ConfigError, DataError
from ct_tasks.options import TaskOptions

TASKS = registry.GROUPS["codethinker_codegen"]
OPTIONS = TaskOptions()


def sample(name: str, count: int) -> tuple[Any, list[Item]]:
    benchmark = registry.get(name)
    bad = benchmark.bad_references(OPTIONS)
    items = [item for item in benchmark.items(OPTIONS) if item.id not in bad]
    return benchmark, items[:: max(1, len(items) // count)]


def verdict(benchmark: Any, item: Item, source: str) -> Any:
    return benchmark.score([Answer(item, f"```python\n{source}\n```")], OPTIONS)[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_gold_scores_and_hostile_does_not(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("CT_CACHE_DIR", str(tmp_path))
    benchmark, items = sample(name, 12)
    gold = benchmark.score([Answer(item, benchmark.gold(item, OPTIONS)) for item in items], OPTIONS)
    assert [i.id for i, s in zip(items, gold, strict=True) if not s.acc or not s.acc_flexible] == []
    texts = [(item, kind, text) for item in items[:5] for kind, text in benchmark.hostile(item, OPTIONS).items()]
    scores = benchmark.score([Answer(item, text) for item, _, text in texts], OPTIONS)
    assert [(i.id, k) for (i, k, _), s in zip(texts, scores, strict=True) if s.acc or s.acc_flexible or s.acc_official or s.status == "harness_error"] == []


def test_the_plus_inputs_are_really_run(data_dir: Path) -> None:
    """A program that is right on the base inputs alone fails: HumanEval/0 without its inner comparison of all pairs."""
    benchmark = HumanEvalPlus()
    item = next(i for i in benchmark.items(OPTIONS) if i.id == "HumanEval/2")
    assert verdict(benchmark, item, "def truncate_number(number):\n    return number % 1.0").acc
    shallow = verdict(benchmark, item, "def truncate_number(number):\n    return {3.5: 0.5, 1.25: 0.25, 123.0: 0.0}.get(number, 0.5)")
    assert not shallow.acc
    assert shallow.reason.startswith("test ")
    assert len(benchmark._tests["HumanEval/2"].inputs) > 900


def test_inputs_keep_their_types_and_every_row_has_some(data_dir: Path) -> None:
    for benchmark in (HumanEvalPlus(), MbppPlus()):
        counts = {i: len(read_tests(row["test"], i)[1]) for i, row in benchmark._rows.items()}
        assert min(counts.values()) >= 3
        assert sum(counts.values()) == (123_981 if isinstance(benchmark, HumanEvalPlus) else 40_634)
    _, inputs, _ = read_tests(MbppPlus()._rows["2"]["test"], "2")
    assert all(isinstance(argument, tuple) for argument in inputs[0])
    with pytest.raises(DataError, match="no inputs"):
        read_tests("inputs = []\nfor inp in inputs:\n    assertion(f(*inp), 1, 0)", "x")


def test_the_reference_itself_is_judged_on_the_outputs_that_are_known(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its text runs once, for what is expected; one that differs in a comment runs again, with the same verdict."""
    monkeypatch.setenv("CT_CACHE_DIR", str(tmp_path))
    benchmark = HumanEvalPlus()
    item = benchmark.items(OPTIONS)[2]
    source = benchmark.reference(item.id)
    benchmark.tests([item.id], OPTIONS)
    asked: list[int] = []
    real = runner.run_all

    def watched(jobs: Any, options: TaskOptions) -> Any:
        asked.extend([len(jobs)] if jobs else [])
        return real(jobs, options)

    monkeypatch.setattr(runner, "run_all", watched)
    same = benchmark.score([Answer(item, source, extracted=True)], OPTIONS)[0]
    other = benchmark.score([Answer(item, source + "# as above\n", extracted=True)], OPTIONS)[0]
    assert same.acc
    assert other.acc
    assert same.acc_official == other.acc_official
    assert asked == [1]


def test_an_exact_integer_answer_is_right_where_the_reference_divides_floats(data_dir: Path) -> None:
    benchmark = MbppPlus()
    item = next(i for i in benchmark.items(OPTIONS) if i.id == "287")
    assert verdict(benchmark, item, CORRECTED["287"]).acc
    assert not verdict(benchmark, item, "def square_Sum(n):\n    return 2*n*(n+1)*(2*n+1)/3").acc


def test_a_program_cannot_reach_an_expected_value(data_dir: Path) -> None:
    benchmark = registry.get("ct_humaneval")
    item = benchmark.items(OPTIONS)[4]
    for source in (
        "import json\ndef mean_absolute_deviation(n): return 1.0\njson.dumps = lambda *a, **k: '{\"outputs\": [], \"times\": [], \"stop\": null}'",
        "import ct_tasks.benchmarks.codegen.child as c\nc.dump = lambda v: '1.0'\ndef mean_absolute_deviation(n): return 0",
        "import gc, sys\ndef mean_absolute_deviation(n):\n    return [o for o in gc.get_objects() if isinstance(o, str) and 'assert' in o][0]",
        "def check(candidate): pass\ndef mean_absolute_deviation(n): return None",
        "import builtins\nbuiltins.abs = lambda x: 0\ndef mean_absolute_deviation(n): return 99.0",
        "assert_ = 1\nimport random\nrandom.seed = None\ndef mean_absolute_deviation(n): raise SystemExit(0)",
    ):
        score = verdict(benchmark, item, source)
        assert not score.acc, source
        assert score.status != "harness_error", (source, score.reason)


@pytest.mark.slow
def test_a_program_that_hangs_or_sleeps_times_out(data_dir: Path) -> None:
    benchmark = registry.get("ct_humaneval")
    item = benchmark.items(OPTIONS)[4]
    options = TaskOptions(limit_s=1.0)
    for body in ("while True: pass", "try:\n        while True: pass\n    except Exception: return 0"):
        answer = Answer(item, f"```python\ndef mean_absolute_deviation(n):\n    {body}\n```")
        assert benchmark.score([answer], options)[0].status == "timeout"


def test_mbpp_asserts_are_cut_at_their_calls() -> None:
    made = Asserts.of(["assert set(f((1, 2), 3)) == set(f(4))", "assert not f('a')"], "f")
    assert made.calls == ("f((1, 2), 3)", "f(4)", "f('a')")
    assert made.test == "assert set(__outputs__[0]) == set(__outputs__[1])\nassert not __outputs__[2]"
    with pytest.raises(DataError, match="never call it"):
        Asserts.of(["assert True"], "f")


def test_no_item_meets_itself_among_the_worked_examples(data_dir: Path) -> None:
    texts = {item.data["text"] for item in Mbpp().items(OPTIONS)}
    assert len(texts) == 499  # two of the 500 tasks share their text
    assert not texts & {text for text, _, _ in SHOTS}


def test_a_task_on_which_nothing_is_found_says_so(data_dir: Path, caplog: pytest.LogCaptureFixture) -> None:
    benchmark, items = sample("ct_humaneval", 8)
    with caplog.at_level(logging.WARNING):
        scores = benchmark.score([Answer(item, "I cannot help.") for item in items], OPTIONS)
    assert {s.status for s in scores} == {"no_answer"}
    assert "chat template" in caplog.text


@pytest.mark.parametrize(("expected", "got", "strict", "official"), [
    ("1 2\n3", "1 2\n3\n", True, True), ("1 2", "1  2", True, True), ("0.5", "0.50", True, True), ("0.5", "0.5000001", True, False),
    ("0.5", "0.51", False, False), ("100", "100.0000001", False, False), ("1000000.0", "1000000.5", True, False), ("a b", "a c", False, False),
    ("1\n2", "1", False, False), ("Yes", "yes", False, False), ("nan", "nan", True, True), ("1e3", "1000", True, True)])
def test_printed_outputs(expected: str, got: str, strict: bool, official: bool) -> None:
    assert same_output(expected, got) is strict
    assert same_output(expected, got, official=True) is official


def lcb_item(*cases: tuple[str, str]) -> Item:
    return Item("x", {"entry_point": "", "starter": "", "content": "?", "cases": [list(c) for c in cases]})


def test_standard_input_is_a_true_stream_and_big_integers_print() -> None:
    benchmark = LcbCodegen()
    item = lcb_item(("3\n4\n", "7"))
    assert verdict(benchmark, item, "import sys\nprint(sum(map(int, sys.stdin.buffer.read().split())))").acc
    assert verdict(benchmark, item, "import os\nprint(sum(map(int, os.read(0, 99).split())))").acc
    assert verdict(benchmark, item, "print(int(input()) + int(input()))").acc
    digits = lcb_item(("5000\n", "1" + "0" * 5000))
    assert verdict(benchmark, digits, "print(10 ** int(input()))").acc
    assert verdict(benchmark, item, "from __future__ import annotations\nprint(7)").acc
    assert not verdict(benchmark, item, "print(7); raise SystemExit(1)").acc


def test_a_right_program_before_its_sample_output_is_right_in_both_readings() -> None:
    benchmark = LcbCodegen()
    item = lcb_item(("3\n4\n", "7"), ("1\n1\n", "2"))
    program = "```python\nprint(int(input()) + int(input()))\n```"
    score = benchmark.score([Answer(item, f"{program}\nSample output:\n```\n7\n```")], OPTIONS)[0]
    assert (score.acc, score.acc_flexible, score.answer_flexible) == (True, True, "print(int(input()) + int(input()))")
    assert benchmark.score([Answer(item, "```\n7\n```")], OPTIONS)[0].status == "unreadable"
    scores = benchmark.score([Answer(item, "`print(int(input()) + int(input()))`")], OPTIONS)
    assert [(s.status, s.status_flexible) for s in scores] == [("no_answer", "right")]


def test_scripts_have_numpy_and_what_site_brings() -> None:
    pytest.importorskip("numpy")
    benchmark = LcbCodegen()
    item = lcb_item(("3 4\n", "7"))
    assert verdict(benchmark, item, "import numpy as np\nprint(int(np.array(input().split(), dtype=np.int64).sum()))\nexit()").acc
    assert verdict(benchmark, item, "print(sum(map(int, open('/dev/stdin').read().split())))").acc


def test_a_program_that_the_limit_cut_is_truncated_and_a_complete_one_is_judged() -> None:
    benchmark = LcbCodegen()
    item = lcb_item(("3\n4\n", "7"))
    cut = [Answer(item, f"```python\n{text}", truncated=True) for text in ("a = int(input())\nb =", "print(int(input()) + int(input()))\n")]
    cut.append(Answer(item, "```python\nprint(8)\n```\nThis", truncated=True))
    assert [(s.status, s.status_flexible) for s in benchmark.score(cut, OPTIONS)] == [("truncated",) * 2, ("right",) * 2, ("wrong",) * 2]


def test_both_readings_share_one_run(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark, items = sample("ct_humaneval", 2)
    judged: list[int] = []
    real = type(benchmark).judge

    def counted(self: Any, items: Any, programs: Any, options: TaskOptions) -> Any:
        judged.append(len(programs))
        return real(self, items, programs, options)

    monkeypatch.setattr(type(benchmark), "judge", counted)
    answers = [Answer(items[0], benchmark.gold(items[0], OPTIONS)), Answer(items[0], benchmark.gold(items[0], OPTIONS) + "Done.")]
    assert all(s.acc and s.acc_flexible for s in benchmark.score(answers, OPTIONS))
    assert judged == [1]


def test_lcb_dates_choose_the_window(data_dir: Path) -> None:
    everything = LcbCodegen().items(OPTIONS)
    window = LcbCodegen().items(TaskOptions(start_date="2023-09-01", end_date="2023-12-31"))
    assert 0 < len(window) < len(everything) == 400
    assert {item.data["date"][:4] for item in window} == {"2023"}
    assert min(item.data["date"] for item in window) >= "2023-09-01"
    for start, end in (("2023-13-01", None), ("2024-01-01", "2023-01-01"), ("2030-01-01", None)):
        with pytest.raises(ConfigError):
            LcbCodegen().items(TaskOptions(start_date=start, end_date=end))


def test_test_payloads_are_read_or_refused() -> None:
    row = {"question_id": "q", "public_test_cases": "[]"}
    with pytest.raises(DataError, match="no tests means no score"):
        read_cases(row)
    packed = base64.b64encode(zlib.compress(pickle.dumps(json.dumps([{"input": "1", "output": "2", "testtype": "stdin"}])))).decode()
    assert [c.expected for c in read_cases({**row, "private_test_cases": packed})] == ["2"]
    with pytest.raises(DataError, match="cannot be read"):
        read_cases({**row, "private_test_cases": "not base64!"})
    evil = base64.b64encode(zlib.compress(pickle.dumps(Path))).decode()
    with pytest.raises(DataError, match="should be a text"):
        read_cases({**row, "private_test_cases": evil})
