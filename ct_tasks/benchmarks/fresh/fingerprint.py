"""A hash of a program that does not depend on the names of its variables, functions, classes and fields."""

from __future__ import annotations

import ast
import hashlib


def fingerprint(code: str) -> str:
    """64 hex digits; equal for programs that differ in names, layout and comments alone. Text that does not parse is hashed
    as it is.

    Names that the program itself binds are numbered in the order in which they appear: module-level names and fields over
    the whole program, all others anew in each module-level statement.
    """
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()
    fields = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            fields |= {m.name for m in node.body if isinstance(m, ast.FunctionDef) and not m.name.startswith("__")}
    shared: dict[str, str] = {}
    for statement in tree.body:
        for name in _bound(statement, inside=False):
            shared.setdefault(name, f"g{len(shared)}")
    out: list[str] = []
    numbered: dict[str, str] = {}
    for statement in tree.body:
        own = {name: f"v{i}" for i, name in enumerate(_bound(statement, inside=True))}
        _write(statement, {**shared, **own}, fields, numbered, out)
    return hashlib.sha256(" ".join(out).encode("utf-8", "surrogatepass")).hexdigest()


def _bound(statement: ast.stmt, *, inside: bool) -> list[str]:
    """Names that a module-level statement binds: on the module's level, or inside its functions and classes."""
    defines = isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    if defines != inside:
        return [statement.name] if defines else _stored(statement)  # type: ignore[attr-defined]
    return _stored(statement, skip=statement) if inside else []


def _stored(root: ast.AST, skip: ast.AST | None = None) -> list[str]:
    found: dict[str, None] = {}
    for node in ast.walk(root):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                found[name] = None
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if node is not skip:
                found[name] = None
            case ast.alias(name=full, asname=short):
                found[short or full.partition(".")[0]] = None
    return list(found)


def _write(
    node: object, names: dict[str, str], fields: set[str], numbered: dict[str, str], out: list[str], method: bool = False
) -> None:
    """The tree as words. The numbers of fields are given out as they appear; ``method``: a function's name is a field."""
    if isinstance(node, list):
        out.append("[")
        for part in node:
            _write(part, names, fields, numbered, out, method)
        out.append("]")
        return
    if not isinstance(node, ast.AST):
        out.append(repr(node))
        return
    out.append(type(node).__name__)
    for field in node._fields:
        value = getattr(node, field, None)
        if field in ("ctx", "type_comment", "type_ignores", "kind", "type_params"):
            continue
        if field == "attr" or (field == "name" and method and isinstance(node, ast.FunctionDef)):
            value = numbered.setdefault(value, f"a{len(numbered)}") if value in fields else value
        elif isinstance(value, str) and field in ("id", "arg", "name", "asname"):
            value = names.get(value, value)
        elif field == "names" and value and isinstance(value[0], str):  # global, nonlocal
            value = [names.get(v, v) for v in value]
        _write(value, names, fields, numbered, out, isinstance(node, ast.ClassDef))
