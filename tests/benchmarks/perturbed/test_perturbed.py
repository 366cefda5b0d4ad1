"""ct_cruxeval_p: each change is what it claims to be, and every value is that of a real run."""

import ast
import itertools
import random

import pytest

from ct_tasks.benchmarks import cruxeval
from ct_tasks.benchmarks.base import Answer
from ct_tasks.benchmarks.perturbed import changes, child
from ct_tasks.benchmarks.perturbed.task import VARIANTS, CruxEvalP
from ct_tasks.errors import UnknownNameError
from ct_tasks.lm_eval.options import check_metadata, check_task
from ct_tasks.options import TaskOptions


@pytest.fixture(scope="module")
def made(data_dir):
    task = CruxEvalP()
    items = task._make(cruxeval.load()[::25], TaskOptions())
    task._made["local"] = items
    return task, {i.id: i for i in items}


def test_every_variant_is_paired_with_its_original(made):
    _, items = made
    originals = [i for i in items.values() if i.data["variant"] == "original"]
    assert len(originals) == 32
    assert all(f"{i.group}/original" in items for i in items.values())
    counts = {v: sum(i.data["variant"] == v for i in items.values()) for v in VARIANTS}
    assert all(counts[v] >= 28 for v in ("input", "rename", "mislead", "structure")), counts
    assert counts["constants"] >= 16


def test_what_changes_and_what_stays(made):
    _, items = made
    for item in items.values():
        original = items[f"{item.group}/original"].data
        same_code, same_call = item.data["code"] == original["code"], item.data["call"] == original["call"]
        assert (same_code, same_call) == {"original": (True, True), "input": (True, False)}.get(item.data["variant"], (False, True))
        if item.data["variant"] in ("rename", "mislead", "structure"):
            assert item.data["output"] == original["output"]


def test_gold_is_right_and_hostile_is_not(made):
    task, items = made
    for paradigm in ("direct", "contra"):
        options = TaskOptions(paradigm=paradigm)
        chosen = list(items.values())
        assert all(s.acc for s in task.score([Answer(i, task.gold(i, options)) for i in chosen], options))
        attacks = task.hostile(chosen[7], options)
        assert not any(s.acc for s in task.score([Answer(chosen[7], t) for t in attacks.values()], options))


def test_a_change_that_does_not_hold_is_left_out(data_dir, monkeypatch):
    monkeypatch.setattr(changes, "restructured", lambda code, rng: code.replace("return ", "return 0 or ", 1) + "\nx = 1\n" if "+" not in code else "def f(*a):\n    return 'no'")
    items = CruxEvalP()._make(cruxeval.load()[:20], TaskOptions())
    held = {i.group for i in items if i.data["variant"] == "structure"}
    plus = {i.id for i in cruxeval.load()[:20] if "+" in i.data["code"]}
    assert plus
    assert not held & plus


CASES = [
    ("def f(n):\n    t = 0\n    for i in range(n):\n        if i % 2 and i % 3:\n            continue\n        t += i\n    return t, i", ["f(3)", "f(9)"]),
    ("def f(n):\n    for i in range(n):\n        if i == 2 or i > 5:\n            break\n    return i", ["f(0)", "f(1)", "f(9)"]),
    ("def f(xs):\n    i = 5\n    ys = [i * 2 for i in xs if i > 1 if i < 9]\n    return ys, i", ["f([1, 2, 9])", "f([])"]),
    ("def f(xs):\n    xs = [x + 1 for x in xs]\n    return [x for x in xs if x != 3]", ["f([1, 2, 9])"]),
    ("def f(a):\n    return [b for c in a for b in c]", ["f([[1], [2]])"]),
    ("def f(spare):\n    return spare", ["f(1)"]),
]


@pytest.mark.parametrize(("code", "calls"), CASES)
def test_another_structure_means_the_same(code, calls):
    other = changes.restructured(code, random.Random(0))
    assert other != code
    for call in calls:
        assert child.outcomes({"source": code, "call": call}) == child.outcomes({"source": other, "call": call}), other


def test_structure_rewrites_loops_comprehensions_and_conditions():
    assert "while" in changes.restructured(CASES[0][0], random.Random(0))
    assert "not (not i % 2 or not i % 3)" in changes.restructured(CASES[0][0], random.Random(0))
    assert "for each in xs" in changes.restructured(CASES[2][0], random.Random(0))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f(a):\n    return a.a + len(a)  # a", "def f(v1):\n    return v1.a + len(v1)  # a"),
        ("def f(é, b):\n    return 'é', é, b", "def f(v1, v2):\n    return 'é', v1, v2"),
        ("def f(a, key):\n    return sorted(a, key=key)", "def f(v1, v2):\n    return sorted(v1, key=v2)"),
        ("def f(a):\n    return f'{a}'", None),
        ("def f(v2):\n    return v1(v2)", None),
    ],
)
def test_names_are_replaced_in_place(code, expected):
    assert changes.renamed(code, random.Random(0), misleading=False) == expected


def test_inputs_keep_type_and_shape():
    made = list(itertools.islice(changes.inputs("f([1, 2, 30], 'Ab-9', (True, None), k={'a': 1.5})", random.Random(0)), 50))
    assert len(set(made)) > 40
    for call in made:
        numbers, text, pair = (ast.literal_eval(a) for a in ast.parse(call, mode="eval").body.args)
        assert [type(n) for n in numbers] == [int] * 3
        assert [c.isupper() for c in text] == [True, False, False, False]
        assert text[2] == "-"
        assert text[3].isdigit()
        assert pair[1] is None
        assert ", k={" in call


def test_one_constant_changes():
    for text in itertools.islice(changes.constants("def f(a):\n    return a[:2] + 'xy'", random.Random(0)), 20):
        assert text != "def f(a):\n    return a[:2] + 'xy'"
        assert text.startswith("def f(a):\n    return a[:")
    assert list(changes.constants("def f(a):\n    'doc'\n    return a", random.Random(0))) == []


def test_a_run_that_never_ends_or_raises_is_told():
    found = child.outcomes({"source": "def f(n):\n    while n > 2:\n        pass\n    return 1 // n", "call": "f(1)\nf(3)\nf(0)"})
    assert found == {"outcomes": [["value", "1"], ["none", ""], ["raises", "ZeroDivisionError"]]}


def test_a_value_that_is_too_long_to_ask_about_is_compared_by_its_hash():
    (kind, text), (_, other) = child.outcomes({"source": "def f(n):\n    return 'a' * n", "call": "f(300000)\nf(300001)"})["outcomes"]
    assert kind == "long"
    assert len(text) == 64
    assert text != other


def test_an_unknown_perturbation_is_refused():
    with pytest.raises(UnknownNameError, match="did you mean rename"):
        check_task("ct_cruxeval_p", check_metadata({"perturbations": ["renam"]}))


def test_perturbations_choose_the_items(made):
    task, _ = made
    assert {i.data["variant"] for i in task.items(TaskOptions(perturbations=("original", "rename")))} == {"original", "rename"}
