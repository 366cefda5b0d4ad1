"""What a ConTra text is read into, the rules that the strict check names, and the reading of one RETURN assertion."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ct_tasks.contra import literals
from ct_tasks.contra.literals import LiteralError

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
    """The RETURN section: the function that the assertion names, the answer's text and its value. ``closed`` is False where
    the text ends inside the section, so that a length limit may have cut it."""

    function: str
    text: str
    value: object
    closed: bool = True


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
            return Returned(name, literals.segment(text, node), literals.from_node(node))
    raise LiteralError("RETURN is not one `assert f(...) == <literal>`")
