"""A run's folder with new verdicts in it: what ``rescore --out DIR`` writes, and what every reader of results reads."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ct_tasks import __version__
from ct_tasks.benchmarks import registry
from ct_tasks.options import TaskOptions
from ct_tasks.reports.read import Run, identity_of
from ct_tasks.score import Score

FILTER = "score"  # the name that lm-eval puts behind each metric of ours
# What an evaluation knew of a reply and no scorer finds out again: it stays in the verdict.
RECORDED = ("tokens_out", "ending")


@dataclass(frozen=True)
class Rescored:
    """One task of one run: the new scores of each sample, in the order of its replies."""

    options: TaskOptions
    scores: Mapping[str, Sequence[Score]]


def write_run(run: Run, found: Mapping[str, Rescored], folder: Path, out: Path) -> Path:
    """Write the run's results and samples below ``out``, at the place that they have below ``folder``; returns the results file.

    Tasks that are not ours keep what they had. Tasks of ours without new scores are left out: one folder holds one scorer's
    verdicts. ``out`` may be ``folder`` itself; each file is replaced whole.
    """
    data = json.loads(run.path.read_text())
    place = out / (run.path.resolve().relative_to(folder.resolve()) if folder.is_dir() else Path(run.path.name))
    place.parent.mkdir(parents=True, exist_ok=True)
    dropped = [t for t in run.tasks if t in registry.TASKS and t not in found]
    for task, result in run.tasks.items():
        if result.samples is None or task in dropped:
            continue
        target = place.with_name(result.samples.name)
        if task not in found:
            _replace(target, result.samples.read_text(encoding="utf-8", errors="surrogateescape"))
            continue
        rows = _rows(result.samples, found[task])
        _replace(target, "".join(json.dumps(row) + "\n" for row in rows))
        _record(data, task, found[task], rows)
    for part in ("results", "configs", "versions", "n-samples", "higher_is_better", "n-shot"):
        for task in dropped:
            (data.get(part) or {}).pop(task, None)
    data["rescored"] = {"codethinker-eval": __version__}
    _replace(place, json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    return place


def _rows(path: Path, found: Rescored) -> list[dict[str, Any]]:
    """The samples with their new verdicts and numbers; lines that no score belongs to are left out."""
    from ct_tasks.lm_eval import metrics  # imports lm_eval, which takes seconds

    out: dict[str, dict[str, Any]] = {}
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            row = json.loads(line)
            key = identity_of(row)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # named when the samples were read
        if key not in found.scores or key in out:
            continue
        old = [json.loads(v) for group in row.get("filtered_resps") or [] for v in group]
        new = [_verdict(s, old[i] if i < len(old) else {}) for i, s in enumerate(found.scores[key])]
        numbers = metrics.of_document(new, found.options.repeats)
        kept = {k: v for k, v in row.items() if k not in (row.get("metrics") or ())}
        out[key] = {**kept, "filtered_resps": [[json.dumps(v) for v in new]], "metrics": list(numbers), **numbers}
    return list(out.values())


def _verdict(score: Score, old: Mapping[str, Any]) -> dict[str, Any]:
    return {**score.to_json(), **{k: old[k] for k in RECORDED if k in old}}


def _record(data: dict[str, Any], task: str, found: Rescored, rows: Sequence[Mapping[str, Any]]) -> None:
    """The task's means, their standard errors and its version, as lm-eval records them."""
    from lm_eval.api.metrics import stderr_for_metric

    from ct_tasks.lm_eval import metrics

    benchmark = registry.get(task)
    before = data["results"][task]
    result = {k: before[k] for k in ("name", "alias") if k in before} | {"sample_len": len(rows)}
    declared = metrics.declared(benchmark.domain, found.options.repeats, benchmark.name)
    for metric in declared:
        values = [row[metric["metric"]] for row in rows if metric["metric"] in row["metrics"]]
        if not values:
            continue
        error = stderr_for_metric(metric["aggregation"], 1)
        result[f"{metric['metric']},{FILTER}"] = metric["aggregation"](values)
        result[f"{metric['metric']}_stderr,{FILTER}"] = error(values) if error and len(values) > 1 else "N/A"
    data["results"][task] = result
    data.setdefault("versions", {})[task] = benchmark.version
    data.setdefault("higher_is_better", {})[task] = {m["metric"]: m["higher_is_better"] for m in declared}
    data.setdefault("n-samples", {}).setdefault(task, {})["effective"] = len(rows)
    metadata = (data.get("configs") or {}).get(task, {}).get("metadata")
    if isinstance(metadata, dict):
        metadata |= {"version": benchmark.version, "ct_version": __version__}


def _replace(path: Path, text: str) -> None:
    part = path.with_name(f"{path.name}.part")
    part.write_text(text, encoding="utf-8", errors="surrogateescape")
    os.replace(part, path)
