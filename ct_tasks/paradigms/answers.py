"""Reading one answer text (what stands between the tags) as a value or as a call, from its syntax tree, never by running it."""

from __future__ import annotations

import ast

from ct_tasks.contra import literals
from ct_tasks.contra.literals import LiteralError
from ct_tasks.paradigms.base import Extraction, Found, Missed, Problem

_CALLS = frozenset(("set", "frozenset", "float", "dict"))


def read(text: str, problem: Problem, *, open_end: bool = False) -> Extraction:
    """``assert f(3) == 6``, ``f(3) == 6`` or the bare literal on the output side; the same assertion or the bare call
    ``f(...)`` on the input side. The function named must be the problem's; its arguments are not compared.
    """
    text = unfence(text.strip())
    if not text:
        return Missed("no_answer", "the answer is empty")
    try:
        literals.guard(text)
        body = ast.parse(text).body
    except (LiteralError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Missed("unreadable", f"the answer does not parse: {str(error)[:120]}", _short(text))
    match body:
        case [ast.Assert(test=node, msg=None)] | [ast.Expr(value=node)]:
            return _output(text, body[0], node, problem, open_end) if problem.side == "output" else _input(
                text, node, problem, open_end
            )
    what = f"{len(body)} statements" if len(body) != 1 else type(body[0]).__name__
    return Missed("unreadable", f"the answer is neither an assertion nor a value: {what}", _short(text))


def value(node: ast.expr) -> object:
    """The value of a literal: displays and constants, and the few values that Python writes as a call (``set()``,
    ``frozenset(...)``, ``float('inf')``, ``dict(...)``). Other calls leave something to evaluate. Raises ``LiteralError``.
    """
    try:
        return literals.from_node(node, constructors=False)
    except LiteralError:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call) and not (isinstance(inner.func, ast.Name) and inner.func.id in _CALLS):
                raise
        return literals.from_node(node)


def literal(text: str, *, open_end: bool = False) -> Extraction:
    """The text as one literal value."""
    try:
        return Found(text.strip(), value(literals.parse_node(text)), open_end)
    except LiteralError as error:
        if not text.strip():
            return Missed("no_answer", "the answer is empty")
        return Missed("unreadable", f"the answer is not a literal: {str(error)[:120]}", _short(text))


def agree(found: list[Found], problem: Problem) -> Extraction:
    """The one answer that all of ``found`` give, or none: a text that answers twice, differently, does not answer."""
    first = found[0]
    for other in found[1:]:
        equal = first.text == other.text or (problem.side == "output" and literals.same(first.value, other.value))
        if not equal:
            return Missed("no_answer", "the text gives two different answers", _short(other.text))
    return found[-1]


def unfence(text: str) -> str:
    """Without a Markdown fence around it. A language tag counts as one only when a newline follows it."""
    if text.startswith("```"):
        first, newline, rest = text[3:].partition("\n")
        tag = first.strip().replace("+", "").replace("-", "")
        text = rest if not tag or (newline and tag.isalnum()) else text[3:]
        text = text.rstrip().removesuffix("```")
    elif len(text) > 2 and text[0] == text[-1] == "`" and "`" not in text[1:-1]:
        text = text[1:-1]
    return text.strip()


def _output(text: str, statement: ast.stmt, node: ast.expr, problem: Problem, open_end: bool) -> Extraction:
    answer = text.rstrip("; ")
    match node:
        case ast.Compare(left=ast.Call(func=ast.Name(id=name)), ops=[ast.Eq()], comparators=[right]):
            answer = literals.segment(text, right)
            if name != problem.entry:
                return Missed("unreadable", f"the assertion is about {name}, not {problem.entry}", _short(answer))
            node = right
        case _ if isinstance(statement, ast.Assert):
            return Missed("unreadable", f"the assertion is not `{problem.entry}(...) == <literal>`", _short(text))
    try:
        return Found(answer, value(node), open_end)
    except LiteralError as error:
        return Missed("unreadable", f"the answer is not a literal: {error}", _short(answer))


def _input(text: str, node: ast.expr, problem: Problem, open_end: bool) -> Extraction:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
        node = node.left
    match node:
        case ast.Call(func=ast.Name(id=name)):
            call = literals.segment(text, node)
            if name == problem.entry:
                return Found(call, None, open_end)
            return Missed("unreadable", f"the answer calls {name}, not {problem.entry}", _short(call))
    return Missed("unreadable", f"the answer is not a call of {problem.entry}", _short(text))


def _short(text: str) -> str:
    return text if len(text) <= 500 else text[:500] + "…"
