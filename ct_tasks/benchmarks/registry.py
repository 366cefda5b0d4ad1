"""Names of all tasks and groups, and where each is built. Importing this imports no benchmark."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import cast

from ct_tasks.benchmarks.base import Benchmark
from ct_tasks.errors import UnknownNameError

LANGUAGES = ("cpp", "cs", "d", "go", "java", "jl", "js", "lua", "php", "pl", "py", "r", "rb", "rkt", "rs", "scala",
             "sh", "swift", "ts")

_BUILDERS: dict[str, str] = {
    "ct_mini": "ct_tasks.benchmarks.mini:Mini",
    "ct_micro": "ct_tasks.benchmarks.micro:Micro",
    "ct_fresh": "ct_tasks.benchmarks.fresh.tasks:FreshOutput",
    "ct_fresh_i": "ct_tasks.benchmarks.fresh.tasks:FreshInput",
    "ct_fresh_state": "ct_tasks.benchmarks.fresh.tasks:FreshState",
    "ct_fresh_trips": "ct_tasks.benchmarks.fresh.tasks:FreshTrips",
    "ct_fresh_branch": "ct_tasks.benchmarks.fresh.tasks:FreshBranch",
    "ct_fresh_raises": "ct_tasks.benchmarks.fresh.tasks:FreshRaises",
    "ct_cruxeval_o": "ct_tasks.benchmarks.cruxeval:CruxEvalO",
    "ct_cruxeval_i": "ct_tasks.benchmarks.cruxeval:CruxEvalI",
    "ct_cruxeval_p": "ct_tasks.benchmarks.perturbed.task:CruxEvalP",
    "ct_lcb_o": "ct_tasks.benchmarks.lcb_execution:LcbO",
    "ct_reval_fo": "ct_tasks.benchmarks.reval:RevalFO",
    "ct_reval_co": "ct_tasks.benchmarks.reval:RevalCO",
    "ct_reval_p": "ct_tasks.benchmarks.reval:RevalP",
    "ct_reval_c": "ct_tasks.benchmarks.reval:RevalC",
    "ct_reval_s": "ct_tasks.benchmarks.reval:RevalS",
    **{f"ct_cruxeval_x_{lang}": f"ct_tasks.benchmarks.cruxeval_x:output_{lang}" for lang in LANGUAGES},
    **{f"ct_cruxeval_xi_{lang}": f"ct_tasks.benchmarks.cruxeval_x:input_{lang}" for lang in LANGUAGES},
    "ct_gsm8k": "ct_tasks.benchmarks.math:Gsm8k",
    "ct_gsm_hard": "ct_tasks.benchmarks.math:GsmHard",
    "ct_math": "ct_tasks.benchmarks.math:Math",
    "ct_math500": "ct_tasks.benchmarks.math:Math500",
    "ct_aime24": "ct_tasks.benchmarks.math:Aime24",
    "ct_humaneval": "ct_tasks.benchmarks.codegen:HumanEval",
    "ct_humaneval_plus": "ct_tasks.benchmarks.codegen:HumanEvalPlus",
    "ct_mbpp": "ct_tasks.benchmarks.codegen:Mbpp",
    "ct_mbpp_plus": "ct_tasks.benchmarks.codegen:MbppPlus",
    "ct_lcb_cg": "ct_tasks.benchmarks.codegen:LcbCodegen",
}

TASKS: tuple[str, ...] = tuple(_BUILDERS)

# Groups stand outside the ct_* glob: lm-eval refuses a glob that matches a group and its members.
GROUPS: dict[str, tuple[str, ...]] = {
    "codethinker_main": ("ct_cruxeval_o", "ct_lcb_o", "ct_reval_fo"),
    "codethinker_fresh": tuple(name for name in TASKS if name.startswith("ct_fresh")),
    "codethinker_reval": ("ct_reval_fo", "ct_reval_co", "ct_reval_c", "ct_reval_p", "ct_reval_s"),
    "codethinker_cruxeval_x": tuple(f"ct_cruxeval_x_{lang}" for lang in LANGUAGES),
    "codethinker_math": ("ct_gsm8k", "ct_gsm_hard", "ct_math", "ct_math500", "ct_aime24"),
    "codethinker_codegen": ("ct_humaneval", "ct_humaneval_plus", "ct_mbpp", "ct_mbpp_plus", "ct_lcb_cg"),
    "codethinker": TASKS,
}


@cache
def get(name: str) -> Benchmark:
    """The benchmark of that name. Raises ``UnknownNameError`` with suggestions."""
    if name not in _BUILDERS:
        raise UnknownNameError("task", name, [*TASKS, *GROUPS])
    module, attribute = _BUILDERS[name].split(":")
    build = cast(Callable[[], Benchmark], getattr(importlib.import_module(module), attribute))
    return build()
