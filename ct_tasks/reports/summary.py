"""What the samples of one task of one run say beyond lm-eval's means: one pass over the file."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ct_tasks.reports.constructs import COPIED, MISSING, constructs
from ct_tasks.reports.items import facts, facts_of
from ct_tasks.reports.read import Run, read_samples
from ct_tasks.reports.statistics import clustered_interval
from ct_tasks.score import STATUSES

BINS = 10  # tenths of a trace, for where the first error falls
Counts = dict[Any, tuple[float, int]]  # key -> (right, samples); right may be fractional with repeats


@dataclass
class Summary:
    """``clustered``: interval of the accuracy over programs. ``shares``: statuses of all replies. ``spread``: standard
    deviation of the accuracy between repeats. ``months``, ``blocks``, ``complexity``: accuracy by what the item is.
    ``monthly``: month -> metric -> (sum over its documents, documents that have it), and under ``n`` all documents.
    ``first_wrong``: traces whose first wrong block lies in each tenth of the trace; ``traces``: how many had a verdict.
    ``wrong_at``: construct -> (blocks with it whose LOCALS were the first error, such blocks that were reached without an
    error and written with the right code); under ``block missing`` and ``code not copied`` out of all blocks reached."""

    samples: int = 0
    clusters: int = 0
    clustered: tuple[float, float] | None = None
    shares: dict[str, float] = field(default_factory=dict)
    repeats: int = 0
    spread: float | None = None
    window: tuple[str, str] | None = None
    months: Counts = field(default_factory=dict)
    monthly: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    blocks: Counts = field(default_factory=dict)
    complexity: Counts = field(default_factory=dict)
    first_wrong: list[int] = field(default_factory=lambda: [0] * BINS)
    traces: int = 0
    wrong_at: dict[str, list[int]] = field(default_factory=dict)


def summarise(run: Run, task: str, path: Path) -> Summary:
    """Read the samples once. Damaged lines are left out here; the site names them."""
    known = facts(task, run.options)
    found = Summary()
    values: list[float] = []
    groups: list[str] = []
    by_repeat: dict[int, list[float]] = {}
    statuses: Counter[str] = Counter()
    for sample in read_samples(path):
        found.samples += 1
        statuses.update(str(v.get("status") or "") for v in sample.verdicts)
        fact = facts_of(sample, known, run.options)
        for number, verdict in enumerate(sample.verdicts):
            _first_wrong(found, verdict, fact.lines)
            if verdict.get("acc") is not None and verdict.get("status") != "harness_error":
                by_repeat.setdefault(number, []).append(float(verdict["acc"]))
        date = fact.date or sample.date[:10] or None
        if date:
            _add(found.monthly.setdefault(date[:7], {}), numbers(sample.verdicts))
        acc = sample.acc
        if acc is None:
            continue
        values.append(acc)
        groups.append(sample.group)
        for counts, key in (
            (found.months, date[:7] if date else None),
            (found.blocks, fact.blocks),
            (found.complexity, fact.complexity),
        ):
            if key is not None:
                right, n = counts.get(key, (0.0, 0))
                counts[key] = right + acc, n + 1
        if date:
            found.window = (min(found.window[0], date), max(found.window[1], date)) if found.window else (date, date)
    replies = sum(statuses.values())
    found.shares = {s: k / replies for s, k in statuses.items() if s}
    found.clusters = len(set(groups))
    if all(0 <= v <= 1 for v in values):
        found.clustered = clustered_interval(values, groups)
    found.repeats = len(by_repeat)
    if found.repeats > 1:
        found.spread = statistics.stdev(statistics.fmean(row) for row in by_repeat.values())
    return found


def numbers(verdicts: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """One document's numbers over its replies, as an evaluation makes them: a harness error is no verdict, what does not apply
    leaves the mean alone."""
    found: dict[str, list[float]] = {}
    for verdict in verdicts:
        status = verdict.get("status")
        for known in STATUSES if status in STATUSES else ():
            found.setdefault(known, []).append(float(status == known))
        for name, value in verdict.items():
            if not isinstance(value, (bool, int, float)) or (name.startswith("acc") and status == "harness_error"):
                continue
            found.setdefault("hack_rate" if name == "hack" else name, []).append(float(value))
    return {name: statistics.fmean(row) for name, row in found.items()}


def _add(month: dict[str, list[float]], found: Mapping[str, float]) -> None:
    for name, value in {**found, "n": 1.0}.items():
        total = month.setdefault(name, [0.0, 0.0])
        total[0] += value
        total[1] += 1


def first_wrong(verdict: Mapping[str, Any]) -> tuple[int, Mapping[str, Any], int] | None:
    """Index of a trace's first wrong block, that block, and how many blocks the true trace has; None without one."""
    trace = _trace(verdict)
    first = trace.get("first_wrong") if trace else None
    if trace is None or not isinstance(first, int) or not 0 <= first < len(trace["blocks"]):
        return None
    return first, trace["blocks"][first], len(trace["deltas"])


def _trace(verdict: Mapping[str, Any]) -> Mapping[str, Any] | None:
    detail = verdict.get("detail")
    trace = detail.get("trace") if isinstance(detail, dict) else None
    if not isinstance(trace, dict) or not isinstance(trace.get("deltas"), (list, tuple)) or not trace["deltas"]:
        return None
    blocks = trace.get("blocks")
    return trace if isinstance(blocks, (list, tuple)) and all(isinstance(b, dict) for b in blocks) else None


def fault(block: Mapping[str, Any], lines: Sequence[str] | None) -> tuple[str, ...]:
    """What a wrong block failed at: the constructs of its code, or that it was not written or not copied."""
    if block.get("predicted") is None:
        return (MISSING,)
    if not block.get("code_ok"):
        return (COPIED,)
    return _constructs_of(block, lines)


def _constructs_of(block: Mapping[str, Any], lines: Sequence[str] | None) -> tuple[str, ...]:
    start, stop = block.get("start"), block.get("stop")
    known = lines is not None and isinstance(start, int) and isinstance(stop, int)
    return constructs(lines, start, stop) if known else ()  # type: ignore[arg-type]


def _first_wrong(found: Summary, verdict: Mapping[str, Any], lines: Sequence[str] | None) -> None:
    trace = _trace(verdict)
    if trace is None:
        return
    found.traces += 1
    first = trace.get("first_wrong")
    count = len(trace["deltas"])
    if isinstance(first, int):
        found.first_wrong[min(BINS - 1, BINS * first // count)] += 1
    for place, block in enumerate(trace["blocks"][: first + 1 if isinstance(first, int) else None]):
        wrong = fault(block, lines) if place == first else ()
        written = not (MISSING in wrong or COPIED in wrong)
        for kind in (MISSING, COPIED):
            _count(found.wrong_at, kind, kind in wrong)
        for kind in _constructs_of(block, lines) if written else ():
            _count(found.wrong_at, kind, kind in wrong)


def _count(counts: dict[str, list[int]], kind: str, wrong: bool) -> None:
    row = counts.setdefault(kind, [0, 0])
    row[0] += wrong
    row[1] += 1
