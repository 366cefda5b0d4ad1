"""The program in a reply: chosen among its pieces of code by what a piece is, not by where it stands.

A piece that defines the entry point goes before one that only shows its head (``pass``, ``...``), and that before one that
imports it; a script that reads and prints goes before examples of its use and before sample data. Among pieces of one kind
the last word counts, except that an excerpt of an earlier piece is only an explanation of it. What the chosen piece needs
and another one has (helpers, imports, constants) is brought along, from the prompt's own code too; actions of a function
problem (example calls, prints, asserts, a ``__main__`` part) are left out unless the definitions need them.

Strict reading: fenced blocks, plain code, a continuation of the prompt. ``flexible`` adds what a careful person also
reads where there is nothing of that: an interactive session, code in backticks, a method without its class.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ct_tasks.benchmarks.codegen.blocks import Block, fenced, inline, plain_runs, transcript
from ct_tasks.benchmarks.codegen.source import (
    Code,
    completed,
    definition,
    is_elided,
    is_stub,
    kept,
    mentions,
    readable,
)
from ct_tasks.benchmarks.math.extract import after_thinking
from ct_tasks.score import Status

MAX_CODE: Final = 500_000  # characters of code that are looked at, from the end of a reply
MAX_PIECES: Final = 50  # pieces of each kind, likewise
_READS: Final = frozenset(("input", "stdin", "open", "fileinput", "read", "raw_input"))
_CODE_LINE: Final = re.compile(r"^\s*(?:import|from|def|class|print|for|while|if)\b", re.MULTILINE)
_PRINTS: Final = frozenset(("print", "stdout", "write", "writelines"))


@dataclass(frozen=True, slots=True)
class Program:
    """``source`` is ``None`` where the reply holds no program; ``missing`` then says what is there instead. ``cut``: the
    program ends where a reply ends that the length limit is known to have cut."""

    source: str | None
    missing: Status = "no_answer"
    cut: bool = False


@dataclass(frozen=True, slots=True)
class _Piece:
    """A candidate: what it is (the higher, the better), its text, and whether something ends it."""

    rank: int
    source: Code
    closed: bool


def find_program(text: str, entry: str, *, prompt: str = "", truncated: bool | None = None, thinking: bool = False,
                 flexible: bool = False) -> Program:
    """The program that defines ``entry`` (``f`` or ``Class.method``) in a reply.

    ``prompt`` is the code that a base model continues (HumanEval's function head): a reply that does not define the entry
    point is taken as its continuation where that parses.
    """
    reply = after_thinking(text.replace("\r\n", "\n"), thinking=thinking)
    if reply is None:
        return Program(None, "truncated" if truncated else "unclosed")
    blocks, outside = fenced(reply)
    blocks = _latest(blocks)
    pieces = [_function(block, entry) for block in blocks]
    best = _last_of(pieces, 2)
    if best is None and prompt and (whole := _continued(prompt, [b.text for b in blocks[:-10:-1]], reply, entry)):
        return Program(_made(whole, entry, pieces, prompt), cut=bool(truncated) and _at_end(whole, entry))
    if best is None:
        runs = _latest(plain_runs(outside))
        pieces += [_function(run, entry) for run in runs]
        best = _last_of(pieces, 0)
    if best is None and flexible:
        typed = [Block(t) for t in (*(transcript(b.text) for b in blocks), transcript(outside)) if t]
        pieces += [_function(block, entry) for block in (*_latest(inline(outside)), *typed)]
        best = _last_of(pieces, 2) or _without_class(pieces, entry)
    if best is None:
        return Program(None, _missing(blocks, pieces, truncated))
    cut = bool(truncated) and not best.closed and _at_end(best.source, entry)
    return Program(_made(best.source, entry, pieces, prompt), cut=cut)


def find_script(text: str, *, truncated: bool | None = None, thinking: bool = False, flexible: bool = False) -> Program:
    """A whole script, from standard input to standard output."""
    reply = after_thinking(text.replace("\r\n", "\n"), thinking=thinking)
    if reply is None:
        return Program(None, "truncated" if truncated else "unclosed")
    blocks, outside = fenced(reply)
    blocks = _latest(blocks)
    groups: list[list[Block]] = [blocks, _latest(plain_runs(outside))]
    if flexible:
        groups.append([*_latest(inline(outside)), *(Block(t) for t in (*(transcript(b.text) for b in blocks), transcript(outside)) if t)])
    seen: list[_Piece] = []
    best = None
    for n, group in enumerate(groups):
        sources = [readable(block.text) for block in group]
        seen += [_script(block, source, [p.source for p in seen] + [s for s in sources if s is not source])
                 for block, source in zip(group, sources, strict=True)]
        best = _last_of(seen, 3) or (_last_of(seen, 1) if n or group else None)
        if best is not None:
            break
    if best is None:
        return Program(None, _missing(blocks, seen, truncated))
    return Program(completed(best.source, [p.source for p in seen if p is not best]), cut=bool(truncated) and not best.closed)


def _latest(blocks: Sequence[Block]) -> list[Block]:
    """The blocks at the end of a reply: at most ``MAX_PIECES`` of ``MAX_CODE`` characters together, but at least one."""
    kept_blocks: list[Block] = []
    room = MAX_CODE
    for block in reversed(blocks):
        room -= len(block.text)
        if (room < 0 and kept_blocks) or len(kept_blocks) == MAX_PIECES:
            break
        if block.text.strip():
            kept_blocks.append(block)
    return kept_blocks[::-1]


def _function(block: Block, entry: str) -> _Piece:
    """3: it defines the entry point. 2: it would, but does not parse. 1: a head without its body, or with parts left out.
    0: it imports it. -1: neither."""
    source = readable(block.text, entry)
    if source.tree is None:
        words = mentions(block.text, entry) and block.python
        return _Piece(2 if words else -1, source, block.closed)
    found = definition(source, entry)
    if found is None or (isinstance(found, ast.ClassDef) and not found.body):
        return _Piece(-1, source, block.closed)
    if isinstance(found, (ast.Import, ast.ImportFrom)):
        return _Piece(0, source, block.closed)
    return _Piece(1 if is_stub(found) or is_elided(source, found) else 3, source, block.closed)


def _script(block: Block, source: Code, others: Sequence[Code]) -> _Piece:
    """5: it reads and prints. 4: it prints. 3: other code with both. 2: other code. 1: code that does not parse. 0: data."""
    if source.tree is None:
        return _Piece(int(block.python and (bool(block.tag) or _CODE_LINE.search(block.text) is not None)), source, block.closed)
    if all(_is_data(s.node) for s in source.statements):
        return _Piece(0, source, block.closed)
    whole = Code(completed(source, others)) if source.missing else source
    words = _words(whole)
    doing = whole.bound | _PRINTS | _READS
    acts = any(s.needs & doing for s in source.statements if not s.defines and not _is_data(s.node))
    reads, prints = bool(words & _READS) and "StringIO" not in words, bool(words & _PRINTS)
    if whole.missing and not reads and not any(_stars(s.node) for s in whole.statements):
        rank = 2  # an example of its use
    elif acts and prints:
        rank = 5 if reads else 4
    else:
        rank = 3 if reads and prints else 2
    return _Piece(rank, source, block.closed)


def _is_data(node: ast.stmt) -> bool:
    """``42``, ``Yes``, ``1, 2``, ``[1, 2]``, ``n: 3``: what sample data looks like when it happens to parse."""
    if isinstance(node, ast.AnnAssign):
        return node.value is None
    return isinstance(node, ast.Expr) and not any(isinstance(n, (ast.Call, ast.Await, ast.Yield, ast.comprehension)) for n in ast.walk(node))


def _stars(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)


def _words(source: Code) -> set[str]:
    """The names and attributes that a piece uses."""
    if source.tree is None:
        return set()
    return {n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(source.tree) if isinstance(n, (ast.Name, ast.Attribute))} | {
        alias.name for n in ast.walk(source.tree) if isinstance(n, (ast.Import, ast.ImportFrom)) for alias in n.names}


def _last_of(pieces: Sequence[_Piece], least: int) -> _Piece | None:
    """The last piece of the best kind, unless it is an excerpt of an earlier one of that kind: then that one."""
    rank = max((piece.rank for piece in pieces), default=-1)
    if rank < least:
        return None
    best = [piece for piece in pieces if piece.rank == rank]
    last, code = best[-1], _code_lines(best[-1].source)
    for piece in best[-2::-1]:
        other = _code_lines(piece.source)
        if len(other) > len(code) and f"\n{code}\n" in f"\n{other}\n":
            last, code = piece, other
    return last


def _code_lines(source: Code) -> str:
    """The lines that are neither blank nor comments, unindented."""
    stripped = (line.partition("  #")[0].strip() for line in source.lines)
    return "\n".join(line for line in stripped if line and not line.startswith("#"))


def _made(source: Code, entry: str, pieces: Sequence[_Piece], prompt: str) -> str:
    """The program of a chosen piece: its definitions, and what they lack from other pieces and from the prompt."""
    if source.tree is None:
        return source.text
    others = [readable(prompt)] if prompt else []
    others += [p.source for p in pieces if p.source is not source and p.source.tree is not None]
    return completed(Code(kept(source, entry)), others)


def _at_end(source: Code, entry: str) -> bool:
    """Whether nothing stands below the definition of the entry point, so that it may be unfinished."""
    found = definition(source, entry)
    end = getattr(found, "end_lineno", None) or 0
    return not any(line.strip() and not line[:1].isspace() for line in (*source.lines[end:], *source.dropped))


def _continued(prompt: str, blocks: Sequence[str], reply: str, entry: str) -> Code | None:
    """The prompt with the first of these texts that continues it as a function's body."""
    for body in (*blocks, reply):
        head = body.lstrip()[:1]
        if not head or len(body) > MAX_CODE:
            continue
        for variant in dict.fromkeys((body, "    " + body.lstrip() if head != "#" else body)):
            if variant[:1] not in (" ", "\t", "\n") or (variant[:1] == "\n" and variant.lstrip("\n")[:1] not in (" ", "\t")):
                continue
            source = readable(prompt + ("" if prompt.endswith("\n") or variant.startswith("\n") else "\n") + variant.rstrip() + "\n", entry)
            found = definition(source, entry)
            if found is not None and source.tree is not None and len(source.text) > len(prompt.rstrip()) and not is_stub(found):
                return source
    return None


def _without_class(pieces: Sequence[_Piece], entry: str) -> _Piece | None:
    """A method that stands outside of its class, or a plain function of its name, put into the class."""
    name, _, method = entry.partition(".")
    if not method:
        return None
    for piece in reversed(pieces):
        found = definition(piece.source, method)
        if isinstance(found, ast.FunctionDef) and not is_stub(found):
            first = found.args.args[0].arg if found.args.args else ""
            value = method if first == "self" else f"staticmethod({method})"
            return _Piece(3, Code(f"{piece.source.text}\n\nclass {name}:\n    pass\n\n{name}.{method} = {value}"), piece.closed)
    return None


def _missing(blocks: Sequence[Block], pieces: Sequence[_Piece], truncated: bool | None) -> Status:
    """Why there is no program: cut before it, code of another kind, or nothing."""
    if truncated:
        return "truncated"
    if any(block.text.strip() for block in blocks) or any(_defines(piece.source) for piece in pieces):
        return "unreadable"
    return "no_answer"


def _defines(source: Code) -> bool:
    return any(isinstance(s.node, (ast.FunctionDef, ast.ClassDef)) for s in source.statements)
