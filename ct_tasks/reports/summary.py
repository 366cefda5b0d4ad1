"""What the samples of one task of one run say beyond lm-eval's means: one pass over the file."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ct_tasks.reports.items import NOTHING, facts
from ct_tasks.reports.read import Run, Sample, read_samples
from ct_tasks.reports.statistics import clustered_interval

BINS = 10  # tenths of a trace, for where the first error falls
Counts = dict[Any, tuple[float, int]]  # key -> (right, samples); right may be fractional with repeats


@dataclass
class Summary:
    """``clustered``: interval of the accuracy over programs. ``shares``: statuses of all replies. ``spread``: standard
    deviation of the accuracy between repeats. ``months``, ``blocks``, ``complexity``: accuracy by what the item is.
    ``first_wrong``: traces whose first wrong block lies in each tenth of the trace; ``traces``: how many had a verdict."""

    samples: int = 0
    clusters: int = 0
    clustered: tuple[float, float] | None = None
    shares: dict[str, float] = field(default_factory=dict)
    repeats: int = 0
    spread: float | None = None
    window: tuple[str, str] | None = None
    months: Counts = field(default_factory=dict)
    blocks: Counts = field(default_factory=dict)
    complexity: Counts = field(default_factory=dict)
    first_wrong: list[int] = field(default_factory=lambda: [0] * BINS)
    traces: int = 0


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
        for number, verdict in enumerate(sample.verdicts):
            _first_wrong(found, verdict)
            if verdict.get("acc") is not None and verdict.get("status") != "harness_error":
                by_repeat.setdefault(number, []).append(float(verdict["acc"]))
        acc = sample.acc
        if acc is None:
            continue
        values.append(acc)
        groups.append(sample.group)
        fact = known.get(sample.id, NOTHING)
        date = fact.date or _date(sample)
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


def _first_wrong(found: Summary, verdict: Mapping[str, Any]) -> None:
    detail = verdict.get("detail")
    trace = detail.get("trace") if isinstance(detail, dict) else None
    if not isinstance(trace, dict) or not isinstance(deltas := trace.get("deltas"), Sequence) or not deltas:
        return
    found.traces += 1
    first = trace.get("first_wrong")
    if isinstance(first, int):
        found.first_wrong[min(BINS - 1, BINS * first // len(deltas))] += 1


def _date(sample: Sample) -> str | None:
    return sample.date[:10] or None
