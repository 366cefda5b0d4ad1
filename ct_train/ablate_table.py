"""The ablation's results as a table: a row a setting, mean ± half the 95 % t-interval over seeds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

COLUMNS: tuple[tuple[str, tuple[str, ...], float], ...] = (
    ("exact T=1 %", ("sampled", "exact"), 100),
    ("exact greedy %", ("greedy", "exact"), 100),
    ("RCS T=1 %", ("sampled", "rcs"), 100),
    ("whole T=1 %", ("sampled", "whole"), 100),
    ("fmt T=1 %", ("sampled", "fmt"), 100),
    ("hack T=1 %", ("sampled", "hack"), 100),
    ("group mean", ("training", "reward"), 1),
    ("group max", ("training", "group_max"), 1),
    ("hack in training %", ("training", "hack_rate"), 100),
    ("tokens generated", ("training", "generated_tokens"), 1),
)


def table(results: Sequence[Mapping[str, Any]]) -> str:
    """Markdown; a column for each task that lm_eval measured, and one for each figure that some row has."""
    tasks = dict.fromkeys(task for r in results for task in r.get("tasks", {}))
    columns: list[tuple[str, tuple[str, ...], float]] = [(f"{task} %", ("tasks", task), 100) for task in tasks]
    columns += [c for c in COLUMNS if any(True for _ in _values(results, c[1]))]
    lines = ["| row | seeds | " + " | ".join(c[0] for c in columns) + " |", "|---|" + "---:|" * (len(columns) + 1)]
    for row in dict.fromkeys(str(r["row"]) for r in results):
        mine = [r for r in results if r["row"] == row]
        cells = [_cell(list(_values(mine, path)), scale) for _, path, scale in columns]
        lines.append(f"| {row} | {len(mine)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _values(results: Sequence[Mapping[str, Any]], path: Sequence[str]) -> Iterator[float]:
    for result in results:
        value: Any = result
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None:
            yield float(value)


def _cell(values: Sequence[float], scale: float) -> str:
    if not values:
        return ""
    mean = statistics.fmean(values) * scale
    digits = 0 if mean >= 1000 else 2 if scale == 1 else 1
    if len(values) < 2:
        return f"{mean:.{digits}f}"
    return f"{mean:.{digits}f} ± {interval(values) * scale:.{digits}f}"


def interval(values: Sequence[float]) -> float:
    """Half the width of the 95 % t-interval of the mean."""
    from scipy.stats import t

    return float(t.ppf(0.975, len(values) - 1)) * statistics.stdev(values) / math.sqrt(len(values))
