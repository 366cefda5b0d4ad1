"""What a run of a program shows, besides its trace: trips of loops, branches taken, the first line that raises.

``observe`` runs in the sandbox's child. It counts by marks put into the syntax tree, at the start of every loop body and
branch, so that it does not depend on how a Python version reports lines; only what raises is seen by ``sys.settrace``. All
line numbers are those of the source, from 1.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

from ct_tasks.contra import literals

MAX_MARKS = 20_000
_MARK = "__mark__"
_QUIET = (StopIteration, GeneratorExit, StopAsyncIteration)  # how iteration ends, not a failure


def observe(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Run ``payload["call"]`` in ``payload["source"]``.

    Returns ``output`` (literal text), ``trips`` ([loop line, count]), ``branches`` ([if line, first lines of the branches that
    ran, in order, None where none did]), ``raised`` (line or None) and ``depth`` (most of the program's functions open
    at once, below the entry function); ``plain``: the output of ``payload["plain"]``, a second call, or None where it has none.
    A program that raises or returns no literal gives ``{"failed": reason}``.
    """
    tree = ast.parse(payload["source"])
    loops, ifs = _instrument(tree)
    watch = _Watch()
    namespace: dict[str, Any] = {"__name__": "__program__", _MARK: watch.mark}
    previous = sys.gettrace()
    try:
        exec(compile(tree, "<program>", "exec"), namespace)
        call = compile(payload["call"], "<call>", "eval")
        sys.settrace(watch.entered)
        try:
            value = eval(call, namespace)
        finally:
            sys.settrace(previous)
        output = _text(value)
    except BaseException as error:  # noqa: BLE001 - whatever the program raises is its own result
        return {"failed": f"{type(error).__name__}: {str(error)[:200]}"}
    if output is None:
        return {"failed": f"no literal expresses the returned {type(value).__name__}"}
    return {
        "output": output,
        "trips": [[line, watch.trips.get(line, 0)] for line in loops],
        "branches": [[line, watch.branches.get(line, [])] for line in ifs],
        "raised": watch.raised,
        "depth": watch.depth,
        "plain": _plain(payload),
    }


def _plain(payload: Mapping[str, Any]) -> str | None:
    namespace: dict[str, Any] = {"__name__": "__program__"}
    try:
        exec(compile(payload["source"], "<program>", "exec"), namespace)
        return _text(eval(payload["plain"], namespace)) if payload.get("plain") else None
    except Exception:  # noqa: BLE001 - then these arguments give no value
        return None


def _text(value: object) -> str | None:
    plain = literals.plain(value)
    return None if plain is literals.OMIT else literals.dump(plain)


class _Watch:
    """What the marks and the tracer of one call report."""

    def __init__(self) -> None:
        self.trips: dict[int, int] = {}
        self.branches: dict[int, list[int | None]] = {}
        self.raised: int | None = None
        self.depth = 0
        self.open = 0
        self.left = MAX_MARKS

    def mark(self, line: int, *branch: int | None) -> None:
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("the program goes through too many loops")
        if branch:
            self.branches.setdefault(line, []).append(branch[0])
        else:
            self.trips[line] = self.trips.get(line, 0) + 1

    def entered(self, frame: FrameType, event: str, arg: object) -> Any:
        code = frame.f_code
        if code.co_filename != "<program>":
            return None
        frame.f_trace_lines = False
        if not code.co_name.startswith("<"):  # comprehensions are functions in some versions of Python
            self.open += 1
            self.depth = max(self.depth, self.open - 1)
        return self.inside

    def inside(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "exception" and self.raised is None and not issubclass(arg[0], _QUIET):
            self.raised = frame.f_lineno
        elif event == "return" and not frame.f_code.co_name.startswith("<"):
            self.open -= 1
        return self.inside


def _instrument(tree: ast.Module) -> tuple[list[int], list[int]]:
    """Put marks into the tree; the lines of its loops and of its ``if`` statements (an ``elif`` belongs to its ``if``)."""
    loops: list[int] = []
    heads: dict[ast.If, int] = {}
    for node in list(ast.walk(tree)):
        if isinstance(node, (ast.For, ast.While)):
            loops.append(node.lineno)
            _put(node.body, node.lineno)
        elif isinstance(node, ast.If):
            heads.setdefault(node, node.lineno)
            _put(node.body, heads[node], node.body[0].lineno)
            match node.orelse:
                case [ast.If() as inner] if inner.col_offset == node.col_offset:
                    heads[inner] = heads[node]
                case []:
                    node.orelse = [_marked(node.body[-1], heads[node], None)]
                case others:
                    _put(others, heads[node], others[0].lineno)
    return sorted(loops), sorted(set(heads.values()))


def _put(body: list[ast.stmt], line: int, *branch: int | None) -> None:
    body.insert(0, _marked(body[0], line, *branch))


def _marked(at: ast.stmt, line: int, *branch: int | None) -> ast.stmt:
    given: list[ast.expr] = [ast.Constant(line), *map(ast.Constant, branch)]
    call = ast.Expr(ast.Call(ast.Name(_MARK, ast.Load()), given, []))
    return ast.fix_missing_locations(ast.copy_location(call, at))
