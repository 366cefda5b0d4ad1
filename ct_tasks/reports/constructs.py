"""At which construct of the program a block lies: what the failure atlas counts first errors by."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence
from functools import lru_cache

_STRING = frozenset(n for n in dir(str) if not n.startswith("_")) - {"count", "index"}  # lists have these too
_LIST = frozenset(("append", "extend", "insert", "remove", "reverse", "appendleft", "popleft"))
_DICT = frozenset(("get", "items", "keys", "values", "setdefault", "fromkeys", "popitem", "most_common"))
_SET = frozenset(("add", "discard", "union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset"))
CONSTRUCTS = (
    "loop in a loop", "for loop", "while loop", "break or continue", "condition", "comprehension", "slice", "negative index", "item assignment",
    "dict update", "dict method", "list method", "string method", "set operation", "sorting", "pop or del", "division or modulo", "power or bits",
    "string formatting", "lambda or inner function", "try", "several targets", "call of its own", "plain statement",
)  # fmt: skip
# Faults of a block that say nothing about its program.
MISSING, COPIED = "block missing", "code not copied"
KINDS = (*CONSTRUCTS, MISSING, COPIED)


def constructs(lines: Sequence[str], start: int, stop: int) -> tuple[str, ...]:
    """The constructs in lines ``start`` to ``stop`` (exclusive) of a program; empty where they cannot be read as Python."""
    return _constructs("\n".join(lines[start:stop]), start == 0)


@lru_cache(maxsize=20_000)
def _constructs(text: str, head: bool) -> tuple[str, ...]:
    body = text if head else "def _():\n" + textwrap.indent(textwrap.dedent(text), " ")
    try:
        tree = ast.parse(body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    outer = tree.body[0] if tree.body else None
    found = {name for node in ast.walk(tree) if node is not outer for name in _of(node)}
    if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
        calls = {n.func.id for n in ast.walk(outer) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        found |= {"call of its own"} if outer.name in calls else set()
    return tuple(c for c in CONSTRUCTS if c in found) or ("plain statement",)


def _of(node: ast.AST) -> list[str]:
    match node:
        case ast.For() | ast.AsyncFor() | ast.While():
            inner = any(isinstance(n, (ast.For, ast.While)) for part in node.body for n in ast.walk(part))
            return ["while loop" if isinstance(node, ast.While) else "for loop", *(["loop in a loop"] if inner else [])]
        case ast.Break() | ast.Continue():
            return ["break or continue"]
        case ast.If() | ast.IfExp() | ast.Match():
            return ["condition"]
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return ["comprehension"]
        case ast.Subscript(slice=ast.Slice()):
            return ["slice"]
        case ast.Subscript(slice=ast.UnaryOp(op=ast.USub())):
            return ["negative index"]
        case ast.Assign(targets=targets):
            several = any(isinstance(t, (ast.Tuple, ast.List)) for t in targets)
            return _item(targets) + (["several targets"] if several or len(targets) > 1 else [])
        case ast.AugAssign(target=target, op=op):
            return _item([target]) + _operator(op)
        case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str())) | ast.JoinedStr():
            return ["string formatting"]
        case ast.BinOp(op=op):
            return _operator(op)
        case ast.Delete():
            return ["pop or del"]
        case ast.Lambda() | ast.FunctionDef() | ast.ClassDef():
            return ["lambda or inner function"]
        case ast.Try():
            return ["try"]
        case ast.Call(func=ast.Name(id=name)):
            return ["sorting"] if name == "sorted" else []
        case ast.Call(func=ast.Attribute(attr=name)):
            return _method(name)
    return []


def _item(targets: Sequence[ast.expr]) -> list[str]:
    return ["item assignment"] if any(isinstance(t, ast.Subscript) for t in targets) else []


def _operator(op: ast.operator) -> list[str]:
    if isinstance(op, (ast.Div, ast.FloorDiv, ast.Mod)):
        return ["division or modulo"]
    if isinstance(op, (ast.Pow, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor)):
        return ["power or bits"]
    return []


def _method(name: str) -> list[str]:
    named = {"sort": "sorting", "pop": "pop or del", "update": "dict update", "format": "string formatting"}
    if name in named:
        return [named[name]]
    groups = ((_STRING, "string method"), (_LIST, "list method"), (_DICT, "dict method"), (_SET, "set operation"))
    return [kind for names, kind in groups if name in names]
