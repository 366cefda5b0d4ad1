"""Mathematical equality: committed pairs in both orders, the reported faults of math-verify, and the deadline."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ct_tasks.benchmarks.math.child import Comparer
from ct_tasks.benchmarks.math.equal import same_number
from ct_tasks.benchmarks.math.exact import rational
from ct_tasks.benchmarks.math.latex import canonical_unit, split_unit, tidy

HERE = Path(__file__).parent
TOWER = r"\frac{1}{" + "5^{" * 8 + "5" + "}" * 9


def pairs(name: str) -> list[tuple[str, str]]:
    rows = [line.split("\t") for line in (HERE / name).read_text(encoding="utf-8").splitlines()]
    return [(a, b) for a, b in rows]


@pytest.fixture(scope="module")
def comparer() -> Iterator[Comparer]:
    made = Comparer(workers=1)
    yield made
    made.close()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "verdict"), [("equivalent.tsv", "yes"), ("different.tsv", "no")])
def test_committed_pairs_in_both_orders(comparer: Comparer, name: str, verdict: str) -> None:
    given_pairs = pairs(name)
    assert len(set(given_pairs)) == len(given_pairs) >= 200
    both = [pair for a, b in given_pairs for pair in ((a, b), (b, a))]
    wrong = [(pair, got.verdict, got.reason) for pair, got in zip(both, comparer.compare_all(both), strict=True)
             if got.verdict != verdict]
    assert wrong == []


def test_unparsed_is_not_equal(comparer: Comparer) -> None:
    assert comparer.compare("3*x-1*y+13=0", "3x+4y+14=0").verdict == "no"
    assert comparer.compare("5", "???").verdict == "no"
    assert comparer.compare(r"x^2", r"\frac{").verdict == "no"


@pytest.mark.parametrize("other", ["", "5", "x"])
def test_an_empty_text_equals_nothing(comparer: Comparer, other: str) -> None:
    assert comparer.compare("", other).verdict == "no"
    assert comparer.compare(other, "").verdict == "no"


def test_two_conics_compare_without_an_error(comparer: Comparer) -> None:
    assert comparer.compare("x^2/4+y^2/3=1", "x^2/16+y^2/12=1").verdict == "no"
    assert comparer.compare("x^2/4+y^2/3=1", "3x^2+4y^2-12=0").verdict == "yes"


def test_an_unparsable_gold_is_an_error_not_a_verdict(comparer: Comparer) -> None:
    result = comparer.compare(r"\frac{x}{", "x+1")
    assert (result.verdict, result.timed_out) == ("error", False)


@pytest.mark.slow
def test_a_pair_that_never_ends_is_killed_and_the_next_pair_is_served() -> None:
    comparer = Comparer(workers=1, cpu_s=1.0)
    endless = comparer.compare(TOWER, TOWER.replace("8", "7") + " + x")
    assert endless.verdict == "error"
    assert endless.timed_out
    assert "processor time" in endless.reason
    assert comparer.compare(r"\sqrt{12}", r"2\sqrt{3}").verdict == "yes"
    comparer.close()


@pytest.mark.slow
def test_threads_may_compare(comparer: Comparer) -> None:
    got: list[str] = []
    threads = [threading.Thread(target=lambda: got.append(comparer.compare(r"\sqrt{8}", r"2\sqrt{2}").verdict))
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == ["yes"] * 4


@settings(max_examples=200, deadline=None)
@given(st.integers(-10**12, 10**12), st.integers(1, 10**6))
def test_rationals_are_exact(top: int, bottom: int) -> None:
    value = Fraction(top, bottom)
    assert rational(f"\\frac{{{top}}}{{{bottom}}}") == value
    assert rational(f"{top}/{bottom}") == value
    assert rational(f"{top} \\div {bottom} + 10^{{-40}}") != value


@pytest.mark.parametrize(("text", "value"), [
    (r"1\frac{4}{5}", Fraction(9, 5)), (r"-2\frac{1}{3}", Fraction(-7, 3)), ("3 1/2", Fraction(7, 2)), ("5!", Fraction(120)),
    ("2^{-3}", Fraction(1, 8)), ("-2^2", Fraction(-4)), ("6.02e3", Fraction(6020)), ("1/0", None), ("2 3", None), ("x", None),
    ("", None), ("9^{9^{9}}", None), ("((", None), ("1.2.3", None)])
def test_rational_reads_arithmetic_and_nothing_else(text: str, value: Fraction | None) -> None:
    assert rational(text) == value


@pytest.mark.parametrize(("target", "answer", "right"), [
    (Fraction("3244047.0999999996"), "3244047.1", True), (Fraction("2.0107e-06"), "0", False),
    (Fraction("2.0107e-06"), "2.0107e-6", True), (Fraction(-9867630), "-9,867,630 dollars", True),
    (Fraction(-9867630), "9867630", False), (Fraction(-9867630), "-9867631", False),
    (Fraction("23103210.4"), "23103210", False), (Fraction(5), "five", True), (Fraction(5), "fine", False)])
def test_gsm_hard_tolerance_is_relative_for_small_targets(target: Fraction, answer: str, right: bool) -> None:
    assert same_number(target, answer, tolerance=Fraction(1, 1000)) is right


def test_units_have_one_spelling_and_words_are_no_units() -> None:
    assert canonical_unit("square inches") == canonical_unit(r"\text{ in}^2") == "in^2"
    assert split_unit(tidy(r"864 \mbox{ inches}^2")) == ("864", "in^2")
    assert split_unit(tidy(r"\text{even}")) == (r"\text{even}", "")
    assert split_unit("5x") == ("5x", "")
