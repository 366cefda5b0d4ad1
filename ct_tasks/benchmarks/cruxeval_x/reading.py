"""Answers of CRUXEval-X as models write them: wrapped, as a whole assertion, with tags in any spelling."""

from __future__ import annotations

import re

from ct_tasks.benchmarks.base import Answer
from ct_tasks.benchmarks.cruxeval_x.rows import GAP, Parts
from ct_tasks.execution.languages.base import Language
from ct_tasks.paradigms import pieces
from ct_tasks.paradigms.base import Missed, visible
from ct_tasks.paradigms.flexible import MAX_TEXT, taken_back
from ct_tasks.paradigms.places import places

_SAYS = re.compile(r"\b(?:answer|output|result|value|call)\b[^.\n]{0,60}?(?:\bis|\breturns|:)\s*:?\s*`([^`\n]+)`", re.IGNORECASE)
_FENCE = re.compile(r"```[\w+#-]*\n(.*?)(?:```|\Z)", re.DOTALL)


def bare(text: str, language: Language, side: str, parts: Parts) -> str:
    """The answer without a fence, backticks or a last ``;``, and out of the assertion that the question shows."""
    text = text.strip()
    if language.name == "sh" and side == "output" and text[:1] == text[-1:] == "`" and not text.startswith("```"):
        inner = text  # a shell runs what stands in backquotes, so they are no mark-up there
    else:
        inner = pieces.clean(text)
    line = next((row for row in parts.check.split("\n") if GAP in row), GAP)
    return _out_of(inner, line.strip(), language, side)


def _out_of(text: str, line: str, language: Language, side: str) -> str:
    """The part of a completed assertion that fills the question's gap (output), or its call (input)."""
    before, _, after = line.partition(GAP)
    if side == "input":
        head, _, tail = language.slot.partition(GAP)
        before, after = before.removesuffix(head), after[len(tail) :] if after.startswith(tail) else after
    for row in reversed(text.split("\n")):
        found = re.fullmatch(_loose(before) + r"(.+?)" + _loose(after), row.strip(), re.DOTALL) if before.strip() else None
        if found:
            return found[1].strip()
        ends = after.rstrip("; ")
        found = re.fullmatch(_loose(before) + r"(.+?)" + _loose(ends) + r"\s*;?", row.strip(), re.DOTALL) if before.strip() else None
        if found:
            return found[1].strip()
    return text


def _loose(text: str) -> str:
    """A pattern for the text with any white space between its parts."""
    return r"\s*" + r"\s*".join(re.escape(part) for part in text.split()) + r"\s*" if text.strip() else ""


def flexible(answer: Answer, language: Language, side: str, parts: Parts | None, strict: str | None) -> str | None:
    """The answer that a careful person reads, None where there is none; ``strict`` is the strict reading's."""
    if answer.extracted or parts is None:
        return strict
    shown = visible(answer.text, answer.thinking)
    if isinstance(shown, Missed):
        return None
    shown = shown[-MAX_TEXT:]
    for spot in reversed(places(shown)):
        if (answer.truncated and not spot.closed) or not spot.text.strip(" `*\n") or spot.text.strip(" `*\n") == "and":
            continue
        if taken_back(shown, spot.end):
            return None
        inside = spot.text.strip()
        paragraph = re.split(r"\n[ \t]*\n", inside)
        return (paragraph[-1] if spot.lone else inside if spot.closed else paragraph[0]).strip()
    if answer.truncated:
        return None
    line = next((row for row in parts.check.split("\n") if GAP in row), GAP).strip()
    asked = line.partition(GAP)[0] if side == "output" else line.partition(language.slot)[0]
    rows = [row.strip().strip("`") for row in shown.split("\n")]
    asserted = [row for row in rows if asked.strip() and re.match(_loose(asked), row) and GAP not in row]
    fences = [m[1].strip() for m in _FENCE.finditer(shown)]
    said = [m[1] for m in _SAYS.finditer(shown)]
    if taken_back(shown, 0) and not strict:
        return None
    return asserted[-1] if asserted else said[-1] if said else fences[-1] if fences and "\n" not in fences[-1] else strict
