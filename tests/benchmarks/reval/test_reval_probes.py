"""REval's probes and class outputs: truth by running, clear answers only, published verdicts, consistency."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.base import Answer, Item
from ct_tasks.benchmarks.reval import child, co, layout
from ct_tasks.benchmarks.reval.consistency import PATTERNS, Coverage, incremental_consistency
from ct_tasks.benchmarks.reval.truth import inputs, truth
from ct_tasks.errors import DataError
from ct_tasks.options import TaskOptions

OPTIONS = TaskOptions()
TASKS = ("ct_reval_c", "ct_reval_p", "ct_reval_s", "ct_reval_co")
LOOP = "def f(n):\n    total = 0\n    for i in range(n):\n        total += i\n    if total > 100:\n        total = -1\n    return total\n"


def probe(line: int, variable: str, code: str = LOOP, given: str = "(3,)", entry: str = "f") -> dict[str, Any]:
    found: dict[str, Any] = child.trace({"code": code, "entry": entry, "input": given, "probes": [[line, variable]]})["probes"][0]
    return found


def test_trace_sees_every_value_after_a_line_and_every_line_that_follows() -> None:
    assert probe(4, "total") == {"covered": True, "next": [3], "values": [["0", "int", "0"], ["1", "int", "1"], ["3", "int", "3"]]}
    assert probe(3, "i")["next"] == [4, 5]
    assert probe(6, "total") == {"covered": False, "next": [-1], "values": None}
    assert probe(7, "total")["next"] == [-1]
    assert probe(5, "missing")["values"] is None


def test_trace_snapshots_values_and_not_references() -> None:
    code = "def f(n):\n    xs = []\n    for i in range(n):\n        xs.append(i)\n    return xs\n"
    assert [v[0] for v in probe(4, "xs", code)["values"]] == ["[0]", "[0,1]", "[0,1,2]"]


def test_trace_survives_recursion_and_generators() -> None:
    code = "def f(n):\n    if n < 2:\n        return 1\n    below = f(n - 1)\n    return n * below\n"
    # The authors' definitions: states of one line in a row are one state, and the next state after a call is inside it.
    assert [v[0] for v in probe(5, "below", code, "(4,)")["values"]] == ["6"]
    assert probe(4, "below", code, "(4,)") == {"covered": True, "next": [2], "values": None}
    code = "def f(n):\n    xs = list(n * i for i in range(3))\n    return xs\n"
    assert [v[0] for v in probe(2, "xs", code)["values"]] == ["[0,3,6]"]


def test_the_official_task_set(data_dir: Path) -> None:
    found = inputs()
    assert (sum(not i.is_class for i in found), sum(i.is_class for i in found), sum(len(i.probes) for i in found)) == (396, 294, 3152)
    items = [registry.get(name).items(OPTIONS) for name in TASKS]
    assert [len(i) for i in items] == [3152, 3152, 3152, 294]
    assert len({item.id for item in items[0]}) == 3152


@pytest.mark.slow
@pytest.mark.parametrize("paradigm", ["direct", "cot"])
@pytest.mark.parametrize("name", TASKS)
def test_gold_scores_and_hostile_does_not(data_dir: Path, name: str, paradigm: str) -> None:
    benchmark, options = registry.get(name), TaskOptions(paradigm=paradigm)
    bad = benchmark.bad_references(options)
    items = [item for item in benchmark.items(options) if item.id not in bad]
    assert len(bad) <= 120
    scores = benchmark.score([Answer(item, benchmark.gold(item, options)) for item in items], options)
    assert [i.id for i, s in zip(items, scores, strict=True) if not s.acc] == []
    some = items[:: max(1, len(items) // 20)]
    texts = [Answer(item, text) for item in some for text in benchmark.hostile(item, options).values()]
    assert not any(s.acc for s in benchmark.score(texts, options))


@pytest.fixture(scope="module")
def coverage_item(data_dir: Path) -> Item:
    benchmark: Any = registry.get("ct_reval_c")
    items = benchmark.items(OPTIONS)
    return next(item for item in items if not benchmark.fact(item, OPTIONS)["covered"])  # type: ignore[no-any-return]


@pytest.mark.parametrize(("text", "status", "official"), [
    ("NO", "right", True), ("[ANSWER]\nNo.\n[/ANSWER]", "right", True), ("no, it is skipped", "right", True), ("YES", "wrong", False),
    ("", "no_answer", True), ("maybe", "unreadable", True), ("[ANSWER]YES and NO[/ANSWER]", "unreadable", False), ("not sure", "unreadable", True),
    ("<think>NO", "unclosed", True)])
def test_an_unclear_answer_is_unreadable_and_never_no(coverage_item: Item, text: str, status: str, official: bool) -> None:
    """The published scorer takes an unclear answer for NO, which is right here."""
    score = registry.get("ct_reval_c").score([Answer(coverage_item, text)], OPTIONS)[0]
    assert (score.status, score.acc_official) == (status, official)
    assert score.values["fn"] == 0.0


def test_state_answers_are_typed(data_dir: Path) -> None:
    benchmark: Any = registry.get("ct_reval_s")
    item = next(i for i in benchmark.items(OPTIONS)
                if (v := benchmark.fact(i, OPTIONS)["values"]) and {x[1] for x in v} == {"int"} and any(x[0] == "1" for x in v))

    def status(text: str) -> str:
        return str(benchmark.score([Answer(item, f"[ANSWER]\n{text}\n[/ANSWER]")], OPTIONS)[0].status)

    assert [status(t) for t in ("1; int", "1; integer", "1; <class 'int'>", "`1`; `int`")] == ["right"] * 4
    assert [status(t) for t in ("True; bool", "1; float", "1.0; int", "1; str", "Nil", "2 - 1; int", "987654; int")] == ["wrong"] * 7
    assert status("1") == "unreadable"


def test_coverage_ratios_with_nothing_to_divide_by() -> None:
    assert Coverage.of(0, 0, 0) == Coverage(0.0, 0.0, 0.0)
    assert Coverage.of(0, 0, 5) == Coverage(0.0, 0.0, 0.0)
    assert Coverage.of(3, 1, 2) == Coverage(0.75, 0.6, pytest.approx(2 / 3))
    assert Coverage.of_rows([{"tp": 1.0, "fp": 0.0, "fn": 0.0}, {"tp": 0.0, "fp": 1.0, "fn": 0.0}]).precision == 0.5


def test_incremental_consistency_by_hand() -> None:
    ids = [f"DREval/0/{i}/7" for i in range(6)]
    patterns = [(1, 1, 1, 1), (1, 1, 1, 0), (1, 1, 0, 0), (1, 0, 0, 0), (0, 1, 1, 1), (1, 0, 1, 1)]
    columns = [{i: bool(p[k]) for i, p in zip(ids, patterns, strict=True)} for k in range(3)]
    output = {i.rpartition("/")[0]: bool(p[3]) for i, p in zip(ids, patterns, strict=True)}
    assert incremental_consistency(*columns, output) == pytest.approx(100 * (1 + 0.5 + 0.25 + 0.125) / 6)
    assert len(PATTERNS) == 4
    with pytest.raises(DataError, match="same probes"):
        incremental_consistency(columns[0], {}, columns[2], output)
    with pytest.raises(DataError, match="no output verdict"):
        incremental_consistency(*columns, {})
    with pytest.raises(DataError, match="at least one"):
        incremental_consistency({}, {}, {}, {})


@pytest.mark.parametrize(("answer", "reason"), [
    ("a = A(3)\nassertEqual(a.f(2), 5)\nassertAlmostEqual(a.g(), 0.1)", ""),
    ("a = A(3)\nassertEqual(a.f(2), 6)\nassertAlmostEqual(a.g(), 0.1)", "6 is not 5"),
    ("a = A(3)\nassertEqual(a.f(2), 5)\nassertAlmostEqual(a.g(), 0.10000000001)", ""),
    ("a = A(3)\nassertEqual(a.f(2), 5.0)\nassertAlmostEqual(a.g(), 0.1)", "5.0 is not 5"),
    ("a = A(4)\nassertEqual(a.f(2), 5)\nassertAlmostEqual(a.g(), 0.1)", "changed"),
    ("a = A(3)\nassertEqual(5, 5)\nassertAlmostEqual(a.g(), 0.1)", "changed"),
    ("a = A(3)\nassertEqual(a.f(2), a.f(2))\nassertAlmostEqual(a.g(), 0.1)", "not a literal"),
    ("assertEqual(1, 1)", "other statements"),
    ("not python (", "not Python"),
])
def test_a_completed_test_is_compared_and_never_run(answer: str, reason: str) -> None:
    original = "a = A(3)\nassertEqual(a.f(2), 5)\nassertAlmostEqual(a.g(), 0.1)"
    seen = [["assertEqual", 1, [["5", "int"], ["5", "int"]]], ["assertAlmostEqual", 1, [["0.1", "float"], ["0.1", "float"]]]]
    found = co.compare(answer, original, seen)
    assert found.startswith(reason) if not reason else reason in found
    assert bool(found) == bool(reason)


def test_prompts_show_program_run_and_question_but_no_truth(data_dir: Path) -> None:
    for name in TASKS:
        benchmark = registry.get(name)
        for item in benchmark.items(OPTIONS)[::400]:
            direct = benchmark.prompt(item, OPTIONS, chat=False)
            assert direct.endswith("[ANSWER]\n")
            assert benchmark.prompt(item, TaskOptions(paradigm="cot"), chat=False).endswith("[THOUGHT]\n")
            assert direct.count("[PYTHON]") == 2
            assert benchmark.prompt(item, TaskOptions(shots=0), chat=True).count("[PYTHON]") == 1
    assert "failed" in truth(OPTIONS)
    assert layout.generation(OPTIONS).until == ("[/ANSWER]",)


def test_the_worked_example_is_true() -> None:
    found = child.trace({"code": layout.EXAMPLE_CODE, "entry": "halve", "input": "(7,)", "probes": [[3, "n"]]})["probes"][0]
    assert found == {"covered": True, "next": [4], "values": [["8", "int", "8"]]}
