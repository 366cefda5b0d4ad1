"""The leaderboard as rows, and as Markdown, CSV, LaTeX and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ct_tasks.reports.consistency import NAME, run_consistency
from ct_tasks.reports.multilingual import averages
from ct_tasks.reports.paper import PAPER
from ct_tasks.reports.read import Run
from ct_tasks.reports.statistics import wilson
from ct_tasks.reports.summary import Summary

_FALLBACK = ("acc", "exact_match", "pass@1", "pass_at_1", "acc_norm", "f1")
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
                "repeats": found.repeats, "window": found.window, "months": {k: list(v) for k, v in sorted(found.months.items())}, "seconds": run.seconds,
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
        "stderr": {}, "higher": {}, "shares": {}, "spread": None, "repeats": 0, "window": None, "months": {}, "seconds": None,
    }  # fmt: skip


def grid(table: Sequence[dict[str, Any]]) -> tuple[list[str], list[str], dict[tuple[str, str], dict[str, Any]]]:
    """Runs down, tasks across. No two runs that share a task share a name (see ``names``)."""
    names = list(dict.fromkeys(r["run"] for r in table))
    tasks = list(dict.fromkeys(r["task"] for r in table))
    return names, tasks, {(r["run"], r["task"]): r for r in table}


def ranks(table: Sequence[dict[str, Any]]) -> dict[tuple[str, str], int]:
    """1 for the best value of a task, 2 for the second best (ties share); only where more than one run has it."""
    names, tasks, cells = grid(table)
    found: dict[tuple[str, str], int] = {}
    for task in tasks:
        values = sorted(
            {cells[n, task]["value"] for n in names if (n, task) in cells and cells[n, task]["value"] is not None},
            reverse=True,
        )
        if len(values) < 2:
            continue
        for name in names:
            row = cells.get((name, task))
            if row and row["value"] in values[:2]:
                found[name, task] = values.index(row["value"]) + 1
    return found


def markdown(table: Sequence[dict[str, Any]]) -> str:
    """Best bold, second best underlined, interval in brackets, and a second table with the other metrics."""
    names, tasks, cells = grid(table)
    marked = ranks(table)
    lines = ["| run | " + " | ".join(map(cell, tasks)) + " |", "|---|" + "---:|" * len(tasks)]
    for name in names:
        shown = []
        for task in tasks:
            row = cells.get((name, task))
            if row is None or row["value"] is None:
                shown.append("–")
                continue
            text = f"{100 * row['value']:.2f}" if 0 <= row["value"] <= 1 else f"{row['value']:.2f}"
            text = {1: f"**{text}**", 2: f"<u>{text}</u>"}.get(marked.get((name, task), 0), text)
            shown.append(
                text + (f" [{100 * row['low']:.1f}, {100 * row['high']:.1f}]" if row["low"] is not None else "")
            )
        lines.append(f"| {cell(name)} | " + " | ".join(shown) + " |")
    metrics = list(dict.fromkeys(m for r in table for m in r["metrics"]))
    lines += ["", "| run | task | n | " + " | ".join(metrics) + " |", "|---|---|---:|" + "---:|" * len(metrics)]
    for row in table:
        values = [f"{row['metrics'][m]:.4g}" if m in row["metrics"] else "–" for m in metrics]
        lines.append(f"| {cell(row['run'])} | {cell(row['task'])} | {row['n']} | " + " | ".join(values) + " |")
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
