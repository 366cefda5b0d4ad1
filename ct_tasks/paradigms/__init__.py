"""How a model is asked to answer, and how its answer is read: one file a paradigm. ``get(name)`` imports the one asked for."""

from __future__ import annotations

import importlib
from functools import cache

from ct_tasks.errors import UnknownNameError
from ct_tasks.options import PARADIGMS
from ct_tasks.paradigms.base import Found, Missed, Paradigm, Problem

__all__ = ["Found", "Missed", "Paradigm", "Problem", "get"]


@cache
def get(name: str) -> Paradigm:
    """The paradigm of that name. Raises ``UnknownNameError`` with suggestions."""
    if name not in PARADIGMS:
        raise UnknownNameError("paradigm", name, PARADIGMS)
    paradigm = importlib.import_module(f"ct_tasks.paradigms.{name}").PARADIGM
    assert isinstance(paradigm, Paradigm)
    return paradigm
