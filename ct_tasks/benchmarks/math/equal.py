"""Whether two final answers are the same mathematical object: ``yes``, ``no`` or ``error`` (could not be decided).

Structure is read first (lists, tuples, sets, intervals, unions, matrices, chains of inequalities, number bases, units,
percent), so that a pair is never a set and an open interval never a closed one. What remains, expressions and equations,
is parsed by math-verify and compared twice: by math-verify's own ``verify``, and at random points with 50 digits, which
has the last word wherever it can be computed. The comparison is symmetric: ``same(a, b) == same(b, a)``.

Runs in a child process with a deadline (``child.py``), because sympy may run without end; ``quick`` alone is for the
parent. Rules that a reader might settle otherwise are listed in docs/tasks.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ct_tasks.benchmarks.math.exact import rational, rounds_to
from ct_tasks.benchmarks.math.latex import plain_words, split_unit, tidy
from ct_tasks.benchmarks.math.prose import spoken

Verdict = Literal["yes", "no", "error"]
Leaf = Callable[[str, str], Verdict]

_OPEN = {"(": ")", "[": "]"}
_RELATION = re.compile(r"\\(?:le|ge|ne)(?![A-Za-z])|[<>]")


@dataclass(frozen=True, slots=True)
class Group:
    """A bracketed or listed answer: ``kind`` is list, tuple, set, union, matrix or interval (with its two brackets)."""

    kind: str
    parts: tuple[str, ...]
    brackets: str = ""


def split_top(text: str, separator: str) -> list[str]:
    """Split at a separator outside all brackets and environments."""
    parts, depth, start, i = [], 0, 0, 0
    while i < len(text):
        if text.startswith(r"\begin", i):
            depth += 1
        elif text.startswith(r"\end", i):
            depth -= 1
        elif text.startswith((r"\{", r"\langle"), i):
            depth += 1
        elif text.startswith((r"\}", r"\rangle"), i):
            depth -= 1
        elif text[i] in "([{" and (i == 0 or text[i - 1] != "\\"):
            depth += 1
        elif text[i] in ")]}" and (i == 0 or text[i - 1] != "\\"):
            depth -= 1
        word = separator[-1].isalpha() and text[i + len(separator):i + len(separator) + 1].isalpha()  # \\cup in \\cupola
        if depth == 0 and text.startswith(separator, i) and not word:
            parts.append(text[start:i])
            i += len(separator)
            start = i
            continue
        i += 2 if text[i] == "\\" and i + 1 < len(text) and not text[i + 1].isalpha() else 1
    parts.append(text[start:])
    return [part.strip() for part in parts]


def _without_name(text: str) -> str:
    """``x \\in A`` as ``A``; ``x = 5`` and ``f(x) = 5`` are left to the comparison of equations."""
    match = re.match(r"^\\?[A-Za-z]+\s*\\in(?![A-Za-z])\s*(.*)$", text)
    return match.group(1).strip() if match else text


def _interval_of(text: str) -> Group | None:
    """A chain of inequalities in one letter as an interval: ``2 < x \\le 5`` is ``(2, 5]``; ``x > 3`` is ``(3, oo)``."""
    sides = [side.strip() for side in _RELATION.split(text)]
    marks = [mark.strip("\\") for mark in _RELATION.findall(text)]
    letter = re.compile(r"\\?[A-Za-z]+(?:\([A-Za-z]\))?")
    if "ne" in marks or "=" in text or not all(sides):
        return None
    has_letter = [re.search(r"[A-Za-z]", re.sub(r"\\(?:frac|sqrt|pi|infty|cdot|times)(?![A-Za-z])", "", s)) is not None
                  for s in sides]
    up = {"<": ("(", ")"), "le": ("[", "]")}
    down = {">": "<", "ge": "le"}
    if len(sides) == 3 and has_letter == [False, True, False] and letter.fullmatch(sides[1]):
        if all(mark in down for mark in marks):
            sides, marks = sides[::-1], [down[mark] for mark in marks[::-1]]
        if not all(mark in up for mark in marks):
            return None
        return Group("interval", (sides[0], sides[2]), up[marks[0]][0] + up[marks[1]][1])
    if len(sides) == 2 and has_letter in ([True, False], [False, True]):
        if has_letter[1]:
            sides, mark = sides[::-1], {"<": ">", "le": "ge", ">": "<", "ge": "le"}[marks[0]]
        else:
            mark = marks[0]
        if not letter.fullmatch(sides[0]):
            return None
        if mark in up:
            return Group("interval", (r"-\infty", sides[1]), "(" + up[mark][1])
        return Group("interval", (sides[1], r"\infty"), up[down[mark]][0] + ")")
    return None


def structure(text: str) -> Group | None:
    """The answer's outermost structure, or ``None`` for a single expression."""
    text = _without_name(text)
    matrix = re.fullmatch(r"\\begin\{(?:[pbvBV]?matrix|array)\}(?:\{[^{}]*\})?(.*)\\end\{(?:[pbvBV]?matrix|array)\}", text,
                          re.DOTALL)
    if matrix:
        rows = [row for row in re.split(r"\\\\", matrix.group(1)) if row.strip()]
        cells = [[cell.strip() for cell in row.split("&")] for row in rows]
        return Group("matrix", tuple(cell for row in cells for cell in row), f"{len(cells)}x{len(cells[0])}")
    if len(parts := split_top(text, r"\cup")) > 1:
        return Group("union", tuple(parts))
    worded = re.sub(r"(?:,\s*)?(?:\\text\{\s*(?:and|or)\s*\}|(?<![A-Za-z\\])(?:and|or)(?![A-Za-z]))", ",", text)
    parts = [part for part in split_top(worded, ",") if part]
    if len(parts) > 1:
        ranges = [_interval_of(part) for part in parts]
        if all(ranges):
            return Group("union", tuple(parts))
        return Group("list", tuple(parts))
    if text.startswith(r"\{") and text.endswith(r"\}"):
        return Group("set", tuple(part for part in split_top(text[2:-2], ",") if part))
    if text.startswith(r"\langle") and text.endswith(r"\rangle"):
        return Group("tuple", tuple(split_top(text[7:-7], ",")))
    if text[:1] in ("(", "[") and text[-1:] in (")", "]") and _closes_at_end(text):
        inner = split_top(text[1:-1], ",")
        if len(inner) == 2 and (text[0] + text[-1] != "()" or any("infty" in part for part in inner)):
            return Group("interval", tuple(inner), text[0] + text[-1])
        if len(inner) > 1:
            return Group("tuple", tuple(inner))
    if _RELATION.search(text):
        return _interval_of(text)
    if r"\pm" in text or r"\mp" in text:
        plus = re.sub(r"\\pm(?![A-Za-z])", "+", re.sub(r"\\mp(?![A-Za-z])", "-", text))
        minus = re.sub(r"\\pm(?![A-Za-z])", "-", re.sub(r"\\mp(?![A-Za-z])", "+", text))
        return Group("list", (plus, minus))
    return None


def _closes_at_end(text: str) -> bool:
    depth = 0
    for i, char in enumerate(text):
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
            if depth == 0:
                return i == len(text) - 1
    return False


def _flatten(group: Group) -> Group:
    """``\\pm`` inside a list or set stands for two members."""
    if group.kind not in ("list", "set"):
        return group
    parts: list[str] = []
    for part in group.parts:
        inner = structure(part) if r"\pm" in part or r"\mp" in part else None
        parts.extend(inner.parts if inner and inner.kind == "list" else (part,))
    return Group(group.kind, tuple(parts))


def _all(verdicts: Sequence[Verdict]) -> Verdict:
    if "no" in verdicts:
        return "no"
    return "error" if "error" in verdicts else "yes"


def _unordered(a: Sequence[str], b: Sequence[str], leaf: Leaf) -> Verdict:
    if len(a) != len(b):
        return "no"
    left, failed = list(b), False
    for part in a:
        for i, other in enumerate(left):
            verdict = _same(part, other, leaf)
            failed |= verdict == "error"
            if verdict == "yes":
                del left[i]
                break
        else:
            return "error" if failed else "no"
    return "yes"


def _groups(a: Group, b: Group, leaf: Leaf) -> Verdict:
    a, b = _flatten(a), _flatten(b)
    kinds = {a.kind, b.kind}
    if kinds == {"interval", "tuple"} or kinds == {"interval", "list"}:
        first, second = (a, b) if a.kind == "interval" else (b, a)
        if first.brackets != "()" or second.kind != "tuple":
            return "no"
        return _ordered(first.parts, second.parts, leaf)
    if kinds == {"list", "tuple"}:  # "3, 5, 7" beside "(3, 5, 7)": same members, same order
        return _ordered(a.parts, b.parts, leaf)
    if kinds <= {"list", "set"}:
        return _unordered(_distinct(a, leaf), _distinct(b, leaf), leaf)
    if len(kinds) != 1 or a.brackets != b.brackets:
        return "no"
    if a.kind == "union":
        return _unordered(a.parts, b.parts, leaf)
    return _ordered(a.parts, b.parts, leaf)


def _distinct(group: Group, leaf: Leaf) -> tuple[str, ...]:
    if group.kind != "set":
        return group.parts
    kept: list[str] = []
    for part in group.parts:
        if not any(_same(part, other, leaf) == "yes" for other in kept):
            kept.append(part)
    return tuple(kept)


def _ordered(a: Sequence[str], b: Sequence[str], leaf: Leaf) -> Verdict:
    return "no" if len(a) != len(b) else _all([_same(x, y, leaf) for x, y in zip(a, b, strict=True)])


def _percent(a: str, b: str) -> Verdict | None:
    """A percentage equals its fraction and, as a unit left out, its bare number; ``None`` where no side has a sign."""
    if ("%" in a) == ("%" in b):
        return None
    marked, bare = (a, b) if "%" in a else (b, a)
    value, other = rational(marked.replace("%", "")), rational(bare)
    if value is None or other is None or not marked.rstrip().endswith("%"):
        return None
    return "yes" if other in (value, value / 100) else "no"


_BASED = re.compile(r"^(-?[0-9A-Fa-f]+)\s*_\s*(?:\{\s*(?:\\text\{)?\s*(\w+)\s*\}?\s*\}|(\d+))$")
_BASE_WORDS = {"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
               "ten": "10", "sixteen": "16"}


def quick(a: str, b: str) -> Verdict | None:
    """Decide without sympy where that is possible: same text, rational numbers, words, number bases; else ``None``."""
    if not a or not b:
        return "no"
    if re.sub(r"\s", "", a) == re.sub(r"\s", "", b):
        return "yes"
    bases = [_BASED.match(re.sub(r"\s", "", text)) for text in (a, b)]
    if any(bases):
        if all(bases):
            pair = [(m.group(1).lower().lstrip("0"), _BASE_WORDS.get(m.group(2) or "", m.group(2) or m.group(3)))
                    for m in bases if m]
            return "yes" if pair[0] == pair[1] else "no"
        other = b if bases[0] else a
        if rational(other) is not None:
            return "no"
    x, y = rational(a), rational(b)
    if x is not None and y is not None:
        return "yes" if x == y or rounds_to(a, x, y) or rounds_to(b, y, x) else "no"
    if (x is None) != (y is None) and (named := spoken(re.sub(r"\\text\s*\{([^{}]*)\}", r"\1", a if x is None else b))) is not None:
        return "yes" if named == (y if x is None else x) else "no"
    words = plain_words(a), plain_words(b)
    if words[0] is not None and words[1] is not None and (r"\text" in a or r"\text" in b or max(map(len, (a, b))) > 2):
        return "yes" if words[0] == words[1] else "no"
    return _percent(a, b)


def _assignment(text: str) -> tuple[str, str] | None:
    """``x = value`` or ``f(x) = value`` split into name and value; ``None`` for any other equation."""
    match = re.fullmatch(r"(\\?[A-Za-z]+(?:_(?:\{\w+\}|\w))?(?:\s*\([A-Za-z](?:,\s*[A-Za-z])*\))?)\s*=\s*([^=]+)", text)
    return (match.group(1).replace(" ", ""), match.group(2).strip()) if match else None


def _same(a: str, b: str, leaf: Leaf) -> Verdict:
    a, b = tidy(a), tidy(b)
    if (verdict := quick(a, b)) is not None:
        return verdict
    (value_a, unit_a), (value_b, unit_b) = split_unit(a), split_unit(b)
    if unit_a or unit_b:
        if unit_a and unit_b and unit_a != unit_b:
            return "no"
        return _same(value_a, value_b, leaf)
    named_a, named_b = _assignment(a), _assignment(b)
    if named_a and named_b and named_a[0] == named_b[0]:
        return _same(named_a[1], named_b[1], leaf)
    if bool(named_a) != bool(named_b) and "=" not in (b if named_a else a):
        return _same(named_a[1] if named_a else a, named_b[1] if named_b else b, leaf)
    group_a, group_b = structure(a), structure(b)
    if group_a and group_b:
        return _groups(group_a, group_b, leaf)
    if group_a or group_b:
        group = group_a or group_b
        alone = a if group_b else b
        if group and group.kind == "set" and len(group.parts) == 1 and "=" not in alone:
            return "no" if rational(alone) is None else _same(group.parts[0], alone, leaf)
        return "no" if not _RELATION.search(alone) else leaf(a, b)
    return leaf(a, b)


def same(gold: str, answer: str, leaf: Leaf | None = None) -> Verdict:
    """Whether the two answers are the same. An empty text equals nothing, itself included.

    ``leaf`` compares two single expressions; the default is math-verify with our numeric check (see ``symbolic``).
    """
    if leaf is not None:
        return _same(gold, answer, leaf)
    from ct_tasks.benchmarks.math.symbolic import compare  # sympy loads only where it is needed

    return _same(gold, answer, compare)


def same_number(gold: Fraction, answer: str, *, tolerance: Fraction = Fraction(0)) -> bool:
    """Whether a text is the number ``gold`` within ``tolerance`` · min(1, |gold|), units and percent signs dropped."""
    value, _ = split_unit(tidy(answer))
    named = _assignment(value)
    text = (named[1] if named else value).rstrip("% ")
    found = rational(text)
    if found is None and (words := spoken(text)) is not None:
        found = Fraction(words)
    return found is not None and abs(found - gold) <= tolerance * min(Fraction(1), abs(gold))
