"""The leaderboard as rows, and as Markdown, CSV, LaTeX and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from ct_tasks.reports.consistency import NAME, run_consistency
from ct_tasks.reports.read import Run
from ct_tasks.reports.statistics import wilson

HEADLINE = ("acc", "acc_official", "rcs", "hack_rate", "tokens_out")
_FALLBACK = ("acc", "exact_match", "pass@1", "pass_at_1", "acc_norm", "f1")
# The paper's prose numbers (QC-7B average over CRUXEval-O, LCB-O and REval-FO); a reference, never a result of ours.
PAPER = (
    ("CodeThinker (paper)", 82.57), ("CodeReasoner (paper)", 79.20), ("ExecVerify (paper)", 77.41), ("w/o DBS (paper)", 81.48), ("w/o RL (paper)", 72.68),
)  # fmt: skip


def rows(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """One row a run and task, with Wilson's interval of the accuracy."""
    out = []
    for run in runs:
        for name, task in run.tasks.items():
            headline = next((m for m in _FALLBACK if m in task.metrics), next(iter(task.metrics), None))
            value = task.metrics.get(headline) if headline else None
            interval = wilson(value * task.n, task.n) if value is not None and 0 <= value <= 1 else None
            out.append({
                "run": run.name, "model": run.model, "stage": run.stage, "paradigm": run.paradigm, "task": name, "n": task.n, "headline": headline,
                "value": value, "low": interval[0] if interval else None, "high": interval[1] if interval else None, "metrics": task.metrics,
                "stderr": task.errors, "seconds": run.seconds, "date": run.date,
            })  # fmt: skip
        consistency = run_consistency(run)
        if consistency is not None:
            strict, official, probes = consistency
            metrics = {"ic": strict, **({} if official is None else {"ic_official": official})}
            out.append({
                "run": run.name, "model": run.model, "stage": run.stage, "paradigm": run.paradigm, "task": NAME, "n": probes, "headline": "ic",
                "value": strict / 100, "low": None, "high": None, "metrics": metrics, "stderr": {}, "seconds": None, "date": run.date,
            })  # fmt: skip
    return out


def grid(table: Sequence[dict[str, Any]]) -> tuple[list[str], list[str], dict[tuple[str, str], dict[str, Any]]]:
    """Runs down, tasks across; a later run of the same name and task replaces an earlier one."""
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
            cell = cells.get((name, task))
            if cell and cell["value"] in values[:2]:
                found[name, task] = values.index(cell["value"]) + 1
    return found


def markdown(table: Sequence[dict[str, Any]]) -> str:
    """Best bold, second best underlined, interval in brackets, and a second table with the other metrics."""
    names, tasks, cells = grid(table)
    marked = ranks(table)
    lines = ["| run | " + " | ".join(tasks) + " |", "|---|" + "---:|" * len(tasks)]
    for name in names:
        shown = []
        for task in tasks:
            cell = cells.get((name, task))
            if cell is None or cell["value"] is None:
                shown.append("–")
                continue
            text = f"{100 * cell['value']:.2f}" if 0 <= cell["value"] <= 1 else f"{cell['value']:.2f}"
            text = {1: f"**{text}**", 2: f"<u>{text}</u>"}.get(marked.get((name, task), 0), text)
            shown.append(
                text + (f" [{100 * cell['low']:.1f}, {100 * cell['high']:.1f}]" if cell["low"] is not None else "")
            )
        lines.append(f"| {_cell(name)} | " + " | ".join(shown) + " |")
    metrics = list(dict.fromkeys(m for r in table for m in r["metrics"]))
    lines += ["", "| run | task | n | " + " | ".join(metrics) + " |", "|---|---|---:|" + "---:|" * len(metrics)]
    for row in table:
        values = [f"{row['metrics'][m]:.4g}" if m in row["metrics"] else "–" for m in metrics]
        lines.append(f"| {_cell(row['run'])} | {row['task']} | {row['n']} | " + " | ".join(values) + " |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def as_csv(table: Sequence[dict[str, Any]]) -> str:
    """One line a run, task and metric."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["model", "stage", "paradigm", "task", "n", "metric", "value", "stderr", "ci_low", "ci_high"])
    for row in table:
        for metric, value in row["metrics"].items():
            interval = (row["low"], row["high"]) if metric == row["headline"] else ("", "")
            writer.writerow(
                [
                    row["model"],
                    row["stage"],
                    row["paradigm"],
                    row["task"],
                    row["n"],
                    metric,
                    value,
                    row["stderr"].get(metric, ""),
                    *interval,
                ]
            )
    return out.getvalue()


_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "·": r"$\cdot$",
    "–": "--",
}


def _tex(text: str) -> str:
    return "".join(_LATEX.get(c, c if ord(c) < 128 else "?") for c in text)


def latex(table: Sequence[dict[str, Any]]) -> str:
    """A booktabs table: best bold, second best underlined, as in the paper. Needs ``\\usepackage{booktabs}``."""
    names, tasks, cells = grid(table)
    marked = ranks(table)
    lines = [
        "% \\usepackage{booktabs}",
        "\\begin{tabular}{l" + "r" * len(tasks) + "}",
        "\\toprule",
        " & ".join(["Model", *map(_tex, tasks)]) + r" \\",
        "\\midrule",
    ]
    for name in names:
        shown = [_tex(name)]
        for task in tasks:
            cell = cells.get((name, task))
            if cell is None or cell["value"] is None:
                shown.append("--")
                continue
            text = f"{100 * cell['value']:.2f}" if 0 <= cell["value"] <= 1 else f"{cell['value']:.2f}"
            shown.append({1: rf"\textbf{{{text}}}", 2: rf"\underline{{{text}}}"}.get(marked.get((name, task), 0), text))
        lines.append(" & ".join(shown) + r" \\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def as_json(table: Sequence[dict[str, Any]]) -> str:
    return json.dumps({"rows": list(table), "paper": [{"run": n, "average": v} for n, v in PAPER]}, indent=1) + "\n"
