"""What a piece of Python defines, needs and does, read from its syntax tree and symbol tables; nothing is run."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

MAX_CHARS: Final = 200_000  # a longer piece is judged by its words alone: trees of it would fill the memory
MAX_STATEMENTS: Final = 2_000  # of a piece with more, no action is left out: telling them apart would take too long
_ATTEMPTS: Final = 40
_GIVEN: Final = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__builtins__", "__annotations__"}
_TALKS: Final = frozenset(("print", "input", "unittest", "doctest", "pytest"))
_ELIDED = re.compile(r"#\s*(?:\.\.\.|…|(?:the )?(?:rest|remainder) of|remaining (?:code|part)|same as (?:before|above)|existing code|(?:code )?as before|unchanged)",
                     re.IGNORECASE)


def tree_of(source: str) -> ast.Module:
    """``ast.parse`` without the warnings about odd escapes, which say nothing to a user about a benchmark's text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def parses(source: str) -> ast.Module | None:
    """The syntax tree, or ``None``."""
    try:
        return tree_of(source) if len(source) <= MAX_CHARS else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@dataclass(frozen=True, slots=True)
class Statement:
    """A top-level statement: its lines (from 0, end excluded), the global names it needs, binds, and changes in place."""

    node: ast.stmt
    first: int
    end: int
    needs: frozenset[str]
    binds: frozenset[str]
    changes: frozenset[str]
    alone: bool

    @property
    def defines(self) -> bool:
        return isinstance(self.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom))


class Code:
    """A piece of Python. ``tree`` is ``None`` where it does not parse; ``dropped`` are lines below that were left out."""

    def __init__(self, text: str, dropped: Sequence[str] = ()) -> None:
        self.text = text
        self.dropped = dropped

    @cached_property
    def tree(self) -> ast.Module | None:
        return parses(self.text)

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def statements(self) -> list[Statement]:
        """The top-level statements; none where the piece does not parse."""
        body = self.tree.body if self.tree is not None else []
        shared: dict[int, int] = {}
        spans = []
        for node in body:
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
            end = node.end_lineno or node.lineno
            spans.append((first, end))
            for line in {first, end - 1}:
                shared[line] = shared.get(line, 0) + 1
        found = []
        for node, (first, end) in zip(body, spans, strict=True):
            alone = shared[first] == 1 and shared[end - 1] == 1
            needs, binds = _names("\n".join(self.lines[first:end]) if alone else _written(node))
            found.append(Statement(node, first, end, needs, binds, frozenset(_changed(node)), alone))
        return found

    @cached_property
    def bound(self) -> frozenset[str]:
        return frozenset[str]().union(*(s.binds for s in self.statements))

    def text_of(self, statement: Statement) -> str:
        return "\n".join(self.lines[statement.first:statement.end]) if statement.alone else _written(statement.node)

    def reach(self, names: Iterable[str], stop: str = "") -> frozenset[str]:
        """All names that these names lead to through this piece's own statements, themselves included, ``stop`` not."""
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in found and name != stop:
                found.add(name)
                waiting.extend(self._leads.get(name, ()))
        return frozenset(found)

    @cached_property
    def _leads(self) -> dict[str, set[str]]:
        leads: dict[str, set[str]] = {}
        for statement in self.statements:
            for name in statement.binds:
                leads.setdefault(name, set()).update(statement.needs)
        return leads

    @cached_property
    def givers(self) -> dict[str, Statement]:
        """The last statement that gives each name its value, without having needed it."""
        return {name: s for s in self.statements for name in s.binds if s.defines or name not in s.needs}

    @cached_property
    def missing(self) -> frozenset[str]:
        """Names that it needs and nobody gives it."""
        return frozenset[str]().union(*(s.needs for s in self.statements)) - self.bound - _GIVEN


def _written(node: ast.stmt) -> str:
    try:
        return ast.unparse(node)
    except RecursionError:
        return ""


def _names(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The global names that a statement needs and binds. ``(nothing, nothing)`` for what the compiler refuses."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            top = symtable.symtable(text, "<reply>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset(), frozenset()
    needs: set[str] = set()
    binds: set[str] = set()
    tables: list[symtable.SymbolTable] = [top]
    while tables:
        table = tables.pop()
        tables.extend(table.get_children())
        for symbol in table.get_symbols():
            if table is not top and not symbol.is_global():
                continue
            if symbol.is_assigned() or symbol.is_imported() or (table is top and symbol.is_namespace()):
                binds.add(symbol.get_name())
            if symbol.is_referenced():
                needs.add(symbol.get_name())
    return frozenset(needs), frozenset(binds)


def _changed(node: ast.stmt) -> Iterator[str]:
    """Names whose objects a statement changes in place: ``x[i] = ...``, ``x.y = ...``, or by a method: ``x.append(...)``."""
    for part in ast.walk(node):
        if isinstance(part, (ast.Subscript, ast.Attribute)) and isinstance(part.ctx, (ast.Store, ast.Del)):
            yield from _base(part)
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            yield from _base(part.func.value)


def _base(node: ast.expr) -> Iterator[str]:
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def definition(source: Code, entry: str) -> ast.AST | None:
    """What defines ``f`` or ``Class.method`` last: a function, class, method, assignment or import; ``None`` if nothing does.

    A statement that binds the name by calling it (``f = f(2)``) defines nothing, nor does a class without the method.
    """
    name, _, method = entry.partition(".")
    found: ast.AST | None = None
    for statement in source.statements:
        if name in statement.binds and (statement.defines or name not in statement.needs):
            found = next((n for n in _bodies(statement.node) if getattr(n, "name", "") == name), statement.node)
    if not method or not isinstance(found, ast.ClassDef):
        return found
    return next((n for n in reversed(found.body) if getattr(n, "name", "") == method), found if found.bases else None)


def _bodies(node: ast.stmt) -> Iterator[ast.stmt]:
    """A statement and, where it is a condition or the like, the statements in it; not those of functions and classes."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
            for field in ("body", "orelse", "finalbody", "handlers"):
                for child in getattr(part, field, []):
                    waiting.extend(child.body if isinstance(child, ast.ExceptHandler) else [child])


def is_stub(node: ast.AST) -> bool:
    """Whether a function's body is only a docstring, ``pass``, ``...`` or ``raise NotImplementedError``."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    return all(isinstance(n, ast.Pass) or (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))
               or (isinstance(n, ast.Raise) and n.exc is not None and "NotImplemented" in ast.dump(n.exc)) for n in node.body)


def is_elided(source: Code, node: ast.AST) -> bool:
    """Whether a function is shown with parts left out: ``...`` as a statement, or a comment that says so."""
    if any(isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant) and n.value.value is ... for n in ast.walk(node)):
        return True
    first, end = getattr(node, "lineno", 1) - 1, getattr(node, "end_lineno", None) or 0
    return any(_ELIDED.search(line) for line in source.lines[first:end])


def mentions(text: str, entry: str) -> bool:
    """Whether a text that does not parse defines the name, by its words."""
    name = re.escape(entry.partition(".")[0])
    return re.search(rf"^(?:async\s+)?(?:def|class)\s+{name}\b|^{name}\s*=(?!=)", text, re.MULTILINE) is not None


def readable(text: str, entry: str = "") -> Code:
    """The piece dedented, and without the lines from its first error on where a part that parses defines ``entry``."""
    source = Code(text)
    if source.tree is None and (other := Code(textwrap.dedent(text))).tree is not None:
        return other
    if source.tree is not None or not mentions(text, entry) or len(text) > MAX_CHARS:
        return source
    lines = source.lines
    for _ in range(min(_ATTEMPTS, MAX_CHARS // len(text) + 3)):
        end = _before_error(lines)
        if end <= 0:
            break
        lines = lines[:end]
        head = Code("\n".join(lines), source.lines[end:])
        if head.tree is not None:
            return head if definition(head, entry) is not None else source
    return source


def _before_error(lines: Sequence[str]) -> int:
    """How many lines to keep: those before the top-level statement with the first error, or all but a cut last line."""
    try:
        tree_of("\n".join(lines))
    except SyntaxError as error:
        at = min(error.lineno or len(lines), len(lines)) - 1
    except (ValueError, RecursionError, MemoryError):
        return 0
    else:
        return len(lines)
    last = max((i for i, line in enumerate(lines) if line.strip()), default=0)
    if at >= last and lines[last][:1].isspace():
        return last
    while at > 0 and (not lines[at].strip() or lines[at][:1].isspace()):
        at -= 1
    return at


def kept(source: Code, entry: str) -> str:
    """The piece without its top-level actions: definitions and imports stay, and whatever the entry point needs.

    Left out are asserts, a ``__main__`` part, and what prints, reads or calls the entry point, itself or through a function
    of the piece; not, however, a statement that binds or fills something that the entry point leads to.
    """
    if len(source.statements) > MAX_STATEMENTS:
        return source.text
    name = entry.partition(".")[0]
    functions = {s.node.name: s for s in source.statements if isinstance(s.node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    wanted = source.reach([name]) - functions.keys() | {name}
    gone: set[int] = set()
    for statement in source.statements:
        node = statement.node
        if statement.defines or not statement.alone or _is_text(node):
            continue
        called = source.reach(statement.needs - {name}, stop=name) & functions.keys()
        talks = bool((source.reach(called, stop=name) | statement.needs | called) & (_TALKS | {name})) or any(
            name in functions[c].needs for c in called)
        filled = statement.binds | (statement.changes - {name})
        for c in called:
            filled |= (functions[c].binds - {c}) | functions[c].changes
        main = isinstance(node, ast.If) and "__main__" in ast.dump(node.test)
        if isinstance(node, ast.Assert) or main or (talks and not filled & wanted and not _sets_on(node, name)):
            gone.update(range(statement.first, statement.end))
    return "\n".join(line for i, line in enumerate(source.lines) if i not in gone)


def _sets_on(node: ast.stmt, name: str) -> bool:
    """``f.cache = {}``: the entry point itself gets something."""
    return isinstance(node, ast.Assign) and any(isinstance(t, ast.Attribute) and name in _base(t) for t in node.targets)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def completed(source: Code, others: Sequence[Code]) -> str:
    """The piece with the definitions, imports and constants that it lacks and another piece has; the last one that has it gives."""
    taken: dict[tuple[int, int], str] = {}
    have, waiting = set(source.bound), sorted(source.missing)
    while waiting:
        name = waiting.pop()
        if name in have:
            continue
        have.add(name)
        for place in range(len(others) - 1, -1, -1):
            given = others[place].givers.get(name)
            if given is not None and not is_stub(given.node):
                taken[place, given.first] = others[place].text_of(given)
                waiting.extend(given.needs - have - _GIVEN)
                break
    if not taken:
        return source.text
    return with_before([taken[key] for key in sorted(taken)], source)


def with_before(statements: Sequence[str], source: Code) -> str:
    """The piece with statements before it; its ``from __future__`` lines stay first."""
    future = [s for s in source.statements if isinstance(s.node, ast.ImportFrom) and s.node.module == "__future__"]
    moved = {i for s in future if s.alone for i in range(s.first, s.end)}
    rest = [line for i, line in enumerate(source.lines) if i not in moved]
    return "\n".join([*map(source.text_of, future), *statements, *rest])
