"""True traces of many calls, made in the Python pool: the bridge from the pure tracer to a sandbox."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ct_tasks import errors
from ct_tasks.contra.literals import Containers, LiteralError
from ct_tasks.contra.trace import Truth
from ct_tasks.errors import HarnessError, TraceError, TraceMemory, TraceTimeout
from ct_tasks.execution.jobs import Job, Limits, Result

TRACE_LIMITS = Limits(cpu_s=20.0, wall_s=120.0, memory_mb=1024)


@dataclass(frozen=True, slots=True)
class Call:
    """One call to trace: ``call`` (``"f(3)"``) in ``source``; ``prelude`` is run before it and is not shown."""

    source: str
    call: str
    entry: str | None = None
    prelude: str = ""


def trace_all(
    calls: Sequence[Call],
    *,
    segmentation: str = "statement",
    containers: Containers = "literal",
    limits: Limits = TRACE_LIMITS,
    run: Callable[[Sequence[Job]], list[Result]] | None = None,
) -> list[Truth | TraceError]:
    """Trace every call, in order; equal calls once. A call without a trace gives the ``TraceError`` that says why.

    ``run`` executes jobs; by default the process-wide pool does. Raises ``HarnessError`` when the pool itself fails.
    """
    if run is None:
        from ct_tasks.execution.pool import shared_pool

        run = shared_pool().run
    unique = list(dict.fromkeys(calls))
    jobs = [
        Job(
            code="",
            hook="ct_tasks.contra.tracer:trace_hook",
            payload={
                "source": c.source,
                "call": c.call,
                "entry": c.entry,
                "prelude": c.prelude,
                "segmentation": segmentation,
                "containers": containers,
            },
            limits=limits,
            id=str(i),
        )
        for i, c in enumerate(unique)
    ]
    found = dict(zip(unique, map(_read, run(jobs)), strict=True))
    return [found[call] for call in calls]


def _read(result: Result) -> Truth | TraceError:
    if result.status == "harness_error":
        raise HarnessError(f"the sandbox failed while tracing: {result.error}")
    if result.status == "timeout":
        return TraceTimeout(f"the program ran into its time limit ({result.cpu_s:.1f} s of CPU time)")
    if result.status == "memory":
        return TraceMemory("the program ran into its memory limit")
    if result.status != "ok" or result.value is None:
        return TraceError(f"no trace ({result.status}): {result.error[:200]}")
    return read_reply(json.loads(result.value))


def read_reply(reply: Mapping[str, Any]) -> Truth | TraceError:
    """What ``contra.tracer.trace_hook`` returned in the child."""
    if "truth" in reply:
        try:
            return Truth.from_json(reply["truth"])
        except LiteralError as error:
            return TraceMemory(f"the trace's values are too large to be read back: {error}")
    kind = getattr(errors, str(reply.get("error")), TraceError)
    return kind(reply.get("message", "")) if issubclass(kind, TraceError) else TraceError(str(reply))
