"""ConTra text to blocks: the strict format check δ_fmt with its reasons, and the lenient longest prefix.

Both read line by line (only ``\\n`` ends a line) in time linear in the text and never raise because of what it holds.
Strict is spec section 2, rules 1–5 (paper D.1); lenient is what RCS is computed from (spec section 3).
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ct_tasks.contra import literals
from ct_tasks.contra.literals import LiteralError
from ct_tasks.contra.trace import TAGS, Truth

_CODE_LINE: Final = re.compile(r"\[LINENO (0|[1-9][0-9]{0,8})\] {4}(.*)", re.DOTALL)
_LOOSE_CODE_LINE: Final = re.compile(r"\s*\[LINENO ([0-9]{1,9})\](?: {4}|\s?)(.*)", re.DOTALL)
_MAX_RETURNS: Final = 32  # a text that answers more often than this does not answer
_SECTIONS: Final = ("CODE", "THOUGHT", "LOCALS")

RULES: Final = {
    "begin": "the text begins with the line [TRACE]",
    "end": "the text ends with the line [/TRACE]",
    "tag-alone": "every tag stands alone on its line with no white space around it",
    "order": "tags balance, never nest, and come as CODE, THOUGHT, LOCALS for each block, then one RETURN",
    "code-line": "a CODE line is [LINENO X], four spaces, the source line",
    "lineno": "line numbers start at 0 and go on without gaps",
    "locals": "LOCALS is a dict literal",
    "return": "RETURN is one assert f(...) == <literal>",
    "blocks": "the number of blocks is the number of blocks that ran",
    "range": "each block covers the lines of the true block",
    "code": "each code line is the program's",
}


@dataclass(frozen=True, slots=True)
class FormatIssue:
    """One broken rule: its key in ``RULES``, the line of the text (from 1), and what was found there."""

    rule: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class ParsedBlock:
    """One predicted block. ``locals`` is None where LOCALS is not a dict literal. ``end`` is its last line in the text."""

    numbers: tuple[int, ...]
    lines: tuple[str, ...]
    thought: str
    locals: Mapping[object, object] | None
    locals_text: str
    begin: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Returned:
    """The RETURN section: the function that the assertion names, the answer's text and its value."""

    function: str
    text: str
    value: object


@dataclass(frozen=True, slots=True)
class ParsedTrace:
    """Blocks in order, and the answer if there is one."""

    blocks: tuple[ParsedBlock, ...] = ()
    returned: Returned | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """The outcome of the strict check. ``complete`` is False for a text that stops before ``[/TRACE]``."""

    trace: ParsedTrace
    issues: tuple[FormatIssue, ...] = field(default=())
    complete: bool = True

    @property
    def ok(self) -> bool:
        """δ_fmt."""
        return self.complete and not self.issues


def parse_strict(text: str, truth: Truth | None = None) -> Parsed:
    """Check every rule. With ``truth`` rule 5 (alignment with the true trace) is checked too.

    After a structural fault nothing below it can be read, so it is the last issue; faults inside a section are all
    listed. Newlines at the very end of the text are ignored.
    """
    return _Strict(text.rstrip("\n").split("\n"), truth, partial=False).run()


def parse_prefix(text: str, truth: Truth | None = None) -> Parsed:
    """The same check for a trajectory that may stop anywhere: what is there must be right so far. An unfinished last
    section or line is no fault; ``complete`` tells whether ``[/TRACE]`` was reached."""
    return _Strict(text.rstrip("\n").split("\n"), truth, partial=True).run()


class _Stop(Exception):
    """Nothing below this line can be read."""


class _Strict:
    def __init__(self, lines: Sequence[str], truth: Truth | None, *, partial: bool) -> None:
        self.lines, self.truth, self.partial = lines, truth, partial
        self.at = 0
        self.issues: list[FormatIssue] = []
        self.blocks: list[ParsedBlock] = []
        self.returned: Returned | None = None
        self.complete = False
        self.next_lineno = 0

    def run(self) -> Parsed:
        with contextlib.suppress(_Stop):
            self._trace()
        if not self.partial and self.complete and self.truth is not None and len(self.blocks) != len(self.truth.blocks):
            self._issue("blocks", len(self.lines), f"{len(self.blocks)} blocks where {len(self.truth.blocks)} ran")
        return Parsed(ParsedTrace(tuple(self.blocks), self.returned), tuple(self.issues), self.complete)

    def _issue(self, rule: str, line: int, message: str) -> None:
        self.issues.append(FormatIssue(rule, line, message))

    def _trace(self) -> None:
        if self.lines == [""]:
            self._fault("begin", "the text is empty")
        self._tag("[TRACE]", "begin")
        while True:
            tag = self._peek()
            if tag == "[CODE]":
                self._block()
            elif tag == "[RETURN]" and self.blocks:
                break
            else:
                self._fault(
                    self._tag_rule(tag), f"expected [CODE]{' or [RETURN]' if self.blocks else ''}, found {tag[:60]!r}"
                )
        self._return()
        self._tag("[/TRACE]", "end")
        self.complete = True
        if self.at < len(self.lines):
            self._fault("end", f"text after [/TRACE]: {self.lines[self.at][:60]!r}")

    def _fault(self, rule: str, message: str) -> None:
        """A structural fault, unless the text merely stops here and may."""
        unfinished = self.at >= len(self.lines) or (self.at == len(self.lines) - 1 and self._may_grow())
        if not (self.partial and unfinished):
            self._issue(rule, min(self.at, len(self.lines)) + 1, message)
        raise _Stop

    def _may_grow(self) -> bool:
        return any(tag.startswith(self.lines[-1]) for tag in TAGS)

    @staticmethod
    def _tag_rule(line: str) -> str:
        return "tag-alone" if line not in TAGS and any(tag in line for tag in TAGS) else "order"

    def _peek(self) -> str:
        while self.at < len(self.lines) and not self.lines[self.at] and self.at > 0:
            self.at += 1  # an empty line between sections carries nothing
        if self.at >= len(self.lines):
            self._fault("end", "the text stops before [/TRACE]")
        return self.lines[self.at]

    def _tag(self, tag: str, rule: str = "order") -> None:
        line = self._peek() if self.at else self.lines[0]
        if line != tag:
            rule = "tag-alone" if tag in line else rule
            self._fault(rule, f"expected {tag}, found {line[:60]!r}")
        self.at += 1

    def _section(self, name: str) -> list[str]:
        """Lines between ``[name]`` and ``[/name]``."""
        self._tag(f"[{name}]")
        close, begin = f"[/{name}]", self.at
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line == close:
                self.at += 1
                return list(self.lines[begin : self.at - 1])
            if line in TAGS:
                self._fault("order", f"expected {close}, found {line}")
            if line.strip() in TAGS or (name == "THOUGHT" and "[" in line and any(tag in line for tag in TAGS)):
                self._fault("tag-alone", f"a tag inside {name} that does not stand alone: {line[:60]!r}")
            self.at += 1
        self._fault("order", f"[{name}] is never closed")
        return []

    def _block(self) -> None:
        begin = self.at + 1
        numbers, lines = self._code()
        thought = "\n".join(self._section("THOUGHT"))
        first = self.at + 1
        text = "\n".join(self._section("LOCALS"))
        values = None
        try:
            values = self._read_locals(text, first + 1)
        except LiteralError as error:
            self._issue("locals", first + 1, f"LOCALS is not a literal: {error}")
        self.blocks.append(ParsedBlock(tuple(numbers), tuple(lines), thought, values, text, begin, self.at))

    def _read_locals(self, text: str, row: int) -> Mapping[object, object] | None:
        t = len(self.blocks)
        if self.truth is not None and t < len(self.truth.blocks) and text == self.truth.blocks[t].locals_text:
            return self.truth.blocks[t].locals  # type: ignore[return-value]  # the true text needs no reading
        found = literals.parse(text, constructors=False)
        if isinstance(found, dict):
            return found
        self._issue("locals", row, f"LOCALS holds a {type(found).__name__}, not a dict")
        return None

    def _code(self) -> tuple[list[int], list[str]]:
        at = self.at + 1
        numbers, lines = [], []
        for row, line in enumerate(self._section("CODE"), at + 1):
            match = _CODE_LINE.fullmatch(line)
            if match is None:
                self._issue("code-line", row, f"not '[LINENO X]    source': {line[:60]!r}")
                continue
            number = int(match[1])
            if number != self.next_lineno:
                self._issue("lineno", row, f"LINENO {number} where {self.next_lineno} was due")
            self.next_lineno = number + 1
            numbers.append(number)
            lines.append(match[2])
        if not numbers:
            self._issue("code-line", at, "a CODE section without lines")
        self._align(numbers, lines, at + 1)
        return numbers, lines

    def _align(self, numbers: list[int], lines: list[str], row: int) -> None:
        if self.truth is None:
            return
        t = len(self.blocks)
        if t >= len(self.truth.blocks):
            if self.partial:
                self._issue("blocks", row, f"block {t + 1} where {len(self.truth.blocks)} ran")
            return
        block = self.truth.blocks[t]
        if numbers and (numbers[0], numbers[-1] + 1, len(numbers)) != (block.start, block.stop, len(block.lines)):
            self._issue(
                "range", row, f"LINENO {numbers[0]}-{numbers[-1]} where the block is {block.start}-{block.stop - 1}"
            )
            return
        for i, (mine, true) in enumerate(zip(lines, block.lines, strict=False)):
            if mine.strip() != true.strip():
                self._issue("code", row + i, f"{mine.strip()[:60]!r} is not the program's {true.strip()[:60]!r}")

    def _return(self) -> None:
        row = self.at + 2
        text = "\n".join(self._section("RETURN"))
        try:
            self.returned = parse_return(text)
        except LiteralError as error:
            self._issue("return", row, str(error))
            return
        if self.truth is not None and self.returned.function != self.truth.program.entry:
            self._issue(
                "return", row, f"the assertion is about {self.returned.function}, not {self.truth.program.entry}"
            )


def parse_return(text: str) -> Returned:
    """Read ``assert f(...) == <literal>``. The call is not looked into. Raises ``LiteralError`` for any other form."""
    text = text.strip()
    literals.guard(text)
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise LiteralError(f"RETURN does not parse: {error}") from None
    match body:
        case [
            ast.Assert(
                test=ast.Compare(left=ast.Call(func=ast.Name(id=name)), ops=[ast.Eq()], comparators=[node]), msg=None
            )
        ]:
            return Returned(name, ast.get_source_segment(text, node) or "", literals.from_node(node))
    raise LiteralError("RETURN is not one `assert f(...) == <literal>`")


def parse_lenient(text: str) -> ParsedTrace:
    """The longest well-formed prefix of blocks, and the answer wherever it stands.

    Forgiven: text before the first ``[TRACE]`` line, white space around tags, text between sections, a missing THOUGHT,
    missing ``[/TRACE]``, one space for four after ``[LINENO X]``. A block that breaks off, has no code line, skips a
    line number or whose LOCALS is no dict literal ends the prefix. Two RETURN sections that disagree are no answer.
    """
    lines = text.split("\n")
    begin = next((i for i, line in enumerate(lines) if line.strip() == "[TRACE]"), None)
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


def _lenient_block(lines: Sequence[str], at: int, due: int) -> tuple[ParsedBlock | None, int]:
    begin = at
    sections: dict[str, list[str]] = {}
    name = ""
    for row in range(at, len(lines)):
        tag = lines[row].strip()
        if tag not in TAGS:
            if name:
                sections[name].append(lines[row])
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
            if line.strip():
                return None
            continue
        if int(match[1]) != due:
            return None
        numbers.append(due)
        source.append(match[2])
        due += 1
    text = "\n".join(sections["LOCALS"])
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
    open_at: int | None = None
    for row, line in enumerate(lines):
        tag = line.strip()
        if tag == "[RETURN]":
            open_at = row
        elif tag == "[/RETURN]" and open_at is not None:
            if len(found) == _MAX_RETURNS:
                return None
            try:
                found.append(parse_return("\n".join(lines[open_at + 1 : row])))
            except LiteralError:
                return None
            open_at = None
    if not found or any(not literals.same(found[0].value, other.value) for other in found[1:]):
        return None
    return found[-1]
