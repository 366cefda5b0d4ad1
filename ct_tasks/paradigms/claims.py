"""What a text says about the asked call: ``assert f(3) == 6, 'msg'``, ``6 == f(3)``, ``f(3) -> 6``, ``f(3) returns `6` `` and,
where arguments are asked for, the calls that it names. Read from characters and syntax trees; nothing is executed."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache

from ct_tasks.contra import literals
from ct_tasks.contra.literals import LiteralError
from ct_tasks.paradigms import answers, pieces, returns
from ct_tasks.paradigms.base import Problem
from ct_tasks.paradigms.extraction import Extraction, Found, Missed

_MAKERS = frozenset(("range", "list", "set", "tuple", "dict", "str", "int", "float", "bytes", "frozenset", "chr"))
MAX_CLAIMS = 64  # the last ones; a text that says more is not read further back
_KINDS = r"(?:value|list|string|tuple|pair|dictionary|dict|integer|number|boolean|set|result|output|following)"
_RELATION = re.compile(
    r"[`*)]{0,4}\s{0,8}(?:,?\s?which\s|,?\s?it\s|,?\s?this\s|,?\s?and\sit\s)?"
    r"(?:(?:will|would|should|must|also|actually|now|indeed)\s+){0,2}"
    r"(?:(?P<eq>===?)|=>|->|→|⇒|➜|=|:|#\s*(?:(?:output|outputs|returns?|prints?|expected|result|should be|should return)\s*:?)?"
    r"|(?:is\s+)?equal(?:s)?(?:\s+to)?|evaluates?\s+to|results?\s+(?:in|to)|(?:is|are|be)|returns?"
    r"|gives?|produces?|outputs?|yields?|becomes)"
    rf"(?:\s+(?:a|an|the)?\s?(?:new\s|empty\s|final\s|expected\s)?{_KINDS}(?:\s+of)?(?:\s+is)?)?"
    r"\s{0,4}:?\s{0,4}(?:```\w*\n)?[`*]{0,3}",
    re.IGNORECASE,
)
_BAD_BEFORE = re.compile(
    r"(?:\b(?:not|or|if|elif|while|whether|assume|suppose|lambda)|[=!<>%/&|^]|\w\s?[-+*]|\w\((?:[^()\n]{0,200},)?)\s*[`(]?$",
    re.IGNORECASE,
)
_ASSERT = re.compile(r"\bassert\b[\s(`]*$")
_REVERSED = re.compile(r"(?P<left>.+?)\s*==\s*$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement about the entry function. ``exact``: about the asked call (on the input side: about the asked value).
    ``asserted``: written as an assertion or an equation. ``alone``: on a line of its own that is complete."""

    at: int
    end: int
    found: Extraction
    exact: bool
    asserted: bool
    alone: bool


def claims(text: str, problem: Problem) -> list[Claim]:
    """The last statements about calls of the entry function, in order."""
    starts = [m.start() for m in _calls(problem.entry).finditer(text)][-MAX_CLAIMS:]
    read = _output_claim if problem.side == "output" else _input_claim
    found = []
    for start in starts:
        if text[max(0, start - 4) : start] == "def ":
            continue
        opening = text.index("(", start)
        end = pieces.bracket_end(text, opening)
        if end is not None and (claim := read(text, start, end, problem)) is not None:
            found.append(claim)
    return found


@lru_cache(maxsize=1024)
def _calls(entry: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.]){re.escape(entry)} ?\(")


def _output_claim(text: str, start: int, end: int, problem: Problem) -> Claim | None:
    line = text.rfind("\n", 0, start) + 1
    before = text[max(line, start - 400) : start]
    asserted = bool(_ASSERT.search(before))
    exact = same_call(text[start:end], problem)
    relation = _RELATION.match(text, end)
    if relation is None or relation.end() == end:
        return _reversed(text, line, start, end, exact)
    if _BAD_BEFORE.search(before) and not asserted and not before.rstrip().endswith("print("):
        return None
    at = relation.end()
    equation = asserted or relation["eq"] is not None
    if not exact and not asserted:
        return None  # a step on the way: f(2) == 4
    if equation and re.search(r"\band\s*$", before):
        return None  # a part of another assertion
    value = pieces.literal_at(text, at)
    if value is None:
        return _no_literal(text, start, at, problem, exact) if equation else None
    stop, answer = value
    if pieces.goes_on(text, stop, code=equation):
        if not equation:
            return None
        expression = Missed("unreadable", "the asserted value is an expression", text[at : at + 200])
        return Claim(start, stop, expression, exact, True, False)
    rest = text[stop : text.find("\n", stop) if "\n" in text[stop:] else len(text)]
    alone = asserted and "\n" in text[stop:]
    return Claim(start, stop + len(rest), answer, exact, equation, alone)


def _no_literal(text: str, start: int, at: int, problem: Problem, exact: bool) -> Claim | None:
    newline = text.find("\n", at)
    rest = text[at : newline if newline >= 0 else len(text)]
    if rest.lstrip("[('\"`_ ").startswith(("??", "...", "…", "<")) or not rest.strip(" `_"):
        return None  # the question again
    word = pieces.unquoted(pieces.clean(rest), problem)
    answer: Extraction = word or Missed("unreadable", "the asserted value is no literal", rest[:200])
    return Claim(start, at + len(rest), answer, exact, True, newline >= 0)


def _reversed(text: str, line: int, start: int, end: int, exact: bool) -> Claim | None:
    """``6 == f(3)``."""
    match = _REVERSED.fullmatch(text[line:start])
    if match is None or pieces.goes_on(text, end, code=True):
        return None
    left = re.split(r"\bassert\b|`", match["left"])[-1].strip()
    words = re.split(r"\b(?:so|that|have|is):? ", left)[-1]
    answer = pieces.whole(left) or pieces.whole(left.lstrip("-*> \t(")) or pieces.whole(words)
    return Claim(start, end, answer, exact, True, "\n" in text[end:]) if answer else None


def _input_claim(text: str, start: int, end: int, problem: Problem) -> Claim | None:
    written = text[start:end]
    try:
        node = literals.parse_node(written)
    except LiteralError:
        return None
    if not isinstance(node, ast.Call):
        return None
    inner = [n for part in (*node.args, *node.keywords) for n in ast.walk(part)]
    if any(isinstance(n, ast.Constant) and n.value is ... for n in inner):
        return None
    used = {n.id for n in inner if isinstance(n, ast.Name)}
    line = text.rfind("\n", 0, start) + 1
    before = text[max(line, start - 400) : start]
    asserted = bool(_ASSERT.search(before))
    if asserted:
        used -= _MAKERS
    relation = re.compile(r"[`*)]{0,3}\s*==\s*[`*]{0,2}").match(text, end)
    if used & (returns.names(problem.code) | {"input", "args", "x", "arg"}) or (used and not asserted):
        return None  # a line of the program, or a call of its own variables
    exact, stop = False, end
    if relation is not None:
        value = pieces.literal_at(text, relation.end())
        if value is not None:
            stop = value[0]
            exact = literals.same(value[1].value, _asked(problem.output))
    elif pieces.goes_on(text, end, code=asserted):
        return None
    newline = text.find("\n", stop)
    complete = newline >= 0 or relation is not None  # the call is, however its value goes on
    return Claim(start, stop, Found(written), exact, asserted or exact, asserted and complete)


@lru_cache(maxsize=4096)
def _asked(output: str) -> object:
    try:
        return literals.parse(output)
    except LiteralError:
        return object()


def same_call(written: str, problem: Problem) -> bool:
    """Whether two calls pass the same arguments, however they are spelled."""
    if written == problem.call:
        return True
    asked = _normal(problem.call, problem.code, problem.entry)
    return asked is not None and _normal(written, problem.code, problem.entry) == asked


@lru_cache(maxsize=8192)
def _normal(written: str, code: str, entry: str) -> str | None:
    try:
        node = literals.parse_node(written)
    except LiteralError:
        return None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    names = returns.parameters(code, entry)
    given = {**dict(zip(names, node.args, strict=False)), **{k.arg or "**": k.value for k in node.keywords}}
    if len(node.args) > len(names):
        return ast.dump(node)
    return repr(sorted((name, ast.dump(value)) for name, value in given.items()))


def about_asked(text: str, statement: ast.Assert, problem: Problem) -> bool:
    """Whether an assertion compares the asked call, with its arguments, with something."""
    match statement.test:
        case ast.Compare(left=ast.Call() as call, ops=[ast.Eq()]) | ast.Compare(ops=[ast.Eq()], comparators=[ast.Call() as call]):
            return same_call(literals.segment(text, call), problem)
    return False


def as_arguments(text: str, problem: Problem) -> Found | None:
    """Arguments written without their call: ``1, 'a'``, ``(1, 'a') == 2``, ``x=1, y='a'``, or one assignment a line."""
    asserted = text.strip().startswith("assert ")
    text = text.strip().removeprefix("assert ").strip()
    names = returns.parameters(problem.code, problem.entry)
    try:
        body = ast.parse(text).body if _safe(text) else []
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        body = []
    if body and all(isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name) for s in body):
        pairs = [(s.targets[0].id, literals.segment(text, s.value)) for s in body]  # type: ignore[attr-defined]
        if {name for name, _ in pairs} <= set(names):
            return _call(problem, ", ".join(f"{name}={value}" for name, value in pairs))
        return None
    if len(body) == 1 and isinstance(body[0], ast.Expr):
        node = body[0].value
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
            if asserted and not isinstance(node.left, ast.Tuple):
                return None  # a statement about values, not about the call
            text, node = literals.segment(text, node.left), node.left
        if isinstance(node, ast.Tuple) and text.startswith("(") and len(node.elts) == len(names) > 1:
            return _call(problem, ", ".join(literals.segment(text, e) for e in node.elts))
        return _call(problem, text)
    if re.match(r"\w+\s*=", text):
        return _call(problem, text)
    return None


def _safe(text: str) -> bool:
    try:
        literals.guard(text)
    except LiteralError:
        return False
    return True


def _call(problem: Problem, arguments: str) -> Found | None:
    written = f"{problem.entry}({arguments})"
    try:
        node = literals.parse_node(written)
    except LiteralError:
        return None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    values = [*node.args, *(k.value for k in node.keywords)]
    try:
        for value in values:
            answers.value(value)
    except LiteralError:
        return None
    return Found(written)
