"""Is an answer nothing but a value? A check by characters and words, before it may become part of a program.

The answer is put into an assertion and run, so whatever the language allows there would count: leaving with exit code 0,
``6 || true``, a comment that hides the comparison, a call of the function itself. A value needs none of that: it is made
of literals, brackets, commas and the names of constructors. Which names those are is taken from the benchmark's own
answers in that language, and a short list beside them. Everything else is refused, whatever it would do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ct_tasks.execution.languages.base import Language

MAX_TEXT = 20_000
_WORD = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"\d[\w.]*")
_PLAIN = frozenset(" \t()[]{}<>,.:+-_=#!&%@")
_PAIRS = {")": "(", "]": "[", "}": "{"}
# Text inside these quotes may hold code: string interpolation.
_INTERPOLATION = {
    "php": ('"', ("$",)), "pl": ('"', ("$", "@")), "rb": ('"', ("#{", "#$", "#@")), "swift": ('"', ("\\(",)), "jl": ('"', ("$",)),
    "js": ("`", ("${",)), "ts": ("`", ("${",)), "sh": ('"', ("$", "`")),
}  # fmt: skip
# Operators that compute or compare: never part of a value, even if some answer of the benchmark were to hold one.
_COMPUTE = frozenset({"||", "&&", "|", "==", "!=", "===", "!==", "=~", "?", "??", "?:", ";", "*", "**", "/", "//", ":=", "<=>", "^", "~"})
_ALWAYS = frozenset({",", "-", "+", ".", ":"})
NEVER = frozenset(
    {"f", "F", "candidate", "exit", "quit", "System", "os", "process", "require", "import", "eval", "assert"}
)


def words_of(texts: Iterable[str], language: Language) -> frozenset[str]:
    """Every name and operator that stands outside strings in ``texts``, and the language's own list; never the function
    under test, and never an operator that computes."""
    found = {*language.words, *_ALWAYS}
    for text in texts:
        found.update(token for kind, token in _tokens(text, language) if kind in ("word", "operators"))
    never = NEVER - {"f"} if language.name == "rkt" else NEVER
    return frozenset(found) - never - _COMPUTE


def objection(text: str, language: Language, words: frozenset[str], *, arguments: bool = False) -> str:
    """Why ``text`` is not just a value (with ``arguments``: not just the values of a call, of which there may be none);
    empty when it is."""
    text = text.strip()
    if not text:
        return "" if arguments else "it is empty"
    if len(text) > MAX_TEXT:
        return f"it has {len(text)} characters; the limit is {MAX_TEXT}"
    if language.name == "sh":
        return _shell(text, several=arguments)
    stack: list[str] = []
    for kind, token in _tokens(text, language):
        if kind == "comment":
            return "it holds a comment"
        if kind == "open string":
            return "a quote is never closed"
        if kind == "code in string":
            return "a string in it holds code"
        if kind == "word" and token not in words:
            return f"it uses the name {token[:40]}, which no value needs"
        if kind == "bracket":
            if token in "([{":
                stack.append(token)
            elif not stack or stack.pop() != _PAIRS[token]:
                return "its brackets do not match"
        if kind == "newline" and not stack:
            return "it goes over the end of the line"
        if kind == "operators" and token not in words:
            return f"it holds the operator {token[:10]}"
        if kind == "other":
            return f"it holds the character {token!r}, which no value needs"
    return "its brackets do not match" if stack else ""


def _tokens(text: str, language: Language) -> Iterable[tuple[str, str]]:
    at, size = 0, len(text)
    raw_quote, marks = _INTERPOLATION.get(language.name, ("", ()))
    while at < size:
        char = text[at]
        if any(text.startswith(c, at) for c in language.comments):
            yield "comment", char
            return
        if char in language.quotes and not (language.name == "rs" and char == "'"):
            end = _string_end(text, at, char)
            if end < 0:
                yield "open string", char
                return
            inside = text[at + 1 : end]
            if char == raw_quote and any(_unescaped(inside, mark) for mark in marks):
                yield "code in string", char
            yield "string", char
            at = end + 1
        elif match := _NUMBER.match(text, at):
            yield "number", match[0]
            at = match.end()
        elif match := _WORD.match(text, at):
            yield "word", match[0]
            at = match.end()
        elif char in "()[]{}":
            yield "bracket", char
            at += 1
        elif char == "\n":
            yield "newline", char
            at += 1
        elif char == "'" and language.name == "rs":  # a character literal; Rust has no other use for it in a value
            end = text.find("'", at + 2)
            yield ("string", char) if 0 < end <= at + 12 else ("open string", char)
            at = end + 1 if end > 0 else size
        elif char == "'" and language.name == "rkt":  # a quote before a datum
            yield "quote", char
            at += 1
        elif char in _PLAIN:
            if char in " \t":
                at += 1
                continue
            begin = at
            while at < size and text[at] in _PLAIN and text[at] not in " \t()[]{}":
                at += 1
            yield "operators", text[begin:at]
        else:
            yield "other", char
            at += 1


def _string_end(text: str, at: int, quote: str) -> int:
    position = at + 1
    while position < len(text):
        if text[position] == "\\":
            position += 2
            continue
        if text[position] == quote:
            return position
        position += 1
    return -1


def _unescaped(inside: str, mark: str) -> bool:
    if mark.startswith("\\"):
        return mark in inside
    at = inside.find(mark)
    while at >= 0:
        slashes = len(inside[:at]) - len(inside[:at].rstrip("\\"))
        if slashes % 2 == 0:
            return True
        at = inside.find(mark, at + 1)
    return False


_BARE = re.compile(r"[\w.,:/+=@%^-]+", re.ASCII)


def _shell(text: str, *, several: bool) -> str:
    """One shell word, or several: quoted parts and plain characters; no expansion, no pattern, no operator."""
    at = 0
    while at < len(text):
        char = text[at]
        if char in "\"'" or text.startswith("$'", at):
            quote = char if char != "$" else "'"
            start = at if char != "$" else at + 1
            end = _string_end(text, start, quote) if (quote == '"' or char == "$") else text.find("'", start + 1)
            if end < 0:
                return "a quote is never closed"
            if quote == '"' and any(_unescaped(text[start + 1 : end], mark) for mark in ("$", "`")):
                return "a string in it holds code"
            at = end + 1
        elif match := _BARE.match(text, at):
            at = match.end()
        elif several and char in " \t":
            at += 1
        else:
            return f"it holds the character {char!r}, which a single shell word does not"
    return ""
