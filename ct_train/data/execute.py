"""Step 3, execution filter (paper section 2): calls that run, within two seconds, to the same literal value every time.

Three runs of each call in sandboxed children: a plain run under the time limit, and two traced runs, one under another hash
seed and one under a third with the calls in reverse order. Kept are calls whose value and whose locals at every block's end
agree in all runs, that print nothing, and whose value and trace are short enough to be an answer.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ct_tasks.contra import literals
from ct_tasks.contra.trace import Truth, render
from ct_tasks.errors import HarnessError, ProgramRaised, TraceError, TraceMemory, TraceTimeout
from ct_tasks.execution.jobs import Job, Limits, Result
from ct_tasks.execution.pool import PythonPool
from ct_tasks.execution.tracing import Call, read_reply
from ct_train.data.steps import Outcome, Row, Step, read_rows

VERSION = 1
_PATIENCE = 20  # wall clock over CPU time: CPU time decides, so that a busy machine drops no more than an idle one
SEEDS = (0, 1, 20261)  # Python's hash seed in the plain run and in the two traced ones


@dataclass(frozen=True)
class ExecuteSettings:
    """``timeout_s``: CPU time of a plain run; ``trace_s``: CPU time of a traced run.
    ``max_lines``: lines executed in the entry function. Sizes in characters: of the value, and of the perfect ConTra text,
    which a model has to write within its token limit. ``workers``: sandboxed processes, all cores by default."""

    timeout_s: float = 2.0
    trace_s: float = 4.0
    max_lines: int = 20_000
    memory_mb: int = 512
    max_value_chars: int = 1000
    max_trace_chars: int = 12000
    segmentation: str = "statement"
    workers: int | None = None
    batch: int = 40

    def identity(self) -> dict[str, Any]:
        return {k: v for k, v in asdict(self).items() if k not in ("workers", "batch")}


def execute_step(folder: Path, settings: ExecuteSettings) -> dict[str, Any]:
    """A row a sample in ``3_executed.jsonl``: program, call, output, where the input came from."""
    before = folder / "2_inputs.jsonl"
    key = {"rules": VERSION, "hash_seeds": list(SEEDS), **settings.identity()}
    step = Step(folder, "3_executed", key, [before], settings.batch, "functions")
    with Runner(settings) as runner:
        return step.run(read_rows(before), runner.filter)


class Runner:
    """The three pools; their workers start when first needed."""

    def __init__(self, settings: ExecuteSettings) -> None:
        self.settings = settings
        self.pools = [PythonPool(settings.workers, hash_seed=seed) for seed in SEEDS]

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *error: object) -> None:
        for pool in self.pools:
            pool.close()

    def filter(self, rows: Sequence[Row]) -> Outcome:
        """Every call of ``rows``, kept with its output or dropped with its reason."""
        pairs = [(row, given) for row in rows for given in row["inputs"]]
        values = self._plain([(row, given["call"]) for row, given in pairs])
        ran = [i for i, result in enumerate(values) if result.status == "ok" and not result.stdout]
        calls = [Call(pairs[i][0]["program"], pairs[i][1]["call"], pairs[i][0]["entry"]) for i in ran]
        first = self._traced(1, calls)
        traces: dict[int, list[Truth | TraceError]] = {i: [trace] for i, trace in zip(ran, first, strict=True)}
        again = [n for n, trace in enumerate(first) if not isinstance(trace, TraceError)][::-1]
        for n, trace in zip(again, self._traced(2, [calls[n] for n in again]), strict=True):
            traces[ran[n]].append(trace)
        out = Outcome()
        for i, (row, given) in enumerate(pairs):
            reason, detail = self._verdict(values[i], traces.get(i, []))
            if reason:
                out.drop({"id": row["id"], **given}, reason, detail)
                continue
            sample = {k: row[k] for k in ("id", "program", "entry", "lines", "difficulty")}
            out.kept.append({**sample, "call": given["call"], "output": values[i].value, "origin": given["origin"]})
        return out

    def _plain(self, pairs: Sequence[tuple[Row, str]]) -> list[Result]:
        s = self.settings
        limits = Limits(s.timeout_s, _PATIENCE * s.timeout_s, s.memory_mb, output_bytes=16 * 1024)
        jobs = [Job(row["program"], expr=call, limits=limits, id=str(i)) for i, (row, call) in enumerate(pairs)]
        results = self.pools[0].run(jobs)
        for result in results:
            if result.status == "harness_error":
                raise HarnessError(f"the sandbox failed: {result.error}; the same command goes on where it stopped")
        return results

    def _traced(self, pool: int, calls: Sequence[Call]) -> list[Truth | TraceError]:
        """Traces in the order of ``calls``: neighbours of one program in one child, and each alone where that child failed."""
        groups = [list(group) for _, group in itertools.groupby(calls, key=lambda c: (c.source, c.entry))]
        found: list[Truth | TraceError | None] = []
        for group, result in zip(groups, self.pools[pool].run([self._job(g) for g in groups]), strict=True):
            traces = _read(result)
            found += [None] * len(group) if isinstance(traces, TraceError) else traces
        alone = [[c] for c, trace in zip(calls, found, strict=True) if trace is None]
        again = iter(map(_read, self.pools[pool].run([self._job(g) for g in alone])))
        out: list[Truth | TraceError] = []
        for trace in found:
            if trace is None:
                second = next(again)
                trace = second if isinstance(second, TraceError) else second[0]
            out.append(trace)
        return out

    def _job(self, group: Sequence[Call]) -> Job:
        s = self.settings
        payload = {
            "source": group[0].source,
            "entry": group[0].entry,
            "calls": [c.call for c in group],
            "segmentation": s.segmentation,
            "max_events": s.max_lines,
            "max_values": 2 * s.max_trace_chars,  # a value takes at least a character
        }
        limits = Limits(s.trace_s, _PATIENCE * s.trace_s, 1024)
        return Job(code="", hook="ct_train.data.child:trace_group", payload=payload, limits=limits)

    def _verdict(self, result: Result, traces: Sequence[Truth | TraceError]) -> tuple[str, str]:
        """The reason to drop a call, empty to keep it, and a detail."""
        s = self.settings
        if result.status != "ok":
            literal = result.status == "exception" and "LiteralError: the value has no literal" in result.error
            detail = _ADDRESS.sub("0x…", result.error[:160]) if result.status == "exception" else ""
            return "no_literal" if literal else _REASONS.get(result.status, result.status), detail
        if result.stdout:
            return "prints", result.stdout[:80]
        for trace in traces:
            if isinstance(trace, TraceError):
                reason = _trace_reason(trace)
                return reason, "" if reason == "trace_too_long" else _ADDRESS.sub("0x…", str(trace)[:160])
        first, second = (trace for trace in traces if isinstance(trace, Truth))
        assert result.value is not None
        with contextlib.suppress(literals.LiteralError):
            if not literals.same(literals.parse(result.value), first.returned):
                return "not_deterministic", "the value differs between runs"
        difference = _difference(first, second)
        if difference:
            return "not_deterministic", difference
        if len(result.value) > s.max_value_chars:
            return "value_too_long", f"{len(result.value)} characters"
        length = len(render(first))
        if length > s.max_trace_chars:
            return "trace_too_long", f"{length} characters"
        return "", ""


def _read(result: Result) -> list[Truth | TraceError] | TraceError:
    """The traces of a group, or why its child gave none."""
    if result.status == "harness_error":
        raise HarnessError(
            f"the sandbox failed while tracing: {result.error}; the same command goes on where it stopped"
        )
    if result.status in ("timeout", "memory", "output_limit"):
        return TraceTimeout(result.status)
    if result.status != "ok" or result.value is None:
        return TraceError(f"no trace ({result.status}): {result.error[:120]}")
    return [read_reply(reply) for reply in json.loads(result.value)["replies"]]


_ADDRESS = re.compile(r"0x[0-9a-f]+")  # differs from run to run
_REASONS = {"exception": "raises", "timeout": "timeout", "memory": "memory", "output_limit": "value_too_long"}


def _trace_reason(error: TraceError) -> str:
    if isinstance(error, (TraceTimeout, TraceMemory)):
        return "trace_too_long"
    return "not_deterministic" if isinstance(error, ProgramRaised) else "no_trace"


def _difference(first: Truth, second: Truth) -> str:
    """Where two traces of one call differ; empty when they do not."""
    if not literals.same(first.returned, second.returned):
        return "the value differs between hash seeds"
    if len(first.blocks) != len(second.blocks):
        return "another path under another hash seed"
    for a, b in zip(first.blocks, second.blocks, strict=True):
        if not literals.same(dict(a.locals), dict(b.locals)):
            return f"locals at line {a.stop - 1} differ between hash seeds"
    return ""
