"""A program as ConTra shows it: numbered lines of one entry function, cut into blocks with weights (spec section 1)."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from radon.visitors import ComplexityVisitor

from ct_tasks.errors import TraceError, UnknownNameError

_COMPOUND = (
    ast.For,
    ast.While,
    ast.If,
    ast.Try,
    ast.With,
    ast.Match,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.AsyncFor,
    ast.AsyncWith,
    ast.TryStar,
)


_READS_DOCS = re.compile(r"__doc__|\bgetdoc\b")


@dataclass(frozen=True)
class Program:
    """``lines[i]`` is source line ``LINENO i`` of the entry function; line 0 is its ``def`` line.

    ``before`` and ``after`` hold the module's other definitions (imports, helpers, classes, decorators), which the model
    sees as context and which are not numbered.
    """

    lines: tuple[str, ...]
    entry: str
    before: str = ""
    after: str = ""

    @property
    def source(self) -> str:
        """The numbered function alone."""
        return "\n".join(self.lines)

    @property
    def context(self) -> str:
        """Everything shown above the function; empty when the function stands alone."""
        return "\n".join(part for part in (self.before, self.after) if part)

    @property
    def offset(self) -> int:
        """Lines of ``runnable`` that stand before ``LINENO 0``."""
        return self.before.count("\n") + 1 if self.before else 0

    @property
    def runnable(self) -> str:
        """The module to execute: definitions before, the function, definitions after."""
        return "\n".join(part for part in (self.before, self.source, self.after) if part) + "\n"

    @cached_property
    def function(self) -> ast.FunctionDef:
        """Syntax tree of ``source``; its line numbers are ``LINENO`` + 1."""
        node = ast.parse(self.source).body[0]
        assert isinstance(node, ast.FunctionDef)
        return node


@dataclass(frozen=True, slots=True)
class Span:
    """A block: ``LINENO`` from ``start`` up to, not including, ``stop``; ``weight`` is its cyclomatic complexity."""

    start: int
    stop: int
    weight: int


def normalise(source: str, entry: str | None = None) -> Program:
    """Cut ``source`` down to its entry function without blank lines, comments and docstrings; the rest byte for byte.

    Docstrings stay where the program reads one (``__doc__``). Left out below the function are a main guard, ``print`` and
    expressions that name the function: what tries it out, not what it depends on. ``entry=None`` takes the only
    module-level function, or ``f``, or the last one. Raises ``TraceError`` where the
    source does not parse or holds no such plain function.
    """
    source = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")  # a byte order mark is no text
    try:
        tree = ast.parse(source)
        bare = _strip(source, tree)
        tree = ast.parse(bare)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise TraceError(f"the program does not parse: {error}") from None
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if not functions:
        raise TraceError("the program has no module-level function to trace")
    if entry is None:
        entry = "f" if "f" in functions else list(functions)[-1]
    if entry not in functions:
        raise TraceError(str(UnknownNameError("entry function", entry, functions)))
    node, lines = functions[entry], bare.split("\n")
    position = tree.body.index(node)
    decorators = lines[node.decorator_list[0].lineno - 1 : node.lineno - 1] if node.decorator_list else []
    before = [*_texts(lines, [n for n in tree.body[:position] if not _is_main_guard(n)]), *decorators]
    after = [n for n in tree.body[position + 1 :] if not _tries(n, entry) and not _is_main_guard(n)]
    body = lines[node.lineno - 1 : node.end_lineno]
    return Program(tuple(body), entry, "\n".join(before), "\n".join(_texts(lines, after)))


def _texts(lines: Sequence[str], nodes: Sequence[ast.stmt]) -> Iterator[str]:
    last = 0
    for node in nodes:
        decorators = getattr(node, "decorator_list", [])
        first = decorators[0].lineno if decorators else node.lineno
        yield from lines[max(first - 1, last) : node.end_lineno]
        last = node.end_lineno or first


def _is_main_guard(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in {n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)}


def _tries(node: ast.stmt, entry: str) -> bool:
    """Whether a statement only tries the function out: a bare constant, a ``print``, an expression that names it."""
    if not isinstance(node, ast.Expr):
        return False
    called = node.value.func if isinstance(node.value, ast.Call) else None
    shown = isinstance(called, ast.Name) and called.id == "print"
    return (
        shown
        or isinstance(node.value, ast.Constant)
        or entry in {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    )


def _strip(source: str, tree: ast.Module) -> str:
    """Drop comments, docstrings that stand on lines of their own, and blank lines outside strings."""
    lines = source.split("\n")
    drop: set[int] = set()
    keep: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        row, column = token.start
        if token.type == tokenize.COMMENT:
            lines[row - 1] = lines[row - 1][:column].rstrip()
        elif token.end[0] > row:  # a string over several lines: its blank lines are part of the value
            keep.update(range(row - 1, token.end[0]))
    for node in () if _READS_DOCS.search(source) else ast.walk(tree):
        if (
            isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            and ast.get_docstring(node, False) is not None
        ):
            first = node.body[0]
            alone = len(node.body) > 1 and node.body[1].lineno > (first.end_lineno or 0) and node.lineno < first.lineno
            if alone and not lines[first.lineno - 1][: first.col_offset].strip():
                drop.update(range(first.lineno - 1, first.end_lineno or 0))
    return "\n".join(line for i, line in enumerate(lines) if i not in drop and (line.strip() or i in keep))


def segment(program: Program, segmentation: str = "statement") -> tuple[Span, ...]:
    """The blocks of a program in order; together they cover every line (spec section 1).

    ``statement``: one block an outermost statement. ``coalesced``: runs of adjacent simple statements are one block.
    ``adaptive``: straight-line code is cut where five variables have changed, and a compound statement of more than
    eight lines and complexity 4 is opened once: its header joins its first inner statement, each further inner statement
    of its bodies is a block of its own. In every mode the ``def`` line joins the first block and an outermost
    ``return`` the block before it. Raises ``UnknownNameError`` for another name.
    """
    if segmentation not in _CUTS:
        raise UnknownNameError("segmentation", segmentation, _CUTS)
    groups: list[list[ast.stmt]] = _CUTS[segmentation](program.function.body)
    starts: list[int] = []
    members: list[list[ast.stmt]] = []
    for group in groups:
        start = _first_line(group[0]) - 1
        joins = not starts or start < _end_of(members[-1]) or (len(group) == 1 and isinstance(group[0], ast.Return))
        if joins and starts:
            members[-1].extend(group)
        else:
            starts.append(start if starts else 0)
            members.append(list(group))
    stops = [*starts[1:], len(program.lines)]
    return tuple(Span(a, b, _weight(m)) for a, b, m in zip(starts, stops, members, strict=True))


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def _end_of(group: Sequence[ast.stmt]) -> int:
    return max(n.end_lineno or n.lineno for n in group)


def _weight(statements: Sequence[ast.stmt]) -> int:
    """radon's cyclomatic complexity of these statements: 1 for straight-line code, 2 for one loop."""
    return int(ComplexityVisitor.from_ast(ast.Module(body=list(statements), type_ignores=[])).total_complexity)


def _by_statement(body: Sequence[ast.stmt]) -> list[list[ast.stmt]]:
    return [[node] for node in body]


def _coalesced(body: Sequence[ast.stmt]) -> list[list[ast.stmt]]:
    groups: list[list[ast.stmt]] = []
    for node in body:
        simple = not isinstance(node, _COMPOUND)
        if groups and simple and not isinstance(groups[-1][-1], _COMPOUND):
            groups[-1].append(node)
        else:
            groups.append([node])
    return groups


def _adaptive(body: Sequence[ast.stmt]) -> list[list[ast.stmt]]:
    groups: list[list[ast.stmt]] = []
    changed: set[str] = set()
    for node in body:
        if isinstance(node, _COMPOUND):
            groups.extend(_opened(node))
            changed = set()
            continue
        stores = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        fits = len(changed | stores) <= 4 and _weight([node]) == 1
        if groups and fits and not isinstance(groups[-1][-1], _COMPOUND):
            groups[-1].append(node)
            changed |= stores
        else:
            groups.append([node])
            changed = stores
    return groups


def _opened(node: ast.stmt) -> list[list[ast.stmt]]:
    length = (node.end_lineno or node.lineno) - node.lineno + 1
    inner = [child for name in ("body", "orelse", "finalbody") for child in getattr(node, name, [])]
    if not isinstance(node, (ast.For, ast.While, ast.If)) or length <= 8 or _weight([node]) < 4 or len(inner) < 2:
        return [[node]]
    # The header is represented by a copy without bodies, so that its weight counts only its own decision.
    header = ast.copy_location(_headless(node), node)
    header.end_lineno = inner[0].end_lineno
    first = [header, inner[0]]
    return [first, *([child] for child in inner[1:])]


def _headless(node: ast.For | ast.While | ast.If) -> ast.stmt:
    if isinstance(node, ast.For):
        return ast.For(target=node.target, iter=node.iter, body=[ast.Pass()], orelse=[], type_comment=None)
    if isinstance(node, ast.While):
        return ast.While(test=node.test, body=[ast.Pass()], orelse=[])
    return ast.If(test=node.test, body=[ast.Pass()], orelse=[])


_CUTS: dict[str, Callable[[Sequence[ast.stmt]], list[list[ast.stmt]]]] = {
    "statement": _by_statement,
    "coalesced": _coalesced,
    "adaptive": _adaptive,
}
