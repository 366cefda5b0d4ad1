"""The nineteen languages of CRUXEval-X, one file each: how a program is compiled and run, and how its verdict is read."""

from __future__ import annotations

import importlib
from functools import cache

from ct_tasks.errors import UnknownNameError
from ct_tasks.execution.languages.base import Language

NAMES = ("cpp", "cs", "d", "go", "java", "jl", "js", "lua", "php", "pl", "py", "r", "rb", "rkt", "rs", "scala", "sh", "swift", "ts")  # fmt: skip


@cache
def get(name: str) -> Language:
    """The language of that name. Raises ``UnknownNameError``."""
    if name not in NAMES:
        raise UnknownNameError("language", name, NAMES)
    found: Language = importlib.import_module(f"ct_tasks.execution.languages.{name}").LANGUAGE
    return found
