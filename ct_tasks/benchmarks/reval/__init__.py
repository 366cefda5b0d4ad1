"""REval (Chen et al. 2024): output prediction and the four probes. Each task's module is imported when it is asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ct_tasks.benchmarks.reval.co import RevalCO as RevalCO
    from ct_tasks.benchmarks.reval.fo import RevalFO as RevalFO
    from ct_tasks.benchmarks.reval.probes import RevalC as RevalC
    from ct_tasks.benchmarks.reval.probes import RevalP as RevalP
    from ct_tasks.benchmarks.reval.probes import RevalS as RevalS

_MODULES = {"RevalFO": "fo", "RevalCO": "co", "RevalC": "probes", "RevalP": "probes", "RevalS": "probes"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
