"""Inputs: what fits a signature, and what variations keep of their examples."""

from __future__ import annotations

from pathlib import Path

import pytest

from ct_tasks.contra.literals import LiteralError
from ct_tasks.errors import ConfigError
from ct_train.data.calls import function_of, read_call
from ct_train.data.inputs import fill, make_sources

PROGRAM = "from typing import List\ndef f(n: int, xs: List[int], s: str) -> int:\n    return n\n"


def row(examples: list[str], program: str = PROGRAM) -> dict[str, object]:
    return {"id": "t", "program": program, "entry": "f", "lines": 1, "difficulty": None, "examples": examples}


EXAMPLES = ['n = 3, xs = [1,4,9], s = "ab"', 'n = 4, xs = [2,3,5,8], s = "ba"', "n = null, xs = [], s = 1"]


def test_fifteen_new_calls_with_their_origin() -> None:
    out = fill([row(EXAMPLES)], make_sources(["dataset", "mutate"], 0, None, Path()), 15, 600)
    (kept,) = out.kept
    calls = [given["call"] for given in kept["inputs"]]
    assert len(calls) == len(set(calls)) == 15
    assert [g["origin"] for g in kept["inputs"]] == ["dataset"] * 2 + ["mutate"] * 13
    assert calls[0] == "f(3, [1, 4, 9], 'ab')"
    assert out.counts["dataset: unreadable"] == 1


def test_variations_keep_what_all_examples_have_in_common() -> None:
    out = fill([row(EXAMPLES)], make_sources(["dataset", "mutate"], 1, None, Path()), 15, 600)
    function = function_of(row(EXAMPLES))
    for given in out.kept[0]["inputs"]:
        n, xs, s = read_call(given["call"], function)
        assert isinstance(xs, list)
        assert n == len(xs)  # n was the length of xs in every example
        assert xs == sorted(xs)
        assert len(set(xs)) == len(xs)
        assert set(str(s)) <= set("ab")


def test_a_matrix_stays_rectangular_and_binary() -> None:
    program = "def f(grid: List[List[int]]) -> int:\n    return 0\n"
    out = fill(
        [row(["grid = [[0,1],[1,0]]", "grid = [[1,1,0],[0,0,0]]"], program)],
        make_sources(["mutate"], 0, None, Path()),
        15,
        600,
    )
    function = function_of(row([], program))
    for given in out.kept[0]["inputs"]:
        (grid,) = read_call(given["call"], function)
        assert isinstance(grid, list)
        assert len({len(r) for r in grid}) <= 1
        assert {v for r in grid for v in r} <= {0, 1}


def test_the_same_seed_gives_the_same_calls_and_another_seed_others() -> None:
    def calls(seed: int) -> list[str]:
        out = fill([row(EXAMPLES)], make_sources(["mutate"], seed, None, Path()), 15, 600)
        return [given["call"] for given in out.kept[0]["inputs"]]

    assert calls(3) == calls(3) != calls(4)


def test_without_examples_the_annotations_are_enough() -> None:
    out = fill([row([])], make_sources(["dataset", "mutate"], 0, None, Path()), 15, 600)
    assert len(out.kept[0]["inputs"]) == 15


@pytest.mark.parametrize(
    ("call", "word"),
    [
        ("g(1, [2], 'a')", "not a call"),
        ("f(1, [2])", "missing"),
        ("f(1, [2], 'a', 4)", "too many"),
        ("f(1, [2], 'a', n=4)", "doubled"),
        ("f(True, [2], 'a')", "wrong type"),
        ("f(1, [2, 'x'], 'a')", "wrong type"),
        ("f(1, [2], open('x'))", "not part of a literal"),
        ("f(1, [2], 'a'", "not an expression"),
    ],
)
def test_calls_that_do_not_fit_are_refused(call: str, word: str) -> None:
    with pytest.raises(LiteralError, match=word):
        read_call(call, function_of(row([])))


def test_an_unknown_source_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="mutatte"):
        make_sources(["mutatte"], 0, None, Path())


def test_a_function_without_any_valid_call_is_dropped() -> None:
    out = fill([row(["n = 1"])], make_sources(["dataset"], 0, None, Path()), 15, 600)
    assert [r["reason"] for r in out.dropped] == ["no_input"]
