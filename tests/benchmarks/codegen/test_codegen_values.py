"""Outputs as text and their comparison: typed, tolerance per value, opaque equal to nothing."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ct_tasks.benchmarks.codegen import oracles
from ct_tasks.benchmarks.codegen.values import Opaque, dump, has_opaque, load, same

LITERALS: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=3) | st.complex_numbers(),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=3) | st.integers(), inner,
                                                                                            max_size=3)
    | st.frozensets(st.integers() | st.text(max_size=2), max_size=3).map(set), max_leaves=8)
Pair = namedtuple("Pair", "a b")


@given(LITERALS)
def test_values_survive_the_trip(value: Any) -> None:
    back = load(dump(value))
    assert dump(back) == dump(value)
    assert type(back) is type(value)
    assert same(value, back)


@pytest.mark.parametrize(("a", "b"), [(1, True), (0, False), (True, 1), ([1], (1,)), ("1", 1), (b"a", "a"), (None, False), ([1, 2], [2, 1]),
                                      ({1: 2}, {1: 3}), (1, 1.5), (10**9, 10**9 + 1), (1.0, 1.01), (math.inf, -math.inf), (math.nan, 0.0),
                                      ({1}, {1: 1}), (10**17, float(10**17) + 64), (0.5, "0.5")])
def test_different_values(a: Any, b: Any) -> None:
    assert not same(a, b)
    assert not same(b, a)


@pytest.mark.parametrize(("a", "b"), [(1, 1.0), (1.0, 1), (0.1 + 0.2, 0.3), (math.nan, math.nan), ([1.0, (2, 3.0)], [1.0 + 1e-9, (2, 3.0)]),
                                      (1e20, 1e20 * (1 + 1e-8)), ({"a": 1.0}, {"a": 1.0000001}), (2j, 2j + 1e-9)])
def test_equal_values(a: Any, b: Any) -> None:
    assert same(a, b)


def test_the_tolerance_of_a_float_does_not_stick_to_integers() -> None:
    """evalplus keeps the tolerance after the first float: an integer off by one at 10^9 then passes."""
    expected, got = [1.5, 10**9], [1.5, 10**9 + 1]
    assert not all(same(e, g) for e, g in zip(expected, got, strict=True))
    assert oracles.official("f", False, [(), ()], expected, got, 0.0)


@pytest.mark.parametrize(("value", "plain"), [(Counter("aab"), {"a": 2, "b": 1}), (OrderedDict(a=1), {"a": 1}), (Pair(1, 2), (1, 2)),
                                              (defaultdict(int, {1: 2}), {1: 2})])
def test_subclasses_count_as_their_base(value: Any, plain: Any) -> None:
    assert dump(value) == dump(plain)


@pytest.mark.parametrize("value", [object(), deque([1]), range(3), (x for x in "a"), [object()], lambda: 1, {1: object()}])
def test_what_has_no_spelling_is_equal_to_nothing(value: Any) -> None:
    text = dump(value)
    assert has_opaque(text)
    assert not same(load(text), load(text))
    assert Opaque("x") != Opaque("x")


def test_a_program_cannot_answer_with_its_own_equality() -> None:
    class Always(str):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = str.__hash__

    assert load(dump(Always("wrong"))) == "wrong"
    assert not same("right", load(dump(Always("wrong"))))


def test_very_large_values_are_compared_as_digests() -> None:
    big = list(range(200_000))
    assert dump(big) == dump(list(range(200_000)))
    assert len(dump(big)) < 200
    assert dump(big) != dump([*big[:-1], -1])
    assert dump(big) != dump(tuple(big))
    assert dump([1.0] * 200_000) != dump([1] * 200_000)


@pytest.mark.parametrize(("entry", "arguments", "expected", "got", "right"), [
    ("surface_Area", (3, 4), 33, 35, True), ("surface_Area", (3, 4), 33, 36, False), ("surface_Area", (3, 4), 33, 33, True), ("surface_Area", (1, 2), 5, 5, True),
    ("digit_distance_nums", (1, 234), 0, 8, True), ("digit_distance_nums", (1, 234), 1, 2, False),
    ("similar_elements", ((1, 2), (2,)), (2,), [2], True), ("similar_elements", ((1, 2), (2,)), (2,), [1], False),
    ("check_str", ("a",), True, Opaque("re.Match"), True), ("check_str", ("a",), False, Opaque("re.Match"), False),
    ("check_str", ("a",), False, None, True), ("sum_div", (7,), 1, 0, True)])
def test_oracles_for_tasks_with_several_right_answers(entry: str, arguments: Any, expected: Any, got: Any, right: bool) -> None:
    assert oracles.right(entry, True, arguments, expected, got, 0.0) is right


def test_a_root_is_judged_by_its_polynomial() -> None:
    assert oracles.right("find_zero", False, ([-4, 0, 1],), 2.0, -2.0, 1e-4)
    assert not oracles.right("find_zero", False, ([-4, 0, 1],), 2.0, 1.9, 1e-4)


def test_inputs_on_which_rounding_decides_are_flagged() -> None:
    assert oracles.BORDERLINE["has_close_elements"]([0.05, 0.06], 0.01)
    assert not oracles.BORDERLINE["has_close_elements"]([1.0, 2.0, 3.9], 0.3)
