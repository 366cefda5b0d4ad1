"""Code generation: HumanEval, MBPP, their plus versions, LiveCodeBench (Table 4 of the paper).

The task classes load on first use: sandbox workers import this package for its trusted hooks alone.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {"HumanEval": "humaneval", "HumanEvalPlus": "plus", "Mbpp": "mbpp", "MbppPlus": "plus", "LcbCodegen": "lcb"}

__all__ = ["HumanEval", "HumanEvalPlus", "LcbCodegen", "Mbpp", "MbppPlus"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"ct_tasks.benchmarks.codegen.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
