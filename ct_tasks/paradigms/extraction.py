"""Answers found and missed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Found:
    """An answer. ``text`` is the literal (output side) or the call ``f(...)`` (input side) as the model wrote it; ``value``
    the literal's value. ``open_end``: nothing closed the answer, so that a length limit may have cut it."""

    text: str
    value: object = None
    open_end: bool = False


@dataclass(frozen=True, slots=True)
class Missed:
    """No usable answer. ``unreadable``: an answer is given, but it is no value. ``no_answer``: none is given. ``unclosed``: the
    text stops before its answer is complete. ``text`` is what was found, if anything."""

    status: Literal["unreadable", "no_answer", "unclosed"]
    reason: str
    text: str | None = None


Extraction = Found | Missed
