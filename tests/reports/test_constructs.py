"""The failure atlas: which constructs a block holds, and what a first error counts for."""

import pytest
from test_site import PROGRAM, TRUTH

from ct_tasks.contra.scoring import score_trace
from ct_tasks.contra.trace import render
from ct_tasks.reports.constructs import CONSTRUCTS, constructs
from ct_tasks.reports.summary import Summary, _first_wrong, fault, first_wrong, numbers

LINES = PROGRAM.split("\n")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a = 1", {"plain statement"}),
        ("a = b[1:]", {"slice"}),
        ("a = b[-1]", {"negative index"}),
        ("d[k] = 1", {"item assignment"}),
        ("d[k] += 7 // 2", {"item assignment", "division or modulo"}),
        ("d.update(e)", {"dict update"}),
        ("a = s.split(',')", {"string method"}),
        ("xs.append(1)", {"list method"}),
        ("a = [x for x in y if x]", {"comprehension"}),
        ("a, b = b, a", {"several targets"}),
        ("a = '%d' % 3", {"string formatting"}),
        ("a = f'{b}'", {"string formatting"}),
        ("a = sorted(b, key=lambda x: -x)", {"sorting", "lambda or inner function"}),
        ("a = 1 if b else 2", {"condition"}),
        ("a = 1 << 3", {"power or bits"}),
        ("for x in y:\n        while x:\n            break", {"loop in a loop", "for loop", "while loop", "break or continue"}),
        ("try:\n        a = 1\n    except ValueError:\n        pass", {"try"}),
        ("a = d.get(1)", {"dict method"}),
        ("a = f(n - 1)", {"plain statement"}),  # of whose name nothing is known here
        ("this is no Python", set()),
    ],
)
def test_constructs_of_a_block(line, expected):
    lines = ("def f(n):", *("    " + line).split("\n"))
    assert set(constructs(lines, 1, len(lines))) == expected


def test_the_head_of_a_function_is_no_construct_and_its_own_call_is():
    assert constructs(("def f(n):", "    return f(n - 1)"), 0, 2) == ("call of its own",)
    assert constructs(("def f(n):", "    a = 1"), 0, 2) == ("plain statement",)
    assert len(set(CONSTRUCTS)) == len(CONSTRUCTS)


def verdict(text):
    score = score_trace(text, TRUTH)
    return {"status": "right" if score.answer_right else "wrong", "acc": score.answer_right, "rcs": score.rcs, "hack": float(score.hack), "detail": {"trace": score.to_json()}}


def test_a_first_error_counts_for_the_constructs_of_its_block_out_of_those_reached():
    found = Summary()
    _first_wrong(found, verdict(render(TRUTH)), LINES)
    assert found.wrong_at == {"block missing": [0, 3], "code not copied": [0, 3], "plain statement": [0, 2], "while loop": [0, 1]}
    _first_wrong(found, verdict(render(TRUTH).replace("'b': 5}", "'b': 6}")), LINES)
    assert found.wrong_at["while loop"] == [1, 2]
    assert found.wrong_at["plain statement"] == [0, 4]
    _first_wrong(found, verdict(render(TRUTH).replace("'b': 10", "'b': 11")), LINES)  # the loop is not reached
    assert found.wrong_at["while loop"] == [1, 2]
    assert found.wrong_at["plain statement"] == [1, 6]
    _first_wrong(found, verdict(render(TRUTH).replace("b = a * 2", "b = a * 3")), LINES)
    assert found.wrong_at["code not copied"] == [1, 10]
    assert found.wrong_at["plain statement"] == [1, 7]
    _first_wrong(found, verdict("no idea"), LINES)
    assert found.wrong_at["block missing"] == [1, 11]
    assert found.wrong_at["plain statement"] == [1, 7]
    assert found.traces == 5


def test_a_verdict_of_any_shape_is_no_fault_of_ours():
    for detail in (None, [], {}, {"trace": 3}, {"trace": {"deltas": [], "blocks": []}}, {"trace": {"deltas": [True], "blocks": [3]}}, {"trace": {"deltas": [False], "blocks": [], "first_wrong": 4}}):
        assert first_wrong({"detail": detail}) is None
        _first_wrong(Summary(), {"detail": detail}, LINES)
    assert fault({"predicted": "{}", "code_ok": True, "start": "x"}, LINES) == ()


def test_numbers_of_one_document():
    rows = [{"status": "right", "acc": True, "hack": 1.0, "rcs": 0.5, "tokens_out": 4}, {"status": "harness_error", "acc": False, "rcs": None}, {"status": "wrong", "acc": False, "hack": 0.0, "rcs": 1.0, "tokens_out": 8}]
    found = numbers(rows)
    assert found["acc"] == 0.5  # a harness error is no verdict
    assert found["harness_error"] == pytest.approx(1 / 3)
    assert found["rcs"] == 0.75
    assert found["hack_rate"] == 0.5
    assert found["tokens_out"] == 6
    assert found["truncated"] == 0
