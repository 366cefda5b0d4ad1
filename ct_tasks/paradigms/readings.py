"""The two readings of one text: the paradigm's own format (strict), and what a careful person takes as the answer (flexible)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ct_tasks.paradigms import answers, claims, flexible, piece, pieces
from ct_tasks.paradigms.base import Extraction, Found, Missed, Paradigm, Problem, visible
from ct_tasks.score import Status

if TYPE_CHECKING:
    from ct_tasks.benchmarks.base import Answer

_OWN_FORMAT = ("codeio", "cwm")  # their answers stand in no tag and in no assertion
_ENDS = ("[/ANSWER]", "</answer>", "[/TRACE]")


@dataclass(frozen=True, slots=True)
class Readings:
    """``flexible`` is ``strict`` itself where both agree."""

    strict: Extraction
    flexible: Extraction


def readings(answer: Answer, problem: Problem, paradigm: Paradigm) -> Readings:
    """Read one text in both ways. Never raises because of what it holds."""
    if answer.extracted:
        strict = answers.read(answer.text, problem)
        return Readings(strict, strict if isinstance(strict, Found) else piece.read(answer.text, problem))
    # A stop string that is known to have ended the reply is back in its text already; else it may be gone.
    stopped = answer.truncated is False and not answer.extra.get("whole")
    text = paradigm.completed(answer.text) if stopped else answer.text
    shown = visible(text, answer.thinking)
    if isinstance(shown, Missed):
        return Readings(shown, shown)
    strict = paradigm.extract(shown, problem)
    if answer.truncated and isinstance(strict, Found) and strict.open_end:
        strict = Missed("unclosed", "the length limit cut the reply before its answer was complete", strict.text)
    # Nothing follows a closing tag at the end that could change a reader's mind.
    if isinstance(strict, Found) and (paradigm.name in _OWN_FORMAT or shown.endswith(_ENDS)):
        return Readings(strict, strict)
    if isinstance(strict, Missed) and paradigm.name in _OWN_FORMAT and strict.status != "no_answer":
        return Readings(strict, _python_object(shown, problem) or strict)
    found = flexible.read(shown, problem, truncated=bool(answer.truncated))
    if isinstance(found, Missed) and found.status == "no_answer" and isinstance(strict, Missed) and strict.status == "unclosed":
        return Readings(strict, strict)
    same = isinstance(found, Found) and isinstance(strict, Found) and found.text == strict.text
    return Readings(strict, strict if same else found)


def _python_object(text: str, problem: Problem) -> Found | None:
    """The value in an object that is Python and not JSON: ``{'output': (1, 2)}``."""
    starts = list(re.finditer(rf"\{{\s{{0,64}}[\"']{problem.side}[\"']\s{{0,64}}:\s{{0,64}}", text))
    value = pieces.literal_at(text, starts[-1].end()) if starts else None
    if value is None or not text[value[0] : value[0] + 64].lstrip().startswith("}"):
        return None
    if problem.side == "output":
        return value[1]
    arguments = value[1].value if isinstance(value[1].value, str) else value[1].text
    return claims.as_arguments(arguments, problem)


def status_of(missed: Missed, answer: Answer) -> Status:
    """How a text without an answer ended: ``truncated`` only where the length limit is known to have cut it."""
    return "truncated" if answer.truncated and missed.status != "unreadable" else missed.status
