"""Mathematical benchmarks: GSM8K, GSM-Hard, MATH, MATH-500, AIME 2024 (Table 4 of the paper).

The task classes load on first use, so that the child processes that compare answers start without them.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["Aime24", "Gsm8k", "GsmHard", "Math", "Math500"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(importlib.import_module("ct_tasks.benchmarks.math.tasks"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
