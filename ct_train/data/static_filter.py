"""Step 1, static filter (paper section 2): function-level programs of at least five lines, read from the syntax tree.

Rules in order, each with the reason that is counted: the row parses; ``class Solution`` becomes functions where that is safe
(``unclass``); imports come from the standard library; nothing does I/O or depends on chance or time; arguments and result
are values that a literal can express; at least ``min_lines`` lines remain in the entry function without signature, blank
lines, comments and docstrings.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ct_tasks.contra.program import Program, normalise
from ct_tasks.errors import TraceError
from ct_train.data.names import bound, with_imports
from ct_train.data.steps import Outcome, Row, Step
from ct_train.data.unclass import Unsafe, to_functions

VERSION = 1
_IO = frozenset(("print", "input", "open", "exec", "eval", "compile", "__import__", "breakpoint", "exit", "quit"))
_CHANCE = frozenset(("random", "secrets", "time", "datetime", "uuid", "os", "sys", "threading", "subprocess", "socket"))
_OBJECTS = frozenset(("ListNode", "TreeNode", "Node", "NestedInteger", "Callable", "Iterator", "Generator"))


def static_step(folder: Path, rows: Sequence[Row], sources: Sequence[Path], min_lines: int) -> dict[str, Any]:
    """Run the step over the dataset's ``rows`` read from the files ``sources``."""
    step = Step(folder, "1_static", {"rules": VERSION, "min_lines": min_lines}, list(sources), batch=100)
    return step.run(rows, lambda batch: filter_rows(batch, min_lines))


def filter_rows(rows: Sequence[Row], min_lines: int) -> Outcome:
    """Each row kept as a program, or dropped with its reason."""
    out = Outcome()
    for row in rows:
        name = str(row["task_id"])
        try:
            program = to_program(row["completion"], row["entry_point"].rpartition(".")[2], min_lines)
        except Unsafe as error:
            out.drop({"id": name, "source": row["completion"]}, error.reason, error.detail)
            continue
        meta = row.get("meta") or {}
        out.kept.append(
            {
                "id": name,
                "program": program.runnable,
                "entry": program.entry,
                "lines": body_lines(program),
                "difficulty": meta.get("difficulty") or row.get("difficulty"),
                "examples": [pair["input"] for pair in row.get("input_output") or []],
            }
        )
    return out


def to_program(source: str, entry: str, min_lines: int) -> Program:
    """The entry function with what it needs. Raises ``Unsafe`` with the reason."""
    functions = to_functions(source, entry)
    check(_normalised(functions, entry))
    program = _normalised(with_imports(functions), entry)
    count = body_lines(program)
    if count < min_lines:
        raise Unsafe("too_short", f"{count} lines")
    return program


def _normalised(source: str, entry: str) -> Program:
    try:
        return normalise(source, entry)
    except TraceError as error:
        raise Unsafe("syntax", str(error)) from None


def body_lines(program: Program) -> int:
    """Lines of the entry function without its signature."""
    return len(program.lines) - (program.function.body[0].lineno - 1)


def check(program: Program) -> None:
    """I/O, chance, time, and arguments or results that no literal expresses. Raises ``Unsafe``."""
    tree = ast.parse(program.runnable)
    io = _IO - bound(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) if name in io:
                raise Unsafe("input_output", f"uses {name}")
            case ast.Import(names=names) if _banned([a.name for a in names]):
                raise Unsafe("chance_or_time", f"imports {_banned([a.name for a in names])}")
            case ast.ImportFrom(module=str(module)) if _banned([module]):
                raise Unsafe("chance_or_time", f"imports {module}")
    spec = program.function.args
    if spec.vararg or spec.kwarg:
        raise Unsafe("object_input", "takes *args or **kwargs")
    if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in _own_nodes(program.function)):
        raise Unsafe("generator", "calling it runs nothing")
    hints = [a.annotation for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    for hint in (*hints, program.function.returns):
        named = {n.id for n in ast.walk(hint) if isinstance(n, ast.Name)} if hint is not None else set()
        quoted = {str(n.value) for n in ast.walk(hint) if isinstance(n, ast.Constant)} if hint is not None else set()
        if bad := sorted((named | {q.strip() for q in quoted}) & _OBJECTS):
            raise Unsafe("object_input", f"{bad[0]} in the signature")
    returns = program.function.returns
    if isinstance(returns, ast.Constant) and returns.value is None:
        raise Unsafe("returns_nothing", "works on its argument in place")


def _banned(modules: Sequence[str]) -> str:
    return next((m for m in modules if m.partition(".")[0] in _CHANCE), "")


def _own_nodes(function: ast.FunctionDef) -> list[ast.AST]:
    """Nodes of the function without those of nested functions and lambdas."""
    todo: list[ast.AST] = list(function.body)
    found = []
    while todo:
        node = todo.pop()
        found.append(node)
        if not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.AsyncFunctionDef)):
            todo.extend(ast.iter_child_nodes(node))
    return found
