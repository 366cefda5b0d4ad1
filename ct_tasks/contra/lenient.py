"""ConTra text to the longest well-formed prefix of blocks, and the answer: what RCS is computed from (spec section 3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ct_tasks.contra import literals
from ct_tasks.contra.literals import LiteralError
from ct_tasks.contra.parsed import ParsedBlock, ParsedTrace, Returned, parse_return
from ct_tasks.contra.trace import TAGS

_LOOSE_CODE_LINE: Final = re.compile(
    r"\s*(?:\[\s?(?:LINENO|LINE)?[ :]{0,2}([0-9]{1,9})\s?\]|LINENO[ :]{1,2}([0-9]{1,9})\b)[:.]?(?: {4}|\s?)(.*)",
    re.DOTALL | re.IGNORECASE,
)
_LOOSE_TAG: Final = re.compile(r"[*_`# ]{0,8}\[ ?([/\\]?) ?(TRACE|CODE|THOUGHTS?|LOCALS?|RETURNS?) ?\][*_`: ]{0,8}", re.IGNORECASE)
_MAX_RETURNS: Final = 32  # a text that answers more often than this does not answer
_SECTIONS: Final = ("CODE", "THOUGHT", "LOCALS")


def parse_lenient(text: str) -> ParsedTrace:
    """The longest well-formed prefix of blocks, and the answer wherever it stands.

    Forgiven: text before the first ``[TRACE]`` line, white space around the text and its tags, lower-case and bold tags, a tag
    that shares its line with the text of its section, fences, text between sections, a missing THOUGHT, missing
    ``[/RETURN]`` and ``[/TRACE]``, other spacing and spelling of ``[LINENO X]``. A block that breaks off, has no code line,
    skips a line number or whose LOCALS is no dict literal ends the prefix. Two RETURN sections that disagree are no answer.
    """
    lines = _loose_lines(text)
    begin = next((i for i, line in enumerate(lines) if line == "[TRACE]"), None)
    if begin is None:
        return ParsedTrace((), _lenient_return(lines))
    blocks: list[ParsedBlock] = []
    at, due = begin + 1, 0
    while True:
        block, at = _lenient_block(lines, at, due)
        if block is None:
            break
        blocks.append(block)
        due = block.numbers[-1] + 1
    return ParsedTrace(tuple(blocks), _lenient_return(lines))


def _loose_lines(text: str) -> list[str]:
    """The lines of the text, every tag in its own spelling and alone on its line. A tag inside a line of code or of prose
    stays where it is; one that opens a line, or closes it, is put on a line of its own."""
    found: list[str] = []
    for line in text.split("\n"):
        if "[" not in line:
            found.append(line)
            continue
        bare = line.strip()
        if bare in TAGS:
            found.append(bare)
            continue
        if match := _LOOSE_TAG.match(line.lstrip()):
            found.append(_spelled(match))
            line = line.lstrip()[match.end() :]
        if not line.strip():
            continue
        last = line.rfind("[", max(0, len(line) - 24))
        closing = None if _LOOSE_CODE_LINE.match(line) or last < 0 else _LOOSE_TAG.fullmatch(line, last)
        if closing is not None and closing[1]:
            found += [line[:last], _spelled(closing)]
        else:
            found.append(line)
    return found


def _spelled(match: re.Match[str]) -> str:
    name = match[2].upper()
    name = {"THOUGHTS": "THOUGHT", "LOCAL": "LOCALS", "RETURNS": "RETURN"}.get(name, name)
    return f"[{'/' if match[1] else ''}{name}]"


def _lenient_block(lines: Sequence[str], at: int, due: int) -> tuple[ParsedBlock | None, int]:
    begin = at
    sections: dict[str, list[str]] = {}
    name = ""
    for row in range(at, len(lines)):
        tag = lines[row]
        if tag not in TAGS:
            if name:
                sections[name].append(tag)
            continue
        inner = tag.strip("[/]")
        if tag.startswith("[/"):
            if inner != name:
                return None, row
            if name == "LOCALS":
                return _build(sections, due, begin, row), row + 1
            name = ""
        elif name or inner in sections or inner not in _SECTIONS or (inner != "CODE" and "CODE" not in sections):
            return None, row
        else:
            name = inner
            sections[name] = []
    return None, len(lines)


def _build(sections: dict[str, list[str]], due: int, begin: int, end: int) -> ParsedBlock | None:
    numbers, source = [], []
    for line in sections["CODE"]:
        match = _LOOSE_CODE_LINE.fullmatch(line)
        if match is None:
            if line.strip() and not line.lstrip().startswith("```"):
                return None
            continue
        if int(match[1] or match[2]) != due:
            return None
        numbers.append(due)
        source.append(match[3])
        due += 1
    text = "\n".join(line for line in sections["LOCALS"] if not line.lstrip().startswith("```"))
    try:
        values = literals.parse(text, constructors=False)
    except LiteralError:
        return None
    if not numbers or not isinstance(values, dict):
        return None
    return ParsedBlock(
        tuple(numbers), tuple(source), "\n".join(sections.get("THOUGHT", [])), values, text, begin + 1, end + 1
    )


def _lenient_return(lines: Sequence[str]) -> Returned | None:
    found: list[Returned] = []
    inside: list[str] | None = None
    for line in lines:
        if inside is not None and line in TAGS:
            if len(found) == _MAX_RETURNS or (read := _returned(inside, True)) is None:
                return None
            found.append(read)
            inside = None
        if line == "[RETURN]":
            inside = []
        elif inside is not None:
            inside.append(line)
    if inside is not None and (read := _returned(inside, False)) is not None:
        found.append(read)
    if not found or any(not literals.same(found[0].value, other.value) for other in found[1:]):
        return None
    return found[-1]


def _returned(lines: Sequence[str], closed: bool) -> Returned | None:
    text = "\n".join(line for line in lines if not line.lstrip().startswith("```")).strip().strip("`")
    try:
        found = parse_return(text)
    except LiteralError:
        return None
    return found if closed else replace(found, closed=False)
