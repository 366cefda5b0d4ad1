"""CRUXEval-X (Xu et al. 2024): output and input prediction in nineteen languages, judged by running the program.

``output_<lang>`` and ``input_<lang>`` build the tasks ``ct_cruxeval_x_<lang>`` and ``ct_cruxeval_xi_<lang>``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

from ct_tasks.benchmarks.cruxeval_x.task import CruxEvalX, Side
from ct_tasks.errors import UnknownNameError
from ct_tasks.execution.languages import NAMES


def __getattr__(name: str) -> Callable[[], CruxEvalX]:
    side, _, language = name.partition("_")
    if side not in ("output", "input"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if language not in NAMES:
        raise UnknownNameError("language", language, NAMES)
    return partial(CruxEvalX, language, cast(Side, side))
