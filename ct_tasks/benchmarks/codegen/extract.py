"""The program in a reply: the block that defines the entry point, its definitions only.

Replies come as chat (prose with fenced blocks), as a continuation of the prompt (base models), or as plain code. A fence's
language tag counts only when a newline follows it, a fence without its partner ends or begins a block, and what follows
the definitions (example calls, prints, asserts, a ``__main__`` part) is left out, because it is not what is asked for.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from dataclasses import dataclass

from ct_tasks.benchmarks.math.extract import after_thinking

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*(.*)$")
_TAG = re.compile(r"[A-Za-z0-9_+#.{}=-]*")
_START = re.compile(r"^(?:from\s+\S+\s+import\b|import\s+\w|def\s+\w|async\s+def\s+\w|class\s+\w|@\w)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Program:
    """``source`` is ``None`` when the reply holds no program, or (``truncated``) ends before there could be one."""

    source: str | None
    truncated: bool = False


def blocks(text: str) -> list[str]:
    """Contents of the fenced blocks. Text before an unmatched closing fence is a block, as is text after an opening one."""
    lines = text.split("\n")
    marks = [i for i, line in enumerate(lines) if _FENCE.match(line)]
    found: list[str] = []
    current: list[str] | None = None
    for i, line in enumerate(lines):
        match = _FENCE.match(line)
        inline_end = re.search(r"^(.*\S)[ \t]*`{3,}[ \t]*$", line) if match is None and current is not None else None
        if inline_end and current is not None:  # code and closing fence on one line
            found.append("\n".join([*current, inline_end.group(1)]))
            current = None
        elif match is None:
            if current is not None:
                current.append(line)
        elif current is not None:
            found.append("\n".join(current))
            current = None
        elif i == marks[0] and not match.group(2) and _looks_like_code("\n".join(lines[:i])) and len(marks) % 2:
            found.append("\n".join(lines[:i]))  # the prompt opened the fence, the reply closes it
        else:
            rest = match.group(2)
            if rest.rstrip().endswith(match.group(1)):  # opened and closed on one line
                found.append(rest.rstrip().removesuffix(match.group(1)))
                continue
            tagged = _TAG.fullmatch(rest.strip()) is not None or rest.strip().split(" ")[0].lower() in ("python", "py")
            current = [] if tagged else [rest]
    if current is not None:
        found.append("\n".join(current))
    return found


def _looks_like_code(text: str) -> bool:
    return bool(_START.search(text)) or text[:1] in (" ", "\t")


def tree_of(source: str) -> ast.Module:
    """``ast.parse`` without the warnings about odd escapes, which say nothing to a user about a benchmark's text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def parses(source: str) -> ast.Module | None:
    """The syntax tree, or ``None``."""
    try:
        return tree_of(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def defines(source: str, entry: str) -> bool:
    """Whether the source defines the name at its top level (by text where it does not parse)."""
    tree = parses(source)
    if tree is None:
        return re.search(rf"^(?:async\s+)?(?:def|class)\s+{re.escape(entry)}\b|^{re.escape(entry)}\s*=", source, re.MULTILINE) is not None
    return any(entry in _bound(node) for node in tree.body)


def _bound(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, ast.Assign):
        return {n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return {node.target.id}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return set()


def longest_program(source: str, entry: str) -> str:
    """The longest run of leading lines that parses and defines the entry point; the source itself if none does."""
    if parses(source) is not None:
        return source
    lines = source.split("\n")
    # A syntax error names its line; what parses ends before it, at most a statement earlier.
    for end in range(len(lines) - 1, 0, -1):
        if (lines[end].strip() and not lines[end][:1].isspace()) or end == len(lines) - 1:
            head = "\n".join(lines[:end])
            if parses(head) is not None:
                return head if defines(head, entry) else source
    return source


def definitions(source: str, entry: str) -> str:
    """The source without its top-level actions: imports, definitions and the constants they use stay."""
    tree = parses(source)
    if tree is None:
        return source
    lines = source.split("\n")
    for node in reversed(tree.body):
        if not _keeps(node, entry):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
            alone = not lines[first][: node.col_offset].strip() and not lines[(node.end_lineno or node.lineno) - 1][
                node.end_col_offset:].strip(" \t;")
            if alone:
                del lines[first:node.end_lineno]
    return "\n".join(lines)


def _keeps(node: ast.stmt, entry: str) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
        return True
    calls = {n.func.id for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    if calls & {entry, "print", "input", "check"} or isinstance(node, ast.Assert):
        return False
    if isinstance(node, ast.Expr):
        return "setrecursionlimit" in ast.dump(node) or isinstance(node.value, ast.Constant)
    return not (isinstance(node, ast.If) and "__main__" in ast.dump(node.test))


def find_program(text: str, entry: str, *, prompt: str = "", truncated: bool | None = None) -> Program:
    """The program that defines ``entry`` in a reply.

    ``prompt`` is the code that a base model continues (HumanEval's function head): a reply that does not define the entry
    point is taken as its continuation where that parses.
    """
    reply = after_thinking(text)
    if reply is None:
        return Program(None, truncated=True)
    fenced = blocks(reply)
    for block in reversed(fenced):
        body = textwrap.dedent(block) if not defines(block, entry) else block
        if defines(body, entry):
            return Program(definitions(longest_program(body, entry), entry))
    if prompt:
        for body in (*reversed(fenced), reply):
            for variant in dict.fromkeys((body, "    " + body.lstrip() if body.lstrip()[:1] not in ("#", "") else body)):
                whole = prompt + ("" if prompt.endswith("\n") or variant.startswith("\n") else "\n") + variant.rstrip() + "\n"
                if not variant.strip() or not (variant[:1] in (" ", "\t", "\n") or variant.lstrip()[:1] in (" ", "\t")):
                    continue
                source = longest_program(whole, entry)
                tree = parses(source)
                if tree is not None and len(source) > len(prompt.rstrip()) and _has_body(tree, entry):
                    return Program(definitions(source, entry))
    if not fenced or defines(reply, entry):
        start = _START.search(reply)
        if start and defines(reply[start.start():], entry):
            return Program(definitions(longest_program(reply[start.start():], entry), entry))
    return Program(None, truncated=bool(truncated))


def _has_body(tree: ast.Module, entry: str) -> bool:
    """Whether the entry function does anything beyond its docstring: the prompt alone is no program."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == entry:
            body = node.body
            if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
                body = body[1:]
            return bool(body)
    return False


def find_script(text: str, *, truncated: bool | None = None) -> Program:
    """A whole script (standard input to standard output): the last fenced block, else the reply from its first code line."""
    reply = after_thinking(text)
    if reply is None:
        return Program(None, truncated=True)
    fenced = [block for block in blocks(reply) if block.strip()]
    if fenced:
        parsing = [block for block in fenced if parses(block) is not None]
        return Program((parsing or fenced)[-1])
    start = re.search(r"^(?:from\s+\S+\s+import\b|import\s+\w|def\s+\w|class\s+\w|@\w|[A-Za-z_][\w, ]*\s*=|print\s*\(|for\s|while\s|if\s)",
                      reply, re.MULTILINE)
    if start is None or parses(reply[start.start():]) is None:
        return Program(None, truncated=bool(truncated))
    return Program(reply[start.start():])
