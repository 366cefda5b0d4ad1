"""What a text may be before Python's parser sees it: its length, its nesting and its number of elements, in linear time.

Brackets, signs and commas count as the parser counts them: inside a string literal or a comment they are text.
"""

from __future__ import annotations

import re
from typing import Final

MAX_TEXT: Final = 200_000  # characters of one literal
MAX_DEPTH: Final = 80  # nesting; CPython's own parser gives up at 100 to 200, depending on the version
MAX_PARTS: Final = 66_000  # commas, colons and opening brackets: a syntax tree costs up to 950 bytes for each

_BRACKETS: Final = 2 * MAX_DEPTH  # a set inside a frozenset takes two a level
_STRINGS: Final = re.compile(
    r"""
    \#[^\n]*+
    | (?P<format>(?<![\w])[rR]?[fF][rR]?(?=['"]))?+ (?: '''(?:[^\\']++|\\.|'(?!''))*+''' | \"""(?:[^\\"]++|\\.|"(?!""))*+\"""
    | '(?:[^\\'\n]++|\\.)*+' | "(?:[^\\"\n]++|\\.)*+" )
    """,
    re.VERBOSE | re.DOTALL,
)
_NESTING: Final = re.compile(r"[()\[\]{}]|[-+~](?:[\s\\]*+[-+~])++")  # brackets, and runs of signs
_QUOTE: Final = re.compile("['\"]")


class LiteralError(ValueError):
    """The text is not one literal value, or the value has no literal text."""


def guard(text: str) -> None:
    """Refuse a text that is too long, too deeply nested or of too many parts to hand to the parser. Raises ``LiteralError``."""
    if len(text) > MAX_TEXT:
        raise LiteralError(f"literal of {len(text)} characters; the limit is {MAX_TEXT}")
    if _flat(text):
        return  # nearly every text: too few brackets and signs to nest deeply, even if all of them counted
    bare = _STRINGS.sub(_emptied, text)
    bare = _QUOTE.split(bare, maxsplit=1)[0]  # at a string that never ends the parser stops
    if _flat(bare):
        return
    parts = _opening(bare) + bare.count(",") + bare.count(":")
    if parts > MAX_PARTS:
        raise LiteralError(f"a literal of more than {MAX_PARTS} elements")
    depth = 0
    for token in _NESTING.findall(bare):
        if token in ("(", "[", "{"):
            depth += 1
            if depth > _BRACKETS:
                raise LiteralError(f"brackets nested deeper than {_BRACKETS}")
        elif token in (")", "]", "}"):
            depth = max(0, depth - 1)
        elif _signs(token) > MAX_DEPTH:
            raise LiteralError("a long run of unary operators")


def _emptied(found: re.Match[str]) -> str:
    """What stands for a string: a value, so that signs before two strings do not meet. Each field of a format string is an
    expression of its own, parsed from the start: it costs as much as eight elements."""
    fields = found[0].count("{") if found["format"] else 0
    return "0" + ",,,,,,,," * fields


def _opening(text: str) -> int:
    return text.count("[") + text.count("(") + text.count("{")


def _signs(text: str) -> int:
    return text.count("+") + text.count("-") + text.count("~")


def _flat(text: str) -> bool:
    """Whether the mere number of brackets, signs and separators rules out depth and size."""
    brackets = _opening(text)
    return (
        brackets <= _BRACKETS
        and _signs(text) <= MAX_DEPTH
        and brackets + text.count(",") + text.count(":") <= MAX_PARTS
    )
