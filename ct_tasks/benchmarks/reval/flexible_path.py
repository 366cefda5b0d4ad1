"""Which line a reply names as the next one: by its text, its number or both; a sentence or a tag; ``-1``.

A line of code that the program does not have (the test call, the line of the worked example) is an answer too: a wrong one.
The program written again names no line, and neither do a numbered list of steps or the question said again.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from ct_tasks.benchmarks.reval.flexible import find
from ct_tasks.contra import literals
from ct_tasks.paradigms import pieces
from ct_tasks.paradigms.extraction import Missed

_COPIED = 3  # rows of the program, one after another, are the program and no answer
_AFTER = r"(?:right\s+|immediately\s+|directly\s+)?(?:after|next)"
_NUMBER = re.compile(
    rf"(?:the\s+)?(?:line\s+|L)?(?:number\s+)?(?P<number>\d{{1,4}})"
    rf"(?P<rest>[:.)\t]\s*.*|\s*\([^\n]*\)|\s*`[^\n]*`)?"
    rf"(?:,?\s+(?:is|will be|would be|gets)\s+(?:the\s+next\b|executed\s+{_AFTER}).*)?",
    re.IGNORECASE,
)
_NAMED = (
    r"(?:\*\*|\s)*(?:(?:the\s+)?line\s+(?:number\s+)?(?P<number>\d+)\b|`(?P<code>[^`\n]+)`|(?P<none>-1)\b|"
    r"(?P<digits>\d+)(?=[*.,;\s]*(?:\n|$))|(?P<rest>[^\n]+))"
)
_ANSWER = re.compile(rf"\banswer(?:\s+to\s+the\s+question)?\**\s*(?:is|:)\s*:?{_NAMED}", re.IGNORECASE)
_NEXT = re.compile(
    rf"(?:next\s+line|line\s+of\s+the\s+program|(?:executed|comes?|runs?)\s+(?:right\s+|immediately\s+|directly\s+)?(?:after|next))"
    rf"(?:[^.\n]|\.(?=\S)){{0,160}}?\bis\b:?(?!\s+(?:not|never|executed)\b){_NAMED}",
    re.IGNORECASE,
)
_COMES = re.compile(
    r"(?:\bline\s+(?:of\s+code\s+)?(?:(?P<number>\d+)\b|`(?P<code>[^`\n]+)`)|^[ \t]*`(?P<alone>[^`\n]+)`)[^.\n]{0,120}?"
    rf"\b(?:is|will be|would be|gets)\s+executed\s+{_AFTER}",
    re.IGNORECASE | re.MULTILINE,
)
_THEN = re.compile(
    r"\bafter\b[^.\n]{0,160}?(?:\b(?:executes|runs)\s+|\b(?:goes|moves|returns|jumps|proceeds|continues)\s+(?:to|with|at)\s+|,\s*)"
    r"(?:the\s+)?(?:next\s+)?"
    r"(?:line\s+(?:of\s+code\s+)?(?:(?P<number>\d+)\b|`(?P<code>[^`\n]+)`)|`(?P<alone>[^`\n]+)`)"
    r"(?!\s*(?:is|was)\s+(?:not|never))",
    re.IGNORECASE,
)
_RUNS = re.compile(
    r"\bline\s+(?:(?P<number>\d+)\b|`(?P<code>[^`\n]+)`)(?:\s*\([^\n]*\))?\s+(?:is|will be|gets)\s+"
    r"(?:executed|run|reached|(?:the\s+)?next)\b",
    re.IGNORECASE,
)
_MINUS = re.compile(r"(?:so|therefore|thus|hence)?,?\s*`?-1`?(?=\s*(?:[.,;:(\n—–]|$)|\s+(?:because|since|as)\b)", re.IGNORECASE)
_ENDS_MINUS = re.compile(r"(?:so|therefore|thus|hence),?\s+`?-1`?[.\s]*\Z", re.IGNORECASE)
_ONE_LINE = re.compile(r"```\w*\n[ \t]*([^\n`]+)\n```")


def path(text: str, lines: Sequence[str], asked: int = 0, *, truncated: bool) -> str | Missed:
    """The line that comes after line ``asked``: a line of the program (stripped), ``-1``, or a line that the program does not
    have, as written; ``lines`` are the program's. A number stands for the line that has it, and for itself where that line
    is empty or missing."""
    program = _Program(lines, asked)
    return find(program.without_copy(_ONE_LINE.sub(r"`\1`", text)), program.piece, program.prose, truncated=truncated)


class _Program:
    """The lines of one program and how a text names them."""

    def __init__(self, lines: Sequence[str], asked: int) -> None:
        self.lines = [line.strip() for line in lines]
        self.asked = self.lines[asked - 1] if 0 < asked <= len(lines) else None
        self.squeezed = {"".join(line.split()): line for line in reversed(self.lines) if line}

    def piece(self, said: str) -> str | None:
        """An answer place or a line of its own."""
        said = pieces.clean(said).strip()
        if said in self.lines and said:
            return said
        rows = [row.strip() for row in said.split("\n") if row.strip().strip("`")]
        if not rows or _ANSWER.search("\n".join(rows)):
            return None
        return self._line(rows[0], other=len(rows) == 1)

    def prose(self, said: str) -> str | None:
        """Running text."""
        if _MINUS.match(said) or _ENDS_MINUS.search(said):
            return "-1"
        for pattern in (_ANSWER, _NEXT, _COMES, _THEN, _RUNS):
            for match in reversed(list(pattern.finditer(said[-20_000:]))):
                named = {name: value for name, value in match.groupdict().items() if value is not None}
                found = self._begins(named["rest"]) if "rest" in named else self._line(next(iter(named.values())), other=True)
                if found is not None and (pattern is not _RUNS or found != self.asked):
                    return found
        for row in reversed(said[-20_000:].split("\n")):
            starts = re.match(rf"(?P<code>.+?)\s+(?:is|will be|gets)\s+executed\s+{_AFTER}", row.strip())
            if starts and (found := self._line(starts["code"], other=False)) is not None:
                return found
        return None

    def _line(self, said: str, *, other: bool) -> str | None:
        said = pieces.clean(said).strip().strip("`").strip()
        if said.rstrip(".") == "-1":
            return "-1"
        bare = re.sub(r"^(?:line\s+)?\d+\s*[:.)\t]?\s*", "", said, flags=re.IGNORECASE).strip("` ")
        for text in (said, bare):
            squeezed = "".join(text.split())
            if text and (near := self.squeezed.get(squeezed) or self.squeezed.get(squeezed + ":")) is not None:
                return near
        match = _NUMBER.fullmatch(said.rstrip("."))
        if match and 0 < int(match["number"]) <= len(self.lines) and _follows_number(match["rest"] or ""):
            return self.lines[int(match["number"]) - 1] or match["number"]
        return said if said.isdecimal() or (other and is_code(said)) else None

    def _begins(self, said: str) -> str | None:
        """The program's line that a piece of prose begins with, or the line it is."""
        said = said.strip().lstrip("*: ")
        fitting = [line for line in self.lines if line and re.match(re.escape(line) + r"(?=[.,;*\s]*$|[.,;]\s)", said)]
        return max(fitting, key=len) if fitting else self._line(said.rstrip(".*"), other=False)

    def without_copy(self, text: str) -> str:
        """The text without ``_COPIED`` or more rows of the program, one after another."""
        kept: list[str] = []
        run: list[str] = []
        for row in [*text.split("\n"), None]:
            if row is not None and "".join(re.sub(r"^\s*\d+[\t.:)]?\s+", "", row).split()) in self.squeezed:
                run.append(row)
                continue
            kept += [*(run if len(run) < _COPIED else []), *([] if row is None else [row])]
            run = []
        return "\n".join(kept)


def _follows_number(rest: str) -> bool:
    """Whether what stands behind a line's number is its text, rather than the words of a step."""
    text = rest.strip().lstrip(":.)").strip()
    inside = text[1:-1].strip("` ") if text[:1] == "(" and text[-1:] == ")" else text.strip("` ")
    return not inside or text[:1] in "(`" or is_code(inside)


def is_code(text: str) -> bool:
    """Whether one line is a statement, or the head of one, and not words, a number or a string."""
    if "\n" in text or not text.strip():
        return False
    headed = re.sub(r"^(?:elif|case)\b", "if", re.sub(r"^(?:else|finally|try)\s*:", "if 1:", text))
    headed = re.sub(r"^except\b.*:\s*$", "if 1:", headed)
    for written in (headed, headed + " pass"):
        try:
            literals.guard(written)
            body = ast.parse(written).body
        except (literals.LiteralError, SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        match body:
            case [ast.Expr(value=value)]:  # words and numbers can be expressions: "It is not so, so -1."
                return isinstance(value, (ast.Call, ast.BinOp, ast.Attribute, ast.Subscript, ast.Await, ast.Yield))
        return len(body) == 1
    return False
