"""Reading the text of one answer place (between tags, in a box, in a fence) as a careful person would.

The strict reading comes first; then, in this order: the same without its wrapping; the last statement of a program; the last
thing said about the asked call; what follows "the output is"; the first paragraph; a string whose quotes were left out.
"""

from __future__ import annotations

import ast
import re

from ct_tasks.contra import literals
from ct_tasks.contra.literals import LiteralError
from ct_tasks.paradigms import answers, claims, phrases, pieces
from ct_tasks.paradigms.base import Problem
from ct_tasks.paradigms.extraction import Extraction, Found, Missed

_NAMED = frozenset(("answer", "output", "result", "ans", "expected", "expected_output", "value", "res", "ret"))

_DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def read(text: str, problem: Problem) -> Extraction:
    """The value or call that the text gives. ``no_answer`` where it is empty or only the question again."""
    strict = answers.read(text, problem)
    if isinstance(strict, Found):
        return strict
    tidy = pieces.clean(text).removeprefix("==").lstrip()
    if not tidy.strip(" .`'\"*_-:,"):
        return Missed("no_answer", "the answer is empty")
    if len(tidy) > literals.MAX_TEXT:
        return strict
    return _output(tidy, problem, strict) if problem.side == "output" else _input(tidy, problem, strict)


def _output(text: str, problem: Problem, strict: Missed) -> Extraction:
    if value := pieces.whole(text):
        return value
    found = _statements(text, problem)
    if found is not None:
        return found
    said = [c for c in claims.claims(text, problem) if c.asserted] or claims.claims(text, problem)
    if said:
        return said[-1].found
    if answer := phrases.last(text, problem):
        return answer.found
    if (short := text.rstrip(".")) != text and (value := pieces.whole(short)):
        return value
    paragraph = re.split(r"\n[ \t]*\n|\n(?=#|[A-Z][a-z]+ )", text, maxsplit=1)[0]
    if paragraph != text:
        return read(paragraph, problem)
    if word := pieces.unquoted(text, problem):
        return word
    if "??" in text:
        return Missed("no_answer", "the question again", strict.text)
    return Missed("unreadable", strict.reason, strict.text)


def _statements(text: str, problem: Problem) -> Extraction | None:
    """The answer in the last statement of a text that is Python; None where the text is none, or says nothing."""
    try:
        literals.guard(text)
        body = ast.parse(text).body
    except (LiteralError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    about = [s for s in body if isinstance(s, ast.Assert) and claims.about_asked(text, s, problem)]
    if about and isinstance(body[-1], ast.Assert):  # assertions about other calls beside it are none of the question
        return _equation(text, about[-1].test, problem)
    for number, statement in reversed(list(enumerate(body))):
        match statement:
            case ast.Assert(test=test) | ast.Expr(value=ast.Compare() as test):
                return _equation(text, test, problem)
            case ast.Expr(value=ast.Constant(value=str())) if number == 0 and len(body) > 1:
                continue
            case ast.Expr(value=node) if all(isinstance(s, _DEFINITIONS) for s in body[:number]):
                return _literal(text, node, problem)
            case ast.Assign(targets=[ast.Name(id=name)], value=node) if name in _NAMED and len(body) == 1:
                return _literal(text, node, problem)
            case ast.Return(value=ast.expr() as node) if len(body) == 1:
                return _literal(text, node, problem)
            case ast.FunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom() | ast.Assign():
                continue
        break
    else:
        return Missed("no_answer", "a program and no answer")
    if isinstance(statement, ast.Expr) and isinstance(statement.value, (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set)):
        return Missed("unreadable", "a value behind other statements", text[:500])
    return None


def _equation(text: str, test: ast.expr, problem: Problem) -> Extraction | None:
    match test:
        case ast.Compare(left=ast.Call(func=ast.Name(id=name)), ops=[ast.Eq()], comparators=[node]) if name == problem.entry:
            return _literal(text, node, problem)
        case ast.Compare(left=node, ops=[ast.Eq()], comparators=[ast.Call(func=ast.Name(id=name))]) if name == problem.entry:
            return _literal(text, node, problem)
    return Missed("unreadable", f"the assertion is not `{problem.entry}(...) == <literal>`", text[:500])


def _literal(text: str, node: ast.expr, problem: Problem) -> Extraction | None:
    written = literals.segment(text, node)
    try:
        return Found(written, answers.value(node))
    except LiteralError as error:
        if isinstance(node, ast.Name) and (word := pieces.unquoted(written, problem)):
            return word
        return Missed("unreadable", f"the answer is not a literal: {error}"[:200], written[:500])


def _input(text: str, problem: Problem, strict: Missed) -> Extraction:
    again = answers.read(text, problem)
    if isinstance(again, Found):
        return again
    said = claims.claims(text, problem)
    if said:
        best = [c for c in said if c.exact] or [c for c in said if c.asserted] or said
        return best[-1].found
    if arguments := claims.as_arguments(text, problem):
        return arguments
    if answer := phrases.last(text, problem):
        return answer.found
    paragraph = re.split(r"\n[ \t]*\n|\n(?=#|[A-Z][a-z]+ )", text, maxsplit=1)[0]
    if paragraph != text:
        return read(paragraph, problem)
    if "??" in text:
        return Missed("no_answer", "the question again", strict.text)
    return Missed("unreadable", strict.reason, strict.text)
