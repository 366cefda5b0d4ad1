"""What kind of value a call must return, as far as the program text and the call's arguments tell, without running anything.

It decides one thing: whether a bare word where a value belongs (``[ANSWER]OOP[/ANSWER]``) can only be a string whose quotes
were left out. The reference output is never looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from ct_tasks.contra.literals import LiteralError, parse_node

Kind = Literal["text", "other", "unknown"]
_TEXT_METHODS = frozenset(
    ("join", "replace", "upper", "lower", "strip", "lstrip", "rstrip", "title", "capitalize", "swapcase", "zfill", "center",
     "ljust", "rjust", "format", "expandtabs", "casefold", "removeprefix", "removesuffix", "translate", "decode")
)  # fmt: skip
_OTHER_METHODS = frozenset(
    ("split", "rsplit", "splitlines", "partition", "rpartition", "find", "rfind", "index", "rindex", "count", "startswith",
     "endswith", "isalpha", "isdigit", "isalnum", "islower", "isupper", "isspace", "istitle", "isnumeric", "isdecimal",
     "isidentifier", "encode", "keys", "values", "items", "append", "extend", "sort", "insert", "update", "maketrans")
)  # fmt: skip
_TEXT_CALLS = frozenset(("str", "chr", "repr", "hex", "bin", "oct", "format", "input"))
_OTHER_CALLS = frozenset(
    ("len", "int", "float", "bool", "list", "dict", "set", "tuple", "sorted", "range", "ord", "abs", "any", "all", "round",
     "enumerate", "zip", "map", "filter", "frozenset", "Counter", "defaultdict", "divmod", "isinstance")
)  # fmt: skip
_OTHER_NODES = (
    ast.UnaryOp, ast.Compare, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.Lambda,
)  # fmt: skip
_MAX_NODES = 20_000


@lru_cache(maxsize=4096)
def kind(code: str, entry: str, call: str) -> Kind:
    """``text`` where every value that the entry function returns is a string, ``other`` where none is, else ``unknown``."""
    try:
        tree = ast.parse(code)
        function = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == entry)
        if sum(1 for _ in ast.walk(function)) > _MAX_NODES:
            return "unknown"
        given = env = _arguments(function, call)
        inner = list(_own(function))
        for _ in range(3):  # names that are made from one another settle in a few rounds
            env = _assigned(inner, given, env)
        values = [n.value for n in inner if isinstance(n, ast.Return) and n.value is not None]
        # None is left out: it can be told from a word.
        return _join([_of(v, env) for v in values if not (isinstance(v, ast.Constant) and v.value is None)])
    except (SyntaxError, ValueError, StopIteration, RecursionError, MemoryError):
        return "unknown"


@lru_cache(maxsize=4096)
def names(code: str) -> frozenset[str]:
    """Every name that the program uses: none of them is a bare word that stands for itself."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    found = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    found |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    return frozenset(found | {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))})


@lru_cache(maxsize=4096)
def parameters(code: str, entry: str) -> tuple[str, ...]:
    """The entry function's parameter names, in order; empty where it cannot be found."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == entry:
            given = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            return tuple(a for a in given if a != "self")
    return ()


def _own(function: ast.FunctionDef) -> Iterable[ast.AST]:
    """The nodes of a function without those of functions inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))


def _arguments(function: ast.FunctionDef, call: str) -> dict[str, Kind]:
    env: dict[str, Kind] = {}
    try:
        node = parse_node(call)
    except LiteralError:
        return env
    if isinstance(node, ast.Call):
        named = [a.arg for a in (*function.args.posonlyargs, *function.args.args) if a.arg != "self"]
        env.update({name: _of(value, {}) for name, value in zip(named, node.args, strict=False)})
        env.update({k.arg: _of(k.value, {}) for k in node.keywords if k.arg})
    return env


def _assigned(nodes: Iterable[ast.AST], given: dict[str, Kind], before: dict[str, Kind]) -> dict[str, Kind]:
    seen: dict[str, list[Kind]] = {name: [found] for name, found in given.items()}

    def note(target: ast.expr, found: Kind) -> None:
        if isinstance(target, ast.Name):
            seen.setdefault(target.id, []).append(found)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                note(part, "unknown")

    for node in nodes:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    note(target, _of(value, before))
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                note(target, _of(value, before))
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                note(target, _of(ast.BinOp(left=ast.Name(id=name), op=op, right=value), before))
            case ast.For(target=target, iter=source):
                note(target, "text" if _of(source, before) == "text" else "unknown")
    return {name: _join(kinds) for name, kinds in seen.items()}


def _join(kinds: list[Kind]) -> Kind:
    return kinds[0] if kinds and len(set(kinds)) == 1 else "unknown"


def _of(node: ast.expr, env: dict[str, Kind]) -> Kind:
    match node:
        case ast.Constant(value=value):
            return "text" if isinstance(value, str) else "other"
        case ast.JoinedStr():
            return "text"
        case ast.Name(id=name):
            return env.get(name, "unknown")
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=bytes()))):
            return "unknown"
        case ast.Call(func=ast.Attribute(attr=name)):
            return "text" if name in _TEXT_METHODS else "other" if name in _OTHER_METHODS else "unknown"
        case ast.Call(func=ast.Name(id=name)):
            return "text" if name in _TEXT_CALLS else "other" if name in _OTHER_CALLS else "unknown"
        case ast.BinOp(left=left, op=op, right=right):
            sides = (_of(left, env), _of(right, env))
            if isinstance(op, (ast.Add, ast.Mult)) and "text" in sides:
                return "text"
            if isinstance(op, ast.Mod) and sides[0] == "text":
                return "text"
            return "other" if sides == ("other", "other") or not isinstance(op, (ast.Add, ast.Mult, ast.Mod)) else "unknown"
        case ast.Subscript(value=value, slice=index):
            inner = _of(value, env)
            return "text" if inner == "text" else "other" if inner == "other" and isinstance(index, ast.Slice) else "unknown"
        case ast.IfExp(body=body, orelse=orelse):
            return _join([_of(body, env), _of(orelse, env)])
        case ast.BoolOp(values=values):
            return _join([_of(value, env) for value in values])
    return "other" if isinstance(node, _OTHER_NODES) else "unknown"
