"""The imports that a program needs, spelled out: LeetCodeDataset's rows lean on a screenful of star imports above them."""

from __future__ import annotations

import ast
import builtins
import importlib
import sys
from functools import cache

from ct_train.data.unclass import Unsafe

_STARS = ("typing", "functools", "collections", "itertools", "heapq", "bisect", "string", "operator", "math")
_SAME = {"abs"}  # operator.abs does what the built-in does


@cache
def _tables() -> tuple[dict[str, str], frozenset[str]]:
    """Name to the module that the standing star imports take it from (the last one wins)."""
    origin: dict[str, str] = {}
    for module_name in _STARS:
        module = importlib.import_module(module_name)
        public = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
        origin.update(dict.fromkeys(public, module_name))
    return {n: m for n, m in origin.items() if n not in _SAME}, frozenset(("math", "datetime"))


def with_imports(source: str) -> str:
    """``source`` with explicit imports for the names it takes from the dataset's standing imports.

    Raises ``Unsafe`` for a name that neither they nor the program nor Python itself define, and for an import from outside
    the standard library.
    """
    tree = ast.parse(source)
    origin, modules = _tables()
    own = bound(tree)
    wanted = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - own
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for name in sorted(wanted):
        if name == "inf":
            lines.append('inf = float("inf")')
        elif name in origin:
            found.setdefault(origin[name], []).append(name)
        elif name in modules:
            found.setdefault("", []).append(name)
        elif not hasattr(builtins, name):
            raise Unsafe("unknown_name", f"{name} is defined nowhere")
    for node in ast.walk(tree):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            if name.partition(".")[0] not in sys.stdlib_module_names:
                raise Unsafe("third_party_import", name)
    head = [f"import {name}" for name in found.pop("", [])]
    head += [f"from {module} import {', '.join(names)}" for module, names in sorted(found.items())]
    return "\n".join([*head, *lines, source]) if head or lines else source


def bound(tree: ast.Module) -> set[str]:
    """Every name that some statement of the program binds, in whatever scope."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                names.add(name)
            case ast.alias(name=name, asname=other):
                names.add(other or name.partition(".")[0])
    return names
