"""When two programs are the same: as text, or as syntax tree once names, annotations and docstrings are out of the way."""

from __future__ import annotations

import ast
import hashlib

from ct_tasks.contra.program import normalise
from ct_tasks.errors import TraceError
from ct_train.data.names import bound


def text_of(source: str, entry: str | None = None) -> str:
    """What is compared: the program without imports, comments, docstrings and blank lines; as it is where it does not parse
    or holds no function."""
    try:
        source = normalise(source, entry).runnable if entry else source
        tree = ast.parse(source)
    except (TraceError, SyntaxError, ValueError):
        return source.strip()
    lines = source.split("\n")
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for row in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[row] = ""
    return "\n".join(line for line in lines if line.strip())


def exact(text: str) -> str:
    """Digest of the text without regard to white space."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()


def renamed(text: str) -> str:
    """Digest of the syntax tree with every name that the program itself binds replaced by its order of appearance.

    Two programs that differ in names, annotations, docstrings, comments or layout alone have the same digest. The text's own
    digest where it does not parse.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return exact(text)
    return hashlib.sha256(ast.dump(_Canonical(bound(tree)).visit(tree)).encode()).hexdigest()


class _Canonical(ast.NodeTransformer):
    def __init__(self, own: set[str]) -> None:
        self.own = own
        self.order: dict[str, str] = {}

    def _name(self, name: str) -> str:
        return self.order.setdefault(name, f"v{len(self.order)}") if name in self.own else name

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self._name(node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(self._name(node.arg), None)

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        value = self.visit(node.value)
        return ast.keyword(self._name(node.arg) if node.arg else None, value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        return self.visit(ast.Assign([node.target], node.value))  # type: ignore[no-any-return]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name, node.returns = self._name(node.name), None
        node.body = _without_docstring(node.body)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name, node.body = self._name(node.name), _without_docstring(node.body)
        return self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        node.name = self._name(node.name) if node.name else None
        return self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> ast.AST:
        return ast.Global([self._name(n) for n in node.names])

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        return ast.Nonlocal([self._name(n) for n in node.names])

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if hasattr(node, "type_comment"):
            node.type_comment = None
        return super().generic_visit(node)


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return body[1:] or [ast.Pass()]
    return body
