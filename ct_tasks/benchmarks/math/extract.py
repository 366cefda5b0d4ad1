"""The final answer of a raw reply: the last one given, from a balanced box, a ``####`` line, a closing phrase or a number.

One window: the whole reply after the thinking part. A reply whose thinking never ends has no answer: it is truncated,
whatever numbers its reasoning holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ct_tasks.benchmarks.math.latex import match_brace

How = Literal["box", "hashes", "phrase", "formula", "number"]

_THINK = (("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<thought>", "</thought>"),
          ("<reasoning>", "</reasoning>"), ("[THINK]", "[/THINK]"), ("<|begin_of_thought|>", "<|end_of_thought|>"),
          ("◁think▷", "◁/think▷"))
_BOX = re.compile(r"\\(?:boxed|fbox)\s*(?=\{)|\\boxed\s+(?=[^\s{])")
_HASHES = re.compile(r"####[ \t]*([^\n]*)")
_PHRASE = re.compile(r"(?:\b(?:final\s+)?answer(?:\s+is|\s*:)+|\bthe\s+(?:final\s+)?result\s+is)\s*:?\s*", re.IGNORECASE)
_NEXT_TASK = re.compile(r"^(?:Question|Problem|Q)\s*:", re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])-?\$?\s?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:\s*/\s*\d+)?%?|(?<![\w.])-?\$?\.\d+%?")
_NEGATIVE_MONEY = re.compile(r"^-\s*\$\s*")


@dataclass(frozen=True, slots=True)
class Found:
    """``answer`` is ``None`` with ``truncated`` set (the text ends too early) or not set (the reply gives no answer)."""

    answer: str | None
    how: How | None = None
    truncated: bool = False


def after_thinking(text: str, *, thinking: bool = False) -> str | None:
    """The reply after its last closed thinking part, the whole reply if there is none, ``None`` if thinking never ends.

    The opening mark may be in the prompt, so a lone closing mark counts; an opening mark without its closing one does too.
    ``thinking``: the prompt did end inside a thinking part, so a text without a closing mark is all thinking.
    """
    if thinking and not any(closer in text for _, closer in _THINK):
        return None
    for opener, closer in _THINK:
        if closer in text:
            text = text.rsplit(closer, 1)[1]
        if opener in text:
            return None
    return text


def _last_box(text: str) -> tuple[int, str | None] | None:
    """Start of the last box and its balanced content; the content is ``None`` where the box never closes."""
    matches = list(_BOX.finditer(text))
    if not matches:
        return None
    last = matches[-1]
    if text[last.end():last.end() + 1] != "{":
        word = re.match(r"[^\s$.,]+", text[last.end():])
        return last.start(), word.group(0) if word else None
    end = match_brace(text, last.end())
    return last.start(), text[last.end() + 1:end].strip() if end > 0 else None


def _clean_line(line: str) -> str:
    """The answer at the head of a line: one formula, or the line up to its full stop."""
    line = line.strip().strip("*_` ").strip()
    formula = re.match(r"\$\$?([^$]+)\$\$?|\\\((.+?)\\\)|\\\[(.+?)\\\]", line)
    if formula:
        money = re.match(r"\$\s*[\d,.]+\s*(?!.*[=\\^])", line)
        if not (money and line.count("$") >= 2 and " " in formula.group(0)):
            return next(group for group in formula.groups() if group is not None).strip()
    line = re.split(r"\.(?:\s|$)|\n", line, maxsplit=1)[0]
    return _NEGATIVE_MONEY.sub("-", line.strip().strip("*_` ")).strip()


def find_answer(text: str, *, truncated: bool | None = None) -> Found:
    """The final answer of a reply.

    A box or a ``####`` line, whichever comes last, is the answer. Without one, the last "answer is" phrase; without that,
    the last displayed formula or number, unless the reply is known to be cut (``truncated``). What follows a new
    "Question:" or "Problem:" line, after an answer was given, is not part of the reply.
    """
    reply = after_thinking(text)
    if reply is None:
        return Found(None, truncated=True)
    for start in (m.start() for m in _NEXT_TASK.finditer(reply)):
        head = reply[:start]
        if _BOX.search(head) or _HASHES.search(head) or _PHRASE.search(head):
            reply = head
            break
    box, hashes = _last_box(reply), None
    for match in _HASHES.finditer(reply):
        if match.group(1).strip():
            hashes = match
    if box and (not hashes or box[0] > hashes.start()):
        if box[1] is None:
            return Found(None, truncated=True)
        return Found(box[1], "box") if box[1] else Found(None)
    if hashes:
        return Found(_clean_line(hashes.group(1)), "hashes")
    phrases = [m for m in _PHRASE.finditer(reply) if reply[m.end():].strip(" *_`:\n")]
    if phrases:
        rest = reply[phrases[-1].end():].lstrip(" *_`:\n")
        answer = _clean_line(rest.split("\n", 1)[0])
        if answer and not (truncated and "\n" not in rest and not re.search(r"[.$]\s*$", rest)):
            return Found(answer, "phrase")
    if truncated:
        return Found(None, truncated=True)
    formulas = list(re.finditer(r"\$\$?([^$\n]+)\$\$?|\\\((.+?)\\\)|\\\[(.+?)\\\]", reply, re.DOTALL))
    numbers = list(_NUMBER.finditer(reply))
    if formulas and (not numbers or formulas[-1].end() >= numbers[-1].end()):
        inner = next(group for group in formulas[-1].groups() if group is not None).strip()
        if re.search(r"\d|\\", inner) and not re.match(r"^[\d,.]+ [a-z]", inner):
            return Found(inner, "formula")
    if numbers:
        return Found(_NEGATIVE_MONEY.sub("-", numbers[-1].group(0)).replace("$", "").strip(), "number")
    return Found(None)
