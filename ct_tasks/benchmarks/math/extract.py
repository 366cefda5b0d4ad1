"""The final answer of a raw reply: the last one given, from a balanced box, a ``####`` line, a closing phrase or a number.

One window: the whole reply after the thinking part. A reply whose thinking never ends has no answer, whatever numbers its
reasoning holds, and neither has one that takes its answer back. This is what a careful reader does, so it is both readings.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import Literal

from ct_tasks.benchmarks.math.latex import match_brace
from ct_tasks.benchmarks.math.prose import FORMULA, NUMBER, head, plain_number
from ct_tasks.paradigms.flexible import repeated

How = Literal["box", "hashes", "phrase", "formula", "number"]
Missing = Literal["no_answer", "unclosed", "truncated"]

_THINK = (("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<thought>", "</thought>"),
          ("<reasoning>", "</reasoning>"), ("[THINK]", "[/THINK]"), ("<|begin_of_thought|>", "<|end_of_thought|>"),
          ("◁think▷", "◁/think▷"))
_BOX = re.compile(r"(?:\\+|(?<![A-Za-z\\]))(?:boxed|fbox)\s*(?=\{)|\\boxed\s+(?=[^\s{])")
_HASHES = re.compile(r"####[ \t]*([^\n]*)")
_PHRASE = re.compile(
    r"\banswer\b(?:\s+to\s[^.:\n]{1,80}?(?=\s(?:is|=)\b)|\s*\([^)\n]{0,40}\))?"
    r"(?:\s+(?:is|would be|should be|must be|equals)\b|\**\s*[:=])+"
    r"|\bfinal\s+answer\**[ \t]*\n|\bthe\s+(?:final\s+)?result\s+is\b"
    r"|\b(?:no|wait|oops|actually|correction)\b[,: ]+(?:(?:no|wait)[, ]+)?(?:it|that)"
    r"(?:'s| is| should be| must be)(?=\s+[$\d*\\-])",
    re.IGNORECASE)
_NEXT_TASK = re.compile(r"^(?:Question|Problem|Q)\s*:", re.MULTILINE)
_SENTENCE = r"(?:^|(?<=[.!?)}$*\n]))\s*(?:(?:wait|no|oh|hmm+|actually|sorry|but|however|oops)\b[\s,.!:;…—-]*)*"
_TAKEN_BACK = re.compile(
    _SENTENCE + r"(?:(?:that|this|it|(?:the|my) (?:above|answer|result))(?:'s| is| was| cannot be| can't be)"
    r" (?:wrong|incorrect|not (?:right|correct)|mistaken|impossible)\b"
    r"|scratch that\b|(?:ignore|disregard) (?:that|this)\b|I (?:made|have made|'ve made) an? (?:mistake|error)\b)", re.IGNORECASE)
_CORRECTION = re.compile(r"(?<=[.!?)}$*\n])\s*(?:wait|no|oops|sorry|correction|actually)\b", re.IGNORECASE)
_CONCLUDES = re.compile(r"(?:so|therefore|thus|hence|in conclusion|finally)\b", re.IGNORECASE)
_WINDOW = 2000  # characters after a phrase in which its answer stands
_TAIL = 4_000  # characters at the end of a reply in which an answer without any mark stands
_NEAR = 120  # characters after an answer within which it can be taken back


@dataclass(frozen=True, slots=True)
class Found:
    """``answer`` is ``None`` where there is none; ``missing`` then says whether the reply gives none, ends inside its
    thinking or its box, or is known to be cut."""

    answer: str | None
    how: How | None = None
    missing: Missing = "no_answer"


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


def _last_box(text: str) -> tuple[int, int, str | None] | None:
    """Start and end of the last box and its balanced content; the content is ``None`` where the box never closes."""
    boxes = deque(_BOX.finditer(text), maxlen=1)
    if not boxes:
        return None
    last = boxes[0]
    if text[last.end():last.end() + 1] != "{":
        word = re.match(r"[^\s$.,]+", text[last.end():last.end() + _WINDOW])
        return last.start(), last.end() + (word.end() if word else 0), word.group(0) if word else None
    end = match_brace(text, last.end())
    return (last.start(), end + 1, text[last.end() + 1:end].strip()) if end > 0 else (last.start(), len(text), None)


def find_answer(text: str, *, truncated: bool | None = None, thinking: bool = False) -> Found:
    """The final answer of a reply.

    A box or a ``####`` line, whichever comes last, is the answer. Without one, the last "answer is" phrase; without that,
    the last displayed formula or number, unless the reply is known to be cut (``truncated``). What follows a new
    "Question:" or "Problem:" line, after an answer was given, is not part of the reply. An answer that the next words take
    back is none; what stands after them is read instead. ``thinking``: the prompt ended inside a thinking part.
    """
    reply = after_thinking(text, thinking=thinking)
    if reply is None:
        return Found(None, missing="truncated" if truncated else "unclosed")
    given = min((m.end() for p in (_BOX, _HASHES, _PHRASE) if (m := p.search(reply))), default=len(reply))
    if following := _NEXT_TASK.search(reply, given):
        reply = reply[:following.start()]
    found, end = _marked(reply, truncated)
    if found is None:
        return _concluded(reply) if truncated else _bare(reply)
    if found.answer is None:
        return found
    if back := _TAKEN_BACK.search(reply, end, end + _NEAR):
        later = reply[back.end():]
        return _marked(later, truncated)[0] or (Found(None, missing="truncated") if truncated else _bare(later))
    if _CORRECTION.search(reply, end, end + _NEAR) and (corrected := _marked(reply[end:], truncated)[0]) and corrected.answer:
        return corrected
    return found


def _marked(reply: str, truncated: bool | None) -> tuple[Found | None, int]:
    """The last answer that is marked as one, and where its mark ends; ``None`` where nothing is marked."""
    box, hashes = _last_box(reply), None
    for match in _HASHES.finditer(reply):
        if match.group(1).strip():
            hashes = match
    if box and (not hashes or box[0] > hashes.start()):
        _, end, content = box
        if content is None:
            return Found(None, missing="truncated" if truncated else "unclosed"), len(reply)
        return Found(content or None, "box" if content else None), end
    if hashes:
        return Found(head(hashes.group(1)[:_WINDOW]) or None, "hashes"), hashes.end()
    for phrase in [*_PHRASE.finditer(reply)][:-4:-1]:
        rest = reply[phrase.end():phrase.end() + _WINDOW].lstrip(" *_`:\n")
        if (answer := head(rest)) and not (truncated and "\n" not in rest and not re.search(r"[.$]\s*$", rest)):
            return Found(answer, "phrase"), phrase.end()
    return None, 0


def _bare(reply: str) -> Found:
    """The value that a reply of one line begins with; else its last formula or number."""
    line, reply = reply.strip(), reply[-_TAIL:]
    if "\n" not in line and len(line) <= _NEAR and (first := NUMBER.match(line.lstrip("*_`= "))):
        rest = line.lstrip("*_`= ")[first.end():]
        if re.match(r"[*_`]*[,;]?\s+(?:because|since|as|per|for)\b", rest):
            return Found(plain_number(first.group()), "number")
    if equation := _equation(reply):
        return Found(equation, "number")
    formulas, numbers = list(FORMULA.finditer(reply)), list(NUMBER.finditer(reply))
    if formulas and (not numbers or formulas[-1].end() >= numbers[-1].end()):
        inner = next(group for group in formulas[-1].groups() if group is not None).strip()
        if re.search(r"\d|\\", inner) and not re.match(r"^[\d,.]+ [a-z]", inner):
            return Found(inner, "formula")
    return Found(plain_number(numbers[-1].group()), "number") if numbers else Found(None)


def _concluded(reply: str) -> Found:
    """What a cut reply concludes again and again until its end: "So the total is 18." three times."""
    said = [line for line in repeated(reply) if _CONCLUDES.match(line) and NUMBER.search(line)]
    return _bare(said[-1]) if said else Found(None, missing="truncated")


def _equation(reply: str) -> str:
    """What the last equation of a last sentence without TeX comes to: 720 in "so 3 * 240 = 720 cookies for 30 days"."""
    sentences = [s for s in re.split(r"(?<=[.!?])\s|\n", reply) if NUMBER.search(s)]
    if not sentences or re.search(r"[$\\][^\d]|\\", sentences[-1]):
        return ""
    sides = re.split(r"=|≈", sentences[-1])
    number = NUMBER.match(sides[-1].lstrip(" *`$")) if len(sides) > 1 and NUMBER.search(sides[-2]) else None
    rest = sides[-1].lstrip(" *`$")[number.end() :] if number else ""
    return plain_number(number.group()) if number and re.match(r"[*`]*(?:[.,;!)]|$|\s+[A-Za-z])", rest) else ""
