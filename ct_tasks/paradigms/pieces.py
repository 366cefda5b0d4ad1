"""Small readers for loosely written text: where a literal or a bracket ends, what stands around a value, which words are none.

Everything here looks at characters or at a syntax tree; nothing is executed, and every loop is bounded.
"""

from __future__ import annotations

import ast
import re

from ct_tasks.contra import literals
from ct_tasks.contra.literals import LiteralError
from ct_tasks.paradigms import answers, returns
from ct_tasks.paradigms.base import Problem
from ct_tasks.paradigms.extraction import Found

MAX_VALUE = 20_000  # characters of one value in running text
_STRING = r"(?:[rRbBuU]{1,2})?(?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")"
_AT_STRING = re.compile(_STRING, re.DOTALL)
_BRACKET = re.compile(_STRING + r"|(?P<open>[\[({])|(?P<close>[\])}])", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+)j?(?![\w])")
_WORD = re.compile(r"(?:True|False|None)\b(?![\w(\[]|\.\w)")
_MADE = re.compile(r"(?:set|frozenset|dict|float|deque|Counter|OrderedDict|defaultdict)?(?=[\[({])")
_WRAPPED = re.compile(r"(\*\*|\*|__|\$\$|\$)(?P<inside>.+)\1", re.DOTALL)
_TEX = re.compile(r"\\(?:\(|\[)\s*(?P<inside>.+?)\s*\\(?:\)|\])|\\(?:boxed|text|texttt|mathtt)\{(?P<braced>.*)\}", re.DOTALL)
# What may not follow a value in running text: it would be an expression, or one of several answers.
_GOES_ON = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\u200b-\u200f\u202a-\u202e\ufeff\ud800-\udfff]|[(\[](?![/A-Z])"
    r"|\.[A-Za-z_]|[ \t]+(?:(?:True|False|None)\b|[\"'\d{]|\[(?![/A-Z]))"
    r"|[ \t]*(?:or\b|if\b|unless\b|otherwise\b|else\b|[+%&|^]|==|!=|<=|>=|[<>*/-][ \t]*\d|//?[ \t]*\w)"
)

_NO_TEXT = re.compile(r"[\"'`=]|\b(?:assert|return|the|is|The|It)\b|\.\w+\(|\)\s*$")


def literal_at(text: str, at: int) -> tuple[int, Found] | None:
    """The literal that begins at ``at``: where it ends, and its value; None where none begins there."""
    match = _NUMBER.match(text, at) or _WORD.match(text, at) or _AT_STRING.match(text, at, at + MAX_VALUE)
    if match is None:
        made = _MADE.match(text, at)
        end = bracket_end(text, made.end()) if made else None
    else:
        end = match.end()
    if end is None:
        return None
    written = text[at:end]
    try:
        return end, Found(written, answers.value(literals.parse_node(written)))
    except LiteralError:
        return None


def bracket_end(text: str, at: int) -> int | None:
    """Where the bracket that opens at ``at`` is closed (one past it); brackets inside strings do not count."""
    depth = 0
    for match in _BRACKET.finditer(text, at, at + MAX_VALUE):
        if match["open"]:
            depth += 1
        elif match["close"]:
            depth -= 1
            if depth <= 0:
                return match.end()
    return None


def goes_on(text: str, end: int, *, code: bool) -> bool:
    """Whether a value that ends at ``end`` is only the beginning of an expression or of a choice. ``code``: in an assertion
    ``and`` continues it too."""
    if text[end - 1 : end + 1] in ("''", '""', "'\"", "\"'"):
        return True
    return bool(_GOES_ON.match(text, end)) or (code and bool(re.match(r"[ \t]*(?:and|is|in|not)\b", text[end : end + 12])))


def clean(text: str) -> str:
    """Without what people put around an answer: a fence, backticks, bold, TeX, a stray backtick, a last ``;``."""
    for _ in range(6):
        before = text
        text = answers.unfence(text.strip())
        if text.startswith("`") != text.endswith("`") and text.count("`") == 1:
            text = text.strip("`")
        elif text[:2] == text[-2:] == "``" and "`" not in text[2:-2]:
            text = text[2:-2]
        if match := _WRAPPED.fullmatch(text):
            text = match["inside"]
        elif match := _TEX.fullmatch(text):
            text = match["inside"] or match["braced"] or ""
        text = text.removesuffix(";").removeprefix(">>> ").strip()
        if text.startswith(("** ", "**\n")):
            text = text[2:]
        if text.endswith((" **", "\n**")):
            text = text[:-2]
        if len(text) > 2 and text[0] == "“" and text[-1] == "”":
            text = f'"{text[1:-1]}"'
        if text == before:
            break
    return text


def whole(text: str) -> Found | None:
    """The text, as one literal and nothing else."""
    text = text.strip()
    try:
        return Found(text, answers.value(literals.parse_node(text)))
    except LiteralError:
        return None


def unquoted(text: str, problem: Problem) -> Found | None:
    """A string whose quotes were left out, or None.

    Where the program can return nothing but a string, a short text on one line that is no code counts; where its type
    cannot be known, only a single word that the program does not use as a name; where it returns no string, nothing.
    """
    kind = returns.kind(problem.code, problem.entry, problem.call)
    text = text.strip()
    if kind == "other" or not text or "\n" in text or len(text) > 200 or text[0] in "\"'`([{<#" or "??" in text:
        return None
    try:
        node = literals.parse_node(text)
    except LiteralError:
        if kind == "unknown" or len(text.split()) > 6 or _NO_TEXT.search(text):
            return None
        return Found(repr(text), text)
    if not isinstance(node, ast.Name) or node.id in returns.names(problem.code) or node.id in _NO_VALUE:
        return None
    return Found(repr(text), text)


_NO_VALUE = frozenset(
    ("true", "false", "null", "undefined", "nil", "Nil", "nan", "inf", "Error", "error", "exception", "Exception", "unknown",
     "Unknown", "value", "answer", "result", "output", "NotImplemented", "Ellipsis", "pass", "str", "int", "list", "dict",
     "bool", "float", "tuple", "set", "TypeError", "ValueError", "IndexError", "KeyError", "AttributeError", "and", "or")
)  # fmt: skip
