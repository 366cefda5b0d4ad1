"""``class Solution`` with one entry method, rewritten as module-level functions where that changes nothing (paper section 2).

``self`` goes from the parameters, and ``self.helper(...)`` becomes ``helper(...)``. The text is edited in place, so that the
author's layout stays; the result's syntax tree must then equal the tree that the same change makes from the original.
"""

from __future__ import annotations

import ast
import builtins
import textwrap
from collections.abc import Iterator

from ct_tasks.errors import TraceError

_PLAIN = {"staticmethod"}


class Unsafe(TraceError):
    """The class cannot become a function; ``reason`` is the name that is counted."""

    def __init__(self, reason: str, detail: str = "") -> None:
        self.reason, self.detail = reason, detail
        super().__init__(f"{reason}: {detail}" if detail else reason)


def to_functions(source: str, entry: str, class_name: str = "Solution") -> str:
    """The module with the methods of ``class_name`` as functions, the entry last. Raises ``Unsafe`` with the reason."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise Unsafe("syntax", str(error)) from None
    classes = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == class_name]
    if not classes:
        raise Unsafe("no_solution_class", f"no class {class_name} in the module")
    solution = classes[-1]
    if len(classes) > 1 or solution.bases or solution.keywords or solution.decorator_list:
        raise Unsafe("unusual_class", "more than one class of that name, a base class or a decorator")
    methods = _methods(solution)
    if entry not in methods:
        raise Unsafe("no_entry_method", f"{class_name} has no method {entry}; it has {', '.join(methods) or 'none'}")
    for other in (n for n in tree.body if n is not solution):
        if any(isinstance(n, ast.Name) and n.id == class_name for n in ast.walk(other)):
            raise Unsafe("class_used_outside", f"other code of the module uses {class_name}")
    _check_names(tree, solution, methods)
    order = [m for name, m in methods.items() if name != entry] + [methods[entry]]
    texts = [_function(source, method, methods) for method in order]
    rest = [n for n in tree.body if n is not solution]
    return "\n\n\n".join([*(t for t in (_texts(source, rest),) if t), *texts]) + "\n"


def _methods(solution: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    methods: dict[str, ast.FunctionDef] = {}
    for node in solution.body:
        if isinstance(node, ast.FunctionDef):
            if node.name in methods:
                raise Unsafe("unusual_class", f"two methods named {node.name}")
            methods[node.name] = node
        elif isinstance(node, ast.AsyncFunctionDef):
            raise Unsafe("asynchronous", node.name)
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) and not isinstance(
            node, ast.Pass
        ):
            raise Unsafe("class_attribute", ast.unparse(node)[:120])
    return methods


def _check_names(tree: ast.Module, solution: ast.ClassDef, methods: dict[str, ast.FunctionDef]) -> None:
    """A method becomes a module-level name, which must not mean anything else there (``gcd``, a local, a global)."""
    taken = {
        name
        for node in ast.walk(tree)
        for name in _bound_or_read(node)
        if not (isinstance(node, ast.FunctionDef) and node in solution.body)
    }
    for name in methods:
        if name in taken or hasattr(builtins, name):
            raise Unsafe("name_clash", f"{name} is a method and also another name")
        if name.startswith("__"):
            raise Unsafe("instance_state", f"the method {name}")


def _bound_or_read(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.alias(name=name, asname=other):
            yield other or name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names


def _self_name(method: ast.FunctionDef) -> str | None:
    marks = {d.id for d in method.decorator_list if isinstance(d, ast.Name)}
    if "classmethod" in marks or "property" in marks:
        raise Unsafe("instance_state", f"{method.name} is a class method or a property")
    if marks & _PLAIN:
        return None
    spec = method.args
    first = [*spec.posonlyargs, *spec.args][:1]
    if not first:
        raise Unsafe("unusual_class", f"{method.name} has no self")
    return first[0].arg


def _function(source: str, method: ast.FunctionDef, methods: dict[str, ast.FunctionDef]) -> str:
    own = _self_name(method)
    lines = [line.encode() for line in source.split("\n")]
    first = min([method.lineno, *(d.lineno for d in method.decorator_list)])
    edits = [_without_self(lines, method)] if own else []
    drop = [d.lineno for d in method.decorator_list if isinstance(d, ast.Name) and d.id in _PLAIN]
    for node in ast.walk(method):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in (own, "Solution") and attr in methods:
                if not isinstance(node.ctx, ast.Load) or node.lineno != node.end_lineno or node.end_col_offset is None:
                    raise Unsafe("instance_state", f"self.{attr} is assigned or spread over lines")
                edits.append((node.lineno, node.col_offset, node.end_col_offset, attr.encode()))
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name == own:
                raise Unsafe("instance_state", f"uses {own}.{attr}")
    for row, a, b, text in sorted(edits, reverse=True):
        line = lines[row - 1]
        lines[row - 1] = line[:a] + text + line[b:]
    body = [line for i, line in enumerate(lines[first - 1 : method.end_lineno], first) if i not in drop]
    text_now = textwrap.dedent(b"\n".join(body).decode())
    wanted = _Bare(own, set(methods)).visit(ast.parse(ast.unparse(method)).body[0])
    if own and any(isinstance(n, ast.Name) and n.id == own for n in ast.walk(wanted)):
        raise Unsafe("instance_state", f"{own} itself is used")
    try:
        same = ast.dump(ast.parse(text_now).body[0]) == ast.dump(wanted)
    except SyntaxError:
        same = False
    if not same:
        raise Unsafe("layout", f"{method.name} cannot be moved out of its class without changing it")
    return text_now


def _without_self(lines: list[bytes], method: ast.FunctionDef) -> tuple[int, int, int, bytes]:
    """The edit that takes ``self, `` out of the signature: row, byte columns, new text."""
    spec = method.args
    first, *others = [*spec.posonlyargs, *spec.args]
    if first.annotation is not None or first.end_col_offset is None:
        raise Unsafe("layout", f"self of {method.name} has an annotation")
    end = first.end_col_offset
    line = lines[first.lineno - 1]
    following = line[end:]
    if following.lstrip().startswith(b","):
        end += following.index(b",") + 1
        end += len(line[end:]) - len(line[end:].lstrip(b" "))
    elif others:
        raise Unsafe("layout", f"no comma behind self of {method.name}")
    return first.lineno, first.col_offset, end, b""


class _Bare(ast.NodeTransformer):
    """The change to the text, made on the tree: what the text must parse as."""

    def __init__(self, own: str | None, methods: set[str]) -> None:
        self.own, self.methods, self.outermost = own, methods, True

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if self.outermost:
            self.outermost = False
            if self.own:
                (node.args.posonlyargs or node.args.args).pop(0)
            node.decorator_list = [d for d in node.decorator_list if not (isinstance(d, ast.Name) and d.id in _PLAIN)]
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        match node.value:
            case ast.Name(id=name) if name in (self.own, "Solution") and node.attr in self.methods:
                return ast.copy_location(ast.Name(node.attr, ast.Load()), node)
        return self.generic_visit(node)


def _texts(source: str, nodes: list[ast.stmt]) -> str:
    lines = source.split("\n")
    out = []
    for node in nodes:
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(d.lineno for d in decorators)])
        out.append("\n".join(lines[first - 1 : node.end_lineno]))
    return "\n".join(out)
