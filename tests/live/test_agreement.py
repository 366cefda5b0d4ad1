"""The measure of agreement itself: what counts as the same answer, and what a disagreement is."""

import json

import pytest

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.base import Item
from ct_tasks.options import TaskOptions
from tests.live.agreement import rows, statuses, summary
from tests.live.halves import half
from tests.live.same import same

CODE = {"code": "def f(x, y=1):\n    return x", "entry": "f", "call": "f(3)", "output": "3"}
MINI, CODEGEN = registry.get("ct_mini"), registry.get("ct_humaneval")
INPUT = registry.get("ct_cruxeval_i")


@pytest.mark.parametrize(("task", "read", "label", "equal"), [
    (MINI, "[1, 2]", "[1,2]", True), (MINI, "'6'", "6", False), (MINI, "1", "True", False), (MINI, "'a'", '"a"', True), (MINI, "oops", "'oops'", False),
    (INPUT, "f(3, y=2)", "f(x=3, y=2)", True), (INPUT, "f(3, 2)", "f( 3,2 )", True), (INPUT, "f(3)", "f(4)", False),
    (registry.get("ct_reval_c"), "YES", "yes", True), (registry.get("ct_reval_s"), "8; int", "8 ; int", True), (registry.get("ct_reval_s"), "8; int", "8; str", False),
    (registry.get("ct_reval_s"), "Nil", "nil", True), (registry.get("ct_reval_co"), "assertEqual(a,1)", "assertEqual(a, 1)", True),
    (registry.get("ct_reval_s"), "8; int", "8", True), (registry.get("ct_reval_s"), "8; int", "[8, int]", True), (registry.get("ct_reval_s"), "8; int", "9", False),
    (registry.get("ct_reval_s"), "8; int", "8; <class 'int'>", True), (registry.get("ct_reval_s"), "True; bool", "1", False), (registry.get("ct_reval_s"), "Nil", "Nil; list", True),
    (registry.get("ct_reval_co"), "x = A()\nassertEqual(x.f(), 1)", "assertEqual(x.f(), 1)", True), (registry.get("ct_reval_co"), "x = A()\nassertEqual(x.f(), 1)", "1", True),
    (registry.get("ct_reval_co"), "assertEqual(x.f(), 1)", "2", False), (registry.get("ct_reval_co"), "assertEqual(x.f(), 1)", "assertEqual(x.f(), 2)", False),
    (registry.get("ct_gsm8k"), "18", "18.0", True), (registry.get("ct_gsm8k"), "18", "19", False),
])  # fmt: skip
def test_same_answer(task, read, label, equal):
    assert same(task, Item("x", CODE), "", read, label) == equal


def test_a_program_is_named_by_its_blocks():
    item = Item("x", {"entry_point": "double"})
    right, other = "def double(n):\n    return 2 * n\n", "print(double(2))\n"
    reply = f"First:\n```python\n{other}```\nthen\n```python\n{right}```\n"
    assert same(CODEGEN, item, reply, right, "2")
    assert same(CODEGEN, item, reply, f"import math\n{right}", "1,2")
    assert not same(CODEGEN, item, reply, right, "1")
    assert same(CODEGEN, item, right, right, "all")


def test_rows_say_who_disagrees():
    items = MINI.items(TaskOptions(paradigm="cot"))[:4]
    gold = [i.data["output"] for i in items]
    texts = [f"[ANSWER]{gold[0]}[/ANSWER]", f"[ANSWER]{gold[1]}[/ANSWER]", "no idea", "[ANSWER]1 + 1[/ANSWER]"]
    replies = [{"id": f"m/{i.id}", "model": "m", "task": "ct_mini", "paradigm": "cot", "shots": 0, "item": i.id, "text": t, "finish_reason": "stop"}
               for i, t in zip(items, texts, strict=True)]
    kinds = [("answer", gold[0]), ("none", None), ("none", None), ("unreadable", None)]
    labels = {r["id"]: {"id": r["id"], "kind": k, "answer": a} for r, (k, a) in zip(replies, kinds, strict=True)}
    found = rows(replies, json.loads(json.dumps(labels)))
    assert [r.agrees for r in found] == [True, False, True, True]
    assert [r.same_kind for r in found] == [True, False, True, True]
    assert [r.falsely_right for r in found] == [False, True, False, False]
    assert summary(found, "all")[2:] == ["3/4 (75.0 %)", "3/4 (75.0 %)", "1/4 (25.0 %)"]
    assert "unreadable" in statuses(found)


def test_the_halves_are_fixed_by_the_ids():
    names = [f"model/task/cot/0/{n}" for n in range(200)]
    assert 70 < sum(half(n) == "held_out" for n in names) < 130
    assert [half(f"id{n}") for n in range(4)] == [half(f"id{n}") for n in range(4)]
