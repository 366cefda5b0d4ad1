"""The strict check of a ConTra text, δ_fmt, with its reasons (spec section 2, rules 1–5; paper D.1).

Strict and lenient reading (``lenient.py``) go line by line (only ``\\n`` ends a line) in time linear in the text and never raise
because of what it holds.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from typing import Final

from ct_tasks.contra import literals
from ct_tasks.contra.lenient import parse_lenient
from ct_tasks.contra.literals import LiteralError
from ct_tasks.contra.parsed import RULES, FormatIssue, Parsed, ParsedBlock, ParsedTrace, Returned, parse_return
from ct_tasks.contra.trace import TAGS, Truth

__all__ = [
    "RULES",
    "FormatIssue",
    "Parsed",
    "ParsedBlock",
    "ParsedTrace",
    "Returned",
    "parse_lenient",
    "parse_prefix",
    "parse_return",
    "parse_strict",
]

_CODE_LINE: Final = re.compile(r"\[LINENO (0|[1-9][0-9]{0,8})\] {4}(.*)", re.DOTALL)
_SPACE: Final = " \t\r\n"


def parse_strict(text: str, truth: Truth | None = None) -> Parsed:
    """Check every rule. With ``truth`` rule 5 (alignment with the true trace) is checked too.

    After a structural fault nothing below it can be read, so it is the last issue; faults inside a section are all
    listed. White space around the whole text is ignored.
    """
    return _Strict(text, truth, partial=False).run()


def parse_prefix(text: str, truth: Truth | None = None) -> Parsed:
    """The same check for a trajectory that may stop anywhere: what is there must be right so far. An unfinished last
    section or line is no fault; ``complete`` tells whether ``[/TRACE]`` was reached."""
    return _Strict(text, truth, partial=True).run()


class _Stop(Exception):
    """Nothing below this line can be read."""


class _Strict:
    def __init__(self, text: str, truth: Truth | None, *, partial: bool) -> None:
        whole = text.strip(_SPACE)
        if partial and not whole.endswith("[/TRACE]"):  # a line that goes on may end in a space
            whole = text.lstrip(_SPACE).rstrip("\n")
        self.skipped = text[: len(text) - len(text.lstrip(_SPACE))].count("\n") if whole else 0
        self.lines: Sequence[str] = whole.split("\n")
        self.truth, self.partial = truth, partial
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
        self.issues.append(FormatIssue(rule, line + self.skipped, message))

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
