"""The leaderboard as rows, and as Markdown, CSV, LaTeX and JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ct_tasks.reports.consistency import NAME, run_consistency
from ct_tasks.reports.glossary import shown as number_of
from ct_tasks.reports.glossary import word
from ct_tasks.reports.multilingual import averages
from ct_tasks.reports.paper import PAPER
from ct_tasks.reports.read import Run
from ct_tasks.reports.statistics import wilson
from ct_tasks.reports.summary import Summary

_FALLBACK = ("acc", "exact_match", "pass@1", "pass_at_1", "acc_norm", "f1")
AVERAGE = "\0average"  # no task's name
Summaries = Mapping[tuple[str, str], Summary]  # by (Run.key, task)


def rows(runs: Sequence[Run], summaries: Summaries | None = None) -> list[dict[str, Any]]:
    """One row a run and task: the headline with Wilson's interval and, where there are samples, the one over programs
    (``clustered``); every metric; shares of statuses, spread between repeats, cost, and the window of dated problems."""
    out = []
    for run in runs:
        for name, task in run.tasks.items():
            headline = next((m for m in _FALLBACK if m in task.metrics), next(iter(task.metrics), None))
            value = task.metrics.get(headline) if headline else None
            interval = wilson(value * task.n, task.n) if value is not None and 0 <= value <= 1 else None
            found = (summaries or {}).get((run.key, name)) or Summary()
            low, high = interval or (None, None)
            out.append({
                **_of(run), "task": name, "n": task.n, "headline": headline, "value": value, "low": low, "high": high,
                "clustered": list(found.clustered) if found.clustered and headline == "acc" else None, "clusters": found.clusters,
                "metrics": task.metrics, "stderr": task.errors, "higher": task.higher, "shares": found.shares, "spread": found.spread,
                "repeats": found.repeats, "window": found.window, "months": sorted(found.monthly), "seconds": run.seconds,
                "derived": False,
            })  # fmt: skip
    for run in _whole(runs):
        out += [_derived(run, name, n, "acc", means.get("acc"), means) for name, means, n in averages(run)]
        consistency = run_consistency(run)
        if consistency is not None:
            strict, official, probes = consistency
            metrics = {"ic": strict, **({} if official is None else {"ic_official": official})}
            out.append(_derived(run, NAME, probes, "ic", strict / 100, metrics))
    return out


def _whole(runs: Sequence[Run]) -> list[Run]:
    """Runs that share their name are parts of one evaluation (see ``names``): all their tasks together."""
    found: dict[str, Run] = {}
    for run in runs:
        first = found.get(run.name)
        found[run.name] = replace(first, tasks={**first.tasks, **run.tasks}) if first else run
    return list(found.values())


def _of(run: Run) -> dict[str, Any]:
    return {
        "key": run.key, "run": run.name, "model": run.model, "family": run.identity.family, "stage": run.stage, "paradigm": run.paradigm,
        "date": run.date,
    }  # fmt: skip


def _derived(
    run: Run, name: str, n: int, headline: str, value: float | None, metrics: dict[str, float]
) -> dict[str, Any]:
    """A row that stands for several tasks together: no interval, for their samples do not stand for one another."""
    return {
        **_of(run), "task": name, "n": n, "headline": headline, "value": value, "low": None, "high": None, "clustered": None, "clusters": 0, "metrics": metrics,
        "stderr": {}, "higher": {}, "shares": {}, "spread": None, "repeats": 0, "window": None, "months": [], "seconds": None,
        "derived": True,
    }  # fmt: skip


def grid(table: Sequence[dict[str, Any]]) -> tuple[list[str], list[str], dict[tuple[str, str], dict[str, Any]]]:
    """Runs down, tasks across. No two runs that share a task share a name (see ``names``)."""
    names = list(dict.fromkeys(r["run"] for r in table))
    tasks = list(dict.fromkeys(r["task"] for r in table))
    return names, tasks, {(r["run"], r["task"]): r for r in table}


def averages_of(table: Sequence[dict[str, Any]]) -> dict[str, tuple[float, float | None, float | None] | None]:
    """Run name to the mean over all tasks of the table, each counting the same, with a 95 % interval; ``None`` for a run that
    lacks a task. Empty where there are fewer than two tasks, or one whose headline is no share.

    The interval adds the tasks' own up by squares (Zou and Donner 2008: MOVER), with theirs over programs where known. Rows
    that stand for several tasks together (an average over languages) are not counted again.
    """
    names, _, cells = grid(table)
    tasks = list(dict.fromkeys(r["task"] for r in table if not r["derived"]))
    found: dict[str, tuple[float, float | None, float | None] | None] = {}
    if len(tasks) < 2 or any(r["value"] is not None and not 0 <= r["value"] <= 1 for r in table if not r["derived"]):
        return found
    for name in names:
        rows = [cells.get((name, t)) for t in tasks]
        values = [r["value"] for r in rows if r and r["value"] is not None]
        if len(values) < len(tasks):
            found[name] = None
            continue
        mean = sum(values) / len(values)
        ends = [r["clustered"] or (r["low"], r["high"]) for r in rows if r]
        if any(None in e for e in ends):
            found[name] = mean, None, None
            continue
        below, above = (math.hypot(*(v - e[side] for v, e in zip(values, ends, strict=True))) / len(values) for side in (0, 1))
        found[name] = mean, max(0.0, mean - below), min(1.0, mean + above)
    return found


def ranks(table: Sequence[dict[str, Any]]) -> dict[tuple[str, str], int]:
    """1 for the best value of a task, 2 for the second best (ties share); only where more than one run has it. The average
    stands under the task ``AVERAGE``."""
    names, tasks, cells = grid(table)
    columns = {t: {n: cells[n, t]["value"] for n in names if (n, t) in cells} for t in tasks}
    columns[AVERAGE] = {n: found[0] for n, found in averages_of(table).items() if found}
    out: dict[tuple[str, str], int] = {}
    for task, column in columns.items():
        values = sorted({v for v in column.values() if v is not None}, reverse=True)
        if len(values) > 1:
            out |= {(n, task): values.index(v) + 1 for n, v in column.items() if v in values[:2]}
    return out


@dataclass(frozen=True)
class Wide:
    """The leaderboard in words: a header a column, and a row a run of ``(number, plus or minus, n where the header does not
    say it)``; ``rank`` as in ``ranks``. ``None`` where a run has no such result."""

    heads: list[str]
    rows: list[tuple[str, list[tuple[str, str, str] | None]]]
    rank: list[list[int]]


def wide(table: Sequence[dict[str, Any]]) -> Wide:
    """Runs down; the average, then tasks across. Plus or minus is the longer side of the 95 % interval, over programs where the
    samples tell them; ``n`` stands in the head where all runs have as many."""
    names, tasks, cells = grid(table)
    averages, marked = averages_of(table), ranks(table)
    sizes = {t: {r["n"] for r in table if r["task"] == t} for t in tasks}
    heads = ["Average"] if averages else []
    heads += [f"{t} (n={min(sizes[t])})" if len(sizes[t]) == 1 and min(sizes[t]) else t for t in tasks]
    rows, rank = [], []
    for name in names:
        shown: list[tuple[str, str, str] | None] = []
        if averages:
            found = averages[name]
            shown.append(None if found is None else (f"{100 * found[0]:.2f}", _spread(*found), ""))
        for task in tasks:
            row = cells.get((name, task))
            if row is None or row["value"] is None:
                shown.append(None)
                continue
            low, high = row["clustered"] or (row["low"], row["high"])
            number = f"{100 * row['value']:.2f}" if 0 <= row["value"] <= 1 else f"{row['value']:.2f}"
            shown.append((number, _spread(row["value"], low, high), str(row["n"]) if len(sizes[task]) > 1 else ""))
        rows.append((name, shown))
        rank.append([marked.get((name, t), 0) for t in ([AVERAGE] if averages else []) + tasks])
    return Wide(heads, rows, rank)


def _spread(value: float, low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{100 * max(value - low, high - value):.1f}"


def markdown(table: Sequence[dict[str, Any]]) -> str:
    """Best bold, second best underlined, ± the 95 % interval, and a second table with every metric, shares in percent."""
    found = wide(table)
    lines = ["| run | " + " | ".join(map(cell, found.heads)) + " |", "|---|" + "---:|" * len(found.heads)]
    for (name, row), marks in zip(found.rows, found.rank, strict=True):
        shown = []
        for entry, mark in zip(row, marks, strict=True):
            if entry is None:
                shown.append("–")
                continue
            number, spread, n = entry
            text = {1: f"**{number}**", 2: f"<u>{number}</u>"}.get(mark, number)
            shown.append(text + (f" ± {spread}" if spread else "") + (f" (n={n})" if n else ""))
        lines.append(f"| {cell(name)} | " + " | ".join(shown) + " |")
    metrics = list(dict.fromkeys(m for r in table for m in r["metrics"]))
    heads = [m + (" %" if (known := word(m)) and known.share else "") for m in metrics]
    lines += ["", "| run | task | n | " + " | ".join(map(cell, heads)) + " |", "|---|---|---:|" + "---:|" * len(metrics)]
    for r in table:
        values = [number_of(m, r["metrics"][m]) if m in r["metrics"] else "–" for m in metrics]
        lines.append(f"| {cell(r['run'])} | {cell(r['task'])} | {r['n']} | " + " | ".join(values) + " |")
    return "\n".join(lines) + "\n"


def cell(text: str) -> str:
    """A name inside a Markdown table: one line, nothing of it is markup."""
    text = "".join(c if c.isprintable() else " " for c in text)
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`").replace("*", "\\*")


def plain(text: str) -> str:
    """A name on one line, without control characters, that no spreadsheet takes for a formula."""
    text = "".join(c if c.isprintable() else " " for c in text)
    return "'" + text if text.startswith(("=", "+", "-", "@")) else text


def as_csv(table: Sequence[dict[str, Any]]) -> str:
    """One line a run, task and metric."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([
        "run", "model", "stage", "paradigm", "task", "n", "metric", "value", "stderr", "ci_low", "ci_high", "clustered_low", "clustered_high",
    ])  # fmt: skip
    for row in table:
        for metric, value in row["metrics"].items():
            first = metric == row["headline"]
            interval = [row["low"], row["high"], *(row["clustered"] or ("", ""))] if first else [""] * 4
            names = [plain(row[k]) for k in ("run", "model", "stage", "paradigm", "task")]
            writer.writerow([*names, row["n"], metric, value, row["stderr"].get(metric, ""), *interval])
    return out.getvalue()


def as_json(table: Sequence[dict[str, Any]]) -> str:
    """The rows as they are, and the paper's numbers beside them."""
    return json.dumps({"rows": list(table), "paper": [number.to_json() for number in PAPER]}, indent=1) + "\n"
