"""Two single expressions or equations, by math-verify's parser, its ``verify``, and values at random points.

math-verify 0.9.0 rounds to 15 digits after a subtraction (``1/2^{99}`` equals ``1/2^{98}``), reads ``i`` as a variable and
gives ``|x|`` for ``\\sqrt{x^2}``; so values at points, positive, negative and irrational, computed with 50 digits, decide
wherever they exist. ``verify`` decides what has no values (sets, booleans), asked in both orders.
"""

from __future__ import annotations

import logging
import random
import re
from functools import lru_cache
from typing import Any, Literal

import sympy
from math_verify import LatexExtractionConfig, parse, verify
from sympy.core.relational import Equality, Relational

from ct_tasks.benchmarks.math.exact import rational, rounds_to

logging.getLogger("math_verify").setLevel(logging.CRITICAL)  # its warnings say that no timeout is set: the child has one
logging.getLogger("latex2sympy2_extended").setLevel(logging.CRITICAL)

Verdict = Literal["yes", "no", "error"]
_DIGITS = 50
_CLOSE = sympy.Float(10) ** -30


@lru_cache(maxsize=4096)
def parsed(text: str) -> Any | None:
    """The sympy object, or ``None`` where math-verify can make nothing of the text."""
    text = re.sub(r"\\text\s*\{([^{}]*)\}", r"\\mathrm{\1}", text)
    found = parse(f"${text}$", extraction_config=[LatexExtractionConfig()], fallback_mode="no_fallback",
                  parsing_timeout=None, raise_on_error=False)
    found = [item for item in found if not isinstance(item, str)]
    if not found:
        return None
    value = found[0]
    if isinstance(value, sympy.Basic):
        exact = {f: sympy.Rational(str(f)) for f in value.atoms(sympy.Float)}
        value = value.xreplace(exact) if exact else value
        imaginary = [s for s in value.free_symbols if s.name == "i"]
        if imaginary and not isinstance(value, Relational):
            value = value.subs({imaginary[0]: sympy.I})
    return value


def _points(symbols: list[Any], count: int) -> list[dict[Any, Any]]:
    dice = random.Random(20240917)
    points = []
    for n in range(count):
        sign = -1 if n % 2 else 1
        points.append({s: sign * sympy.Rational(dice.randint(1, 10**6), 10**6 // (n + 1) + 7) for s in symbols})
    return points


def _value(expr: Any, point: dict[Any, Any]) -> Any | None:
    """The number at a point with 50 digits, or ``None`` where there is none (pole, no closed value)."""
    value = expr.subs(point).evalf(_DIGITS, maxn=1000) if point else expr.evalf(_DIGITS, maxn=1000)
    if value.is_number and value.is_finite is not False and not value.has(sympy.nan, sympy.zoo, sympy.oo):
        real, imaginary = value.as_real_imag()
        if real.is_Number and imaginary.is_Number:
            return value
    return None


def _close(a: Any, b: Any) -> bool:
    difference = sympy.Abs(a - b).evalf(_DIGITS)
    return bool(difference <= _CLOSE * sympy.Max(sympy.Abs(a), sympy.Abs(b)))


def _by_values(a: Any, b: Any) -> bool | None:
    """Equality at up to six points; ``None`` where fewer than two points (one for constants) give values to compare."""
    symbols = sorted(a.free_symbols | b.free_symbols, key=str)
    compared = 0
    for point in _points(symbols, 8 if symbols else 1):
        left, right = _value(a, point), _value(b, point)
        if left is None and right is None:
            continue
        if left is None or right is None:
            return None
        if not _close(left, right):
            # Zero against a rounding residue of exact arithmetic is settled by sympy, not by its digits.
            tiny = sympy.Float(10) ** -40
            if bool(sympy.Abs(left) < tiny) and bool(sympy.Abs(right) < tiny) and sympy.simplify(a - b) == 0:
                compared += 1
                continue
            return False
        compared += 1
    return True if compared >= (2 if symbols else 1) else None


def _proportional(a: Any, b: Any) -> bool | None:
    """Whether two equations (both sides moved left) differ by a constant factor, so that they say the same."""
    left, right = sympy.expand(a.lhs - a.rhs), sympy.expand(b.lhs - b.rhs)
    if left.free_symbols != right.free_symbols or not left.free_symbols:
        return False
    return _constant_ratio(left, right)


def _constant_ratio(left: Any, right: Any) -> bool | None:
    ratio = None
    for point in _points(sorted(left.free_symbols, key=str), 6):
        p, q = _value(left, point), _value(right, point)
        if p is None or q is None or q == 0:
            continue
        if ratio is None:
            ratio = p / q
        elif not _close(p, ratio * q):
            return False
    return None if ratio is None else bool(ratio != 0)


def _decimal(text: str, other: Any) -> bool:
    """Whether a decimal of six places or more is an irrational value, rounded."""
    value = rational(text)
    exact = _value(other, {})
    if value is None or exact is None or not exact.is_real:
        return False
    return rounds_to(text, value, rational(str(sympy.Float(exact, 40)).lower()) or value + 1)


def compare(gold: str, answer: str) -> Verdict:
    """``yes``, ``no``; ``error`` when the gold cannot be parsed or sympy fails. An answer that does not parse is ``no``."""
    a, b = parsed(gold), parsed(answer)
    if a is None or b is None:
        return "error" if a is None else "no"
    if isinstance(a, Equality) and isinstance(b, Equality):
        same = _proportional(a, b)
        if same is not None:
            return "yes" if same else "no"
    elif isinstance(a, Relational) != isinstance(b, Relational) and not isinstance(a, sympy.Set) \
            and not isinstance(b, sympy.Set):
        return "no"
    elif isinstance(a, sympy.Expr) and isinstance(b, sympy.Expr):
        if not a.free_symbols and not b.free_symbols and (_decimal(gold, b) or _decimal(answer, a)):
            return "yes"
        same = _by_values(a, b)
        if same is not None:
            return "yes" if same else "no"
    elif isinstance(a, (sympy.Set, sympy.Tuple)) != isinstance(b, (sympy.Set, sympy.Tuple)):
        return "no"
    either = verify(a, b, timeout_seconds=None, raise_on_error=True) or verify(b, a, timeout_seconds=None, raise_on_error=True)
    return "yes" if either else "no"
