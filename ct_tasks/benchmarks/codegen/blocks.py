"""The pieces of code in a reply: fenced blocks, runs of plain code between prose, transcripts, code in backticks.

A fence's language tag counts only when a newline follows it. A fence closes at one of its own kind that is at least as
long and has no tag; one inside a triple-quoted string closes nothing; one without its partner ends or begins a block. All
of this takes time proportional to the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_FENCE = re.compile(r"^([ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?)(`{3,}|~{3,})[ \t]*(.*)$")
_TAG = re.compile(r"[A-Za-z0-9_+#.{}:=/-]*")
_START = re.compile(r"(?:from\s+\S+\s+import\b|import\s+\w|def\s+\w|async\s+def\s+\w|class\s+\w|@\w)")
_FIRST = re.compile("|".join((  # how a top-level line of plain code begins
    r"from[ \t]+\S+[ \t]+import\b",
    r"import[ \t]+[\w.]+[ \t]*(?:as\b|[,;#]|$)",
    r"(?:async[ \t]+)?def[ \t]+\w+[ \t]*[(\[]",
    r"class[ \t]+\w+[ \t]*[(:\[]",
    r"@\w",
    r"(?:if|for|while|with)\b.*:[ \t]*(?:#|$)",
    r"(?:if|for|while)\b[^:]*:[ \t]*\w+[.(=\[ ]",
    r"try[ \t]*:",
    r"[A-Za-z_][\w.\[\], \t'\"-]*(?::[^=\n]{1,60})?(?:[-+*/%&|^]|//|\*\*)?=(?!=)",
    r"\(?[A-Za-z_]\w*(?:[ \t]*,[ \t]*\w+)+\)?[ \t]*=(?!=)",
    r"print[ \t]*\(",
    r"[A-Za-z_][\w.]*\(.*\)[ \t]*(?:[#;]|$)",
)))
_NEXT = re.compile(r"(?:[ \t#)\]}]|$|(?:else|finally)[ \t]*:|(?:elif|except)\b.*:)")
_TOKEN = re.compile(r"'''|\"\"\"|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|#.*|[()\[\]{}]|\\.")
_PROMPT = re.compile(r"^[ \t]*(?:>>>|\.\.\.)(?: |$)")
_INLINE = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]+)\1(?!`)")
_PYTHON: Final = frozenset(("", "python", "py", "python3", "python2", "py3", "pycon", "ipython", "python-repl", "sage", "cython"))
_MARKDOWN: Final = frozenset(("markdown", "md", "text", "txt"))
_NESTING: Final = 3


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of code: its text, its language tag in lower case, and whether a fence (or prose) ends it."""

    text: str
    tag: str = ""
    closed: bool = True

    @property
    def python(self) -> bool:
        """Whether the tag names Python, or nothing."""
        return self.tag in _PYTHON


class _Strings:
    """Follows triple-quoted strings and brackets from line to line."""

    def __init__(self) -> None:
        self.quote = ""
        self.depth = 0

    def feed(self, line: str) -> None:
        at = 0
        while at < len(line):
            if self.quote:
                end = line.find(self.quote, at)
                while end > 0 and line[end - 1] == "\\":
                    end = line.find(self.quote, end + 1)
                if end < 0:
                    return
                at, self.quote = end + 3, ""
                continue
            match = _TOKEN.search(line, at)
            if match is None:
                return
            at, token = match.end(), match.group()
            if token in ("'''", '"""'):
                self.quote = token
            elif token in "([{":
                self.depth += 1
            elif token in ")]}":
                self.depth = max(0, self.depth - 1)


def fenced(text: str, nesting: int = _NESTING) -> tuple[list[Block], str]:
    """The fenced blocks of a text, in order, and the text outside of them (a blank line for each block)."""
    lines = text.split("\n")
    marks = [i for i, line in enumerate(lines) if _FENCE.match(line)]
    first, odd = (marks[0] if marks else -1), len(marks) % 2
    found: list[Block] = []
    outside: list[str] = []
    i = 0
    while i < len(lines):
        match = _FENCE.match(lines[i])
        if match is None:
            outside.append(lines[i])
            i += 1
            continue
        rest = match.group(3).rstrip()
        if i == first and odd and not rest and looks_like_code("\n".join(lines[:i])):
            found.append(Block("\n".join(lines[:i])))  # the prompt opened the fence, the reply closes it
            outside = [""]
            i += 1
            continue
        i, made = _block(lines, i, match, trust_strings=True) or _block(lines, i, match, trust_strings=False) or (i + 1, [])
        found.extend(made)
        outside.append("")
    return [inner for block in found for inner in _inner(block, nesting)], "\n".join(outside)


def _block(lines: list[str], start: int, opening: re.Match[str], *, trust_strings: bool) -> tuple[int, list[Block]] | None:
    """The block that opens at a line, and the index of the line after it. ``None`` when its last string never ends."""
    indent, fence, rest = opening.group(1), opening.group(2), opening.group(3).strip()
    if rest.endswith(fence):  # opened and closed on one line
        tag, code = _split_tag(rest.removesuffix(fence).strip(), inline=True)
        return start + 1, [Block(code, tag)]
    tag, code = _split_tag(rest)
    body = [code] if code else []
    strings, inner = _Strings(), 0
    blank = re.sub(r"\S", " ", indent)
    for i in range(start + 1, len(lines)):
        line = lines[i]
        match = None if trust_strings and strings.quote else _FENCE.match(line)
        if match is not None and match.group(2)[0] == fence[0]:
            longer, tagged = len(match.group(2)) >= len(fence), bool(match.group(3).strip())
            if tagged and longer:
                if tag not in _MARKDOWN:  # its partner is missing: the next block opens
                    return i, [Block("\n".join(body), tag, closed=False)]
                inner += 1
            elif not tagged and longer and inner:
                inner -= 1
            elif longer:
                return i + 1, [Block("\n".join(body), tag)]
        elif match is None and not (trust_strings and strings.quote) and line.rstrip().endswith(fence):
            return i + 1, [Block("\n".join([*body, line.rstrip().removesuffix(fence)]), tag)]
        body.append(line[len(blank):] if line.startswith(blank) else line)
        if trust_strings:
            strings.feed(line)
    if trust_strings and strings.quote and any(_FENCE.match(line) for line in body):
        return None
    return len(lines), [Block("\n".join(body), tag, closed=False)]


def _split_tag(rest: str, *, inline: bool = False) -> tuple[str, str]:
    """``(tag, code on the same line)`` of what follows an opening fence."""
    word, _, after = rest.partition(" ")
    name = re.split(r"[^a-z0-9+#-]", word.strip("{}.").lower(), maxsplit=1)[0]
    if word.lower() in _PYTHON and word:
        return name, after.strip() if inline or _FIRST.match(after.strip()) else ""
    if not inline and (_TAG.fullmatch(rest) or ("=" in after and _TAG.fullmatch(word))):
        return name, ""
    return "", rest


def _inner(block: Block, nesting: int) -> Iterator[Block]:
    """The blocks inside a block of Markdown, or the block itself."""
    if nesting and (block.tag in _MARKDOWN or not block.tag) and re.search(r"^[ \t]*`{3,}", block.text, re.MULTILINE):
        blocks, _ = fenced(block.text, nesting - 1)
        if blocks and not _only_in_strings(block.text):
            yield from blocks
            return
    yield block


def _only_in_strings(text: str) -> bool:
    strings = _Strings()
    for line in text.split("\n"):
        if not strings.quote and _FENCE.match(line):
            return False
        strings.feed(line)
    return True


def looks_like_code(text: str) -> bool:
    """Whether a text begins like an indented body, or has a line that begins like a definition or an import."""
    return text[:1] in (" ", "\t") or any(_START.match(line) for line in text.split("\n"))


def plain_runs(text: str) -> list[Block]:
    """Runs of lines of plain code between prose; a run may still end in a line of prose that looks like code."""
    runs: list[Block] = []
    current: list[str] = []
    strings = _Strings()
    for line in text.split("\n"):
        inside = bool(current) and (bool(strings.quote) or strings.depth > 0)
        if inside or _FIRST.match(line) or (current and _NEXT.match(line)):
            current.append(line)
            strings.feed(line)
        elif current:
            runs.append(Block("\n".join(current)))
            current, strings = [], _Strings()
    if current:
        runs.append(Block("\n".join(current), closed=False))
    return runs


def transcript(text: str) -> str:
    """The code typed in an interactive session (``>>>`` and ``...`` lines); empty where there is none."""
    typed = [line.lstrip()[4:] for line in text.split("\n") if _PROMPT.match(line)]
    return "\n".join(typed) if any(line.lstrip().startswith(">>>") for line in text.split("\n")) else ""


def inline(text: str) -> list[Block]:
    """Pieces of code in single or double backticks, in order."""
    return [Block(match.group(2).strip()) for match in _INLINE.finditer(text)]
