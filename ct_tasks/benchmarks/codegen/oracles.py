"""Judging the outputs of plus tests: the strict rule, per-task oracles, and evalplus' own rule for ``acc_official``.

Oracles are evalplus 0.3.1's (``_special_oracle.py``, Apache-2.0): tasks with more than one right answer, tasks whose
outputs are sets or objects, and a root finder judged by its polynomial. evalplus accepts anything at all for Mbpp/164 once
an output exists; that is followed officially only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

from ct_tasks.benchmarks.codegen.values import DEFAULT_ATOL, Opaque, same

NOT_NONE: Final = frozenset({"check_str", "text_match_three", "text_starta_endb"})
SET_EQUAL: Final = frozenset({"similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly", "larg_nnum",
                              "intersection_array", "find_dissimilar", "Diff"})
ROOT_ATOL: Final = 1e-4

# References whose arithmetic loses an exact answer: float division of whole numbers (Mbpp/287 at n = 1,000,000).
CORRECTED: Final = {"287": "def square_Sum(n):\n    return 2 * n * (n + 1) * (2 * n + 1) // 3\n"}


def _near_threshold(numbers: Any, threshold: Any) -> bool:
    """HumanEval/0: two numbers whose written difference is the threshold, so that rounding and not the statement decides."""
    exact = sorted(Decimal(repr(n)) for n in numbers if math.isfinite(n))
    limit = Decimal(repr(threshold))
    return any(abs(abs(b - a) - limit) < Decimal("1e-12") for i, a in enumerate(exact) for b in exact[i + 1:])


BORDERLINE: Final[dict[str, Callable[..., bool]]] = {"has_close_elements": _near_threshold}


def _surface(base: Any, height: Any) -> Any:
    """Mbpp/581 with the height taken as the pyramid's, not the slant."""
    slant = math.sqrt((base / 2) ** 2 + height**2)
    return round(base**2 + 4 * (base * slant) / 2)


def _digit_distance(a: Any, b: Any) -> int:
    """Mbpp/558 with the shorter number padded by zeros."""
    one, two = str(a), str(b)
    width = max(len(one), len(two))
    return sum(abs(int(x) - int(y)) for x, y in zip(one.zfill(width), two.zfill(width), strict=True))


def polynomial(coefficients: Sequence[float], x: float) -> float:
    return math.fsum(c * math.pow(x, i) for i, c in enumerate(coefficients))


def right(entry: str, mbpp: bool, arguments: Sequence[Any], expected: Any, got: Any, atol: float) -> bool:
    """The strict verdict on one output. Never raises: an output of an unforeseen kind is wrong."""
    try:
        if mbpp and entry in NOT_NONE:
            wanted = expected if isinstance(expected, bool) else expected is not None
            return wanted is (got if isinstance(got, bool) else got is not None)
        if not mbpp and entry == "find_zero":
            return type(got) in (int, float) and abs(polynomial(arguments[0], got)) <= (atol or ROOT_ATOL)
        if mbpp and entry in SET_EQUAL:
            return isinstance(got, (list, tuple, set)) and set(got) == set(expected)
        if same(expected, got, atol):
            return True
        if mbpp and entry == "surface_Area":
            return type(got) in (int, float) and abs(got - _surface(*arguments)) <= (atol or DEFAULT_ATOL)
        if mbpp and entry == "digit_distance_nums":
            return type(got) is int and got == _digit_distance(*arguments)
        if mbpp and entry == "sum_div":
            return type(got) is int and got == 0  # Mbpp/295: a prime's proper divisors, with and without 1
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        return False
    return False


def _is_floats(value: Any) -> bool:
    if isinstance(value, float):
        return True
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(v, float) for v in value)


def official(entry: str, mbpp: bool, arguments: Sequence[Sequence[Any]], expected: Sequence[Any], got: Sequence[Any],
             atol: float) -> bool:
    """evalplus 0.3.1's verdict on a run of outputs, its tolerance that sticks after the first float included.

    It never passes HumanEval/32: the branch for ``find_zero`` skips the line that counts a test as done.
    """
    import numpy as np

    if not mbpp and entry == "find_zero":
        return False
    for args, exp, out in zip(arguments, expected, got, strict=False):
        try:
            exact = bool(out == exp)
            if mbpp:
                if entry == "are_equivalent":
                    exact = True
                elif entry == "sum_div":
                    exact = exact or out == 0
                elif entry == "surface_Area":
                    exact = exact or abs(out - _surface(*args)) <= atol
                elif entry == "digit_distance_nums":
                    exact = exact or out == _digit_distance(*args)
                elif entry in SET_EQUAL:
                    exact = set(out) == set(exp)
                elif entry in NOT_NONE:
                    exact = (out == (exp is not None)) if isinstance(out, bool) else (exp is not None) == (out is not None)
                    if isinstance(exp, bool):
                        exact = out == exp if isinstance(out, bool) else exp == (out is not None)
            if atol == 0 and _is_floats(exp):
                atol = 1e-6
            if not exact:
                if atol == 0 or isinstance(out, Opaque) or type(out) is not type(exp):
                    return False
                if isinstance(exp, (list, tuple)) and len(out) != len(exp):
                    return False
                if not np.allclose(out, exp, rtol=1e-07, atol=atol):
                    return False
        except Exception:  # noqa: BLE001 - evalplus counts whatever its comparison raises as a failed test
            return False
    return len(got) == len(expected)
