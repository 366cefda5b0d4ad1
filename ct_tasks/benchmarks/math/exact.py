"""Exact rational value of a numeric LaTeX expression, by a small parser of our own: no floats, no sympy, no time limit.

It decides the great majority of comparisons (integers, decimals, fractions, powers, factorials, mixed numbers) at once,
and does so exactly: ``1/2^{99}`` is not ``1/2^{98}``, however small the difference.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

_TOKEN = re.compile(r"\s*(\d+\.\d*|\.\d+|\d+|\\frac|\\cdot|\\times|\\div|[-+*/^!(){}])")
_MAX_BITS = 20_000
_MAX_FACTORIAL = 500


class _NotRational(Exception):
    """The text is not a plain rational expression, or its value would be too large to write out."""


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        position = 0
        while position < len(text.rstrip()):
            match = _TOKEN.match(text, position)
            if not match:
                raise _NotRational
            self.tokens.append(match.group(1))
            position = match.end()
        self.at = 0
        self.depth = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, token: str = "") -> str:
        found = self.peek()
        if not found or (token and found != token):
            raise _NotRational
        self.at += 1
        return found

    def sum(self) -> Fraction:
        self.depth += 1
        if self.depth > 50:
            raise _NotRational
        total = self.product()
        while self.peek() in ("+", "-"):
            sign = self.take()
            term = self.product()
            total = total + term if sign == "+" else total - term
        self.depth -= 1
        return total

    def product(self) -> Fraction:
        total = self.signed()
        while True:
            token = self.peek()
            if token in ("*", r"\cdot", r"\times"):
                self.take()
                total *= self.signed()
            elif token in ("/", r"\div"):
                self.take()
                total = self.divide(total, self.signed())
            elif token in ("(", "{", r"\frac"):  # juxtaposition: 2(3), 2\frac{..}{..} that is no mixed number
                total *= self.power()
            else:
                return total

    def signed(self) -> Fraction:
        sign = 1
        while self.peek() in ("+", "-"):
            sign = -sign if self.take() == "-" else sign
        return sign * self.power()

    def power(self) -> Fraction:
        base = self.atom()
        while self.peek() == "!":
            self.take()
            if base.denominator != 1 or not 0 <= base <= _MAX_FACTORIAL:
                raise _NotRational
            base = Fraction(math.factorial(int(base)))
        if self.peek() != "^":
            return base
        self.take()
        exponent = self.signed() if self.peek() in ("-", "+") else self.power()
        size = base.numerator.bit_length() + base.denominator.bit_length()
        if exponent.denominator != 1 or size * abs(exponent) > _MAX_BITS or (base == 0 and exponent <= 0):
            raise _NotRational
        return base ** int(exponent)

    def atom(self) -> Fraction:
        token = self.take()
        if token == r"\frac":
            self.take("{")
            top = self.sum()
            self.take("}")
            self.take("{")
            bottom = self.sum()
            self.take("}")
            return self.divide(top, bottom)
        if token in "({":
            inner = self.sum()
            self.take(")" if token == "(" else "}")
            return inner
        if re.match(r"[\d.]", token):
            number = Fraction(token)
            nxt = self.tokens[self.at:self.at + 4]
            # A mixed number: a whole number, then a fraction of whole numbers smaller than one.
            if token.isdigit() and nxt[:1] == [r"\frac"]:
                fraction = self.atom()
                return number + fraction if 0 <= fraction < 1 else number * fraction
            return number
        raise _NotRational

    @staticmethod
    def divide(top: Fraction, bottom: Fraction) -> Fraction:
        if bottom == 0:
            raise _NotRational
        return top / bottom


def rational(text: str) -> Fraction | None:
    """The exact value, or ``None`` where the text holds anything but rational arithmetic of writable size."""
    if len(text) > 2000 or not re.search(r"\d", text):
        return None
    text = re.sub(r"(?<![\d.])(-?)(\d+) (\d+)\s*/\s*(\d+)(?![\d.^])", r"\1(\2+\3/\4)", text)
    if re.search(r"[\d.]\s+[\d.]", text):
        return None
    text = re.sub(r"(?<=\d)[eE]([-+]?\d+)(?!\w)", r"*10^{\1}", text)
    try:
        parser = _Parser(text)
        value = parser.sum()
    except _NotRational:
        return None
    return value if parser.at == len(parser.tokens) else None


def decimals(text: str) -> tuple[int, int] | None:
    """``(places, significant digits)`` of a text that is one decimal number, else ``None``."""
    match = re.fullmatch(r"\s*[-+]?(\d*)\.(\d+)\s*", text)
    return (len(match.group(2)), len((match.group(1) + match.group(2)).lstrip("0"))) if match else None


def rounds_to(decimal_text: str, decimal: Fraction, value: Fraction) -> bool:
    """Whether the written decimal is ``value`` rounded to the places written, at least six of them, six significant.

    So ``0.333333`` is 1/3 and ``3.141593`` would be π, while ``0.3333`` and ``3.14`` are values of their own.
    """
    digits = decimals(decimal_text)
    if digits is None or min(digits) < 6:
        return False
    return abs(decimal - value) <= Fraction(1, 2 * 10 ** digits[0])
