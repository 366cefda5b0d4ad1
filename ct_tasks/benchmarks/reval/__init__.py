"""REval (Chen et al. 2024): output prediction and the four probes. Each task's module is imported when it is asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ct_tasks.benchmarks.reval.fo import RevalFO as RevalFO

_MODULES = {"RevalFO": "fo"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
