"""Half of the code, half of the tests: which rows are left, always the same ones."""

import json

import pytest

from ct_tasks.contra.tracer import trace_call
from ct_tasks.errors import DataError, UnknownNameError
from ct_train.data.halves import halve

ROWS = [{"program": f"def f(n):\n    return n + {p}", "call": f"f({n})"} for p in range(4) for n in range(6)]


def functions(rows):
    return {row["program"]: [r["call"] for r in rows if r["program"] == row["program"]] for row in rows}


def test_half_of_the_code_keeps_every_test_of_half_of_the_functions():
    kept = functions(halve(ROWS, "code"))
    assert len(kept) == 2
    assert all(calls == [f"f({n})" for n in range(6)] for calls in kept.values())


def test_half_of_the_tests_keeps_every_function():
    kept = functions(halve(ROWS, "tests"))
    assert len(kept) == 4
    assert all(len(calls) == 3 for calls in kept.values())


def test_both_round_up_and_nothing_is_all():
    assert len(halve(ROWS[:1], "code")) == len(halve(ROWS[:1], "tests")) == 1
    assert len(halve(ROWS[:5], "tests")) == 3
    assert len(halve(ROWS[:18], "code")) == 12
    assert halve(ROWS, "") == ROWS
    twice = [*ROWS[:2], *ROWS[:2]]
    assert len(halve(twice, "tests")) == 2


def test_the_half_does_not_depend_on_the_order_of_the_rows():
    kept = {json.dumps(r) for r in halve(ROWS, "tests")}
    assert {json.dumps(r) for r in halve(ROWS[::-1], "tests")} == kept
    assert [r for r in ROWS if json.dumps(r) in kept] == halve(ROWS, "tests")


def test_rows_with_a_trace_alone_are_told_apart_and_others_are_refused():
    traced = [{"truth": json.dumps(trace_call(r["program"], r["call"]).to_json())} for r in ROWS]
    assert len(halve(traced, "code")) == len(halve(traced, "tests")) == 12
    with pytest.raises(DataError, match="row 1 has no program and call"):
        halve([{"prompt": "a", "completion": "b"}], "code")
    with pytest.raises(UnknownNameError, match="did you mean tests"):
        halve(ROWS, "test")
