"""Runs candidates in the sandbox and returns what they computed, as texts; knows no expected value.

The limit of a call is ``max(4 s, 4 x the reference's time)`` of processor time, as evalplus states it; the limit of a
program is the sum over its calls, at most 60 s.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ct_tasks.errors import HarnessError
from ct_tasks.execution.jobs import Job, Limits, Result
from ct_tasks.execution.pool import shared_pool
from ct_tasks.options import TaskOptions
from ct_tasks.score import Status

MIN_LIMIT_S: Final = 4.0
FACTOR: Final = 4.0
MAX_PROGRAM_S: Final = 60.0
MEMORY_MB: Final = 4096  # evalplus' own limit
REFERENCE_LIMIT_S: Final = 60.0
_HOOKS: Final = "ct_tasks.benchmarks.codegen.child:"
BEFORE_SCRIPT: Final = _HOOKS + "before_script"


@dataclass(frozen=True, slots=True)
class Run:
    """What a program returned on its inputs. ``status`` is ``right`` while nothing speaks against it.

    ``outputs`` are texts of ``values.dump``, fewer than the inputs when the program stopped early.
    """

    status: Status
    outputs: tuple[str, ...] = ()
    times: tuple[float, ...] = ()
    error: str = ""


def limits_of(times: Sequence[float], options: TaskOptions | None = None) -> list[float]:
    """Seconds for each call, from the reference's times; ``limit_s`` of the options replaces the 4 s."""
    least = options.limit_s if options is not None and options.limit_s else MIN_LIMIT_S
    return [max(least, FACTOR * time) for time in times]


def room_for(expected: Sequence[str]) -> int:
    """Characters that a program may report where the reference reported ``expected``: four times as many, and 100,000."""
    return 4 * sum(map(len, expected)) + 100_000


def call_job(program: str, limits: Sequence[float] | float, **payload: Any) -> Job:
    """A job that calls ``program`` by the trusted hook (see ``child.run_calls``)."""
    total = min(MAX_PROGRAM_S, sum(limits) if not isinstance(limits, float) else MAX_PROGRAM_S)
    short = limits if isinstance(limits, float) or len(set(limits)) > 1 else limits[0] if limits else MIN_LIMIT_S
    return Job(program, hook=_HOOKS + "run_calls", payload={**payload, "limits": short},
               limits=Limits(cpu_s=total + 1, wall_s=6 * total + 30, memory_mb=MEMORY_MB, output_bytes=1 << 20))


def hook_job(function: str, program: str, payload: Mapping[str, Any]) -> Job:
    """A job for one of the trusted test hooks, on a program of the benchmark's own."""
    return Job(program, hook=_HOOKS + function, payload=payload,
               limits=Limits(cpu_s=REFERENCE_LIMIT_S, wall_s=20 * REFERENCE_LIMIT_S, memory_mb=MEMORY_MB, output_bytes=1 << 20))


def run_all(jobs: Sequence[Job], options: TaskOptions) -> list[Result]:
    """Run jobs in the shared pool of the chosen backend."""
    return shared_pool("docker" if options.backend == "docker" else "local").run(jobs) if jobs else []


def run_spread(jobs: Sequence[Job], costs: Sequence[float], options: TaskOptions) -> list[Result]:
    """As ``run_all``, for jobs of very different length: the pool hands out neighbours together, so the dear ones are spread
    over the batch, dearest first. Results are in the order of ``jobs``."""
    parts = 4 * (os.cpu_count() or 1)
    ranked = sorted(range(len(jobs)), key=lambda i: -costs[i])
    order = [i for part in range(parts) for i in ranked[part::parts]]
    results = run_all([jobs[i] for i in order], options)
    place = {i: n for n, i in enumerate(order)}
    return [results[place[i]] for i in range(len(jobs))]


def read(result: Result) -> Run:
    """The run that a ``call_job`` result tells of. A value that is no honest report is the program's own doing: wrong."""
    if result.status == "harness_error":
        return Run("harness_error", error=result.error)
    if result.status == "timeout":
        return Run("timeout", error="the program ran longer than its limit")
    if result.status != "ok" or result.value is None:
        return Run("wrong", error=f"{result.status}: {result.error}")
    try:
        report = json.loads(result.value)
        outputs, stop = tuple(map(str, report["outputs"])), report["stop"]
        times = tuple(map(float, report["times"]))
    except (ValueError, KeyError, TypeError):
        return Run("wrong", error="the program tampered with its report")
    if stop is None:
        return Run("right", outputs, times)
    status: Status = "timeout" if stop.get("kind") == "timeout" else "wrong"
    return Run(status, outputs, times, str(stop.get("error", "")))


def trusted(result: Result, what: str) -> dict[str, Any]:
    """The report of a hook that ran the benchmark's own code. Raises ``HarnessError`` when there is none."""
    if result.status != "ok" or result.value is None:
        raise HarnessError(f"{what} did not run: {result.status}: {result.error or result.stderr[-300:]}")
    report: dict[str, Any] = json.loads(result.value)
    return report
