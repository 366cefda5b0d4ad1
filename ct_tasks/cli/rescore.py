"""Score a finished run's samples again with today's scorers, and say which verdicts changed and why.

    python -m ct_tasks rescore runs/base --out rescored.json

Works on the samples_*.jsonl of any lm_eval run of a ct_* task; the folder itself is not changed.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.base import Answer
from ct_tasks.cli.score import summary
from ct_tasks.errors import ConfigError
from ct_tasks.options import TaskOptions
from ct_tasks.reports.read import Run, read_runs, read_samples


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="RUN_DIR")
    parser.add_argument("--out", type=Path, help="write all verdicts there (JSON)")


def main(args: argparse.Namespace) -> int:
    runs, problems = read_runs([args.folder])
    results: dict[str, Any] = {}
    for run in runs:
        for task, result in run.tasks.items():
            if task not in registry.TASKS:
                problems.append(f"{task} is not a task of ours and cannot be scored again")
            elif result.samples is None:
                problems.append(f"{task} in {run.path} has no samples; run lm_eval with --log_samples")
            else:
                results[f"{run.name} {task}"] = _rescore(run, task, result.samples, problems)
    for problem in problems:
        print(problem, file=sys.stderr)
    if not results:
        raise ConfigError(f"{args.folder} holds nothing that can be scored again")
    if args.out:
        args.out.write_text(json.dumps(results, indent=1) + "\n")
    return 0


def _rescore(run: Run, task: str, path: Path, problems: list[str]) -> dict[str, Any]:
    benchmark = registry.get(task)
    options = TaskOptions.from_mapping({k: v for k, v in run.options.items() if v is not None})
    items = {i.id: i for i in benchmark.items(options)}
    samples = [s for s in read_samples(path, problems) if s.id in items]
    answers = [
        Answer(items[s.id], reply, truncated=v.get("status") == "truncated" or None)
        for s in samples
        for reply, v in _paired(s.replies, s.verdicts)
    ]
    scores = iter(benchmark.score(answers, options))
    verdicts = {}
    changes = []
    for sample in samples:
        verdicts[sample.id] = [next(scores) for _ in sample.replies]
        for number, (old, new) in enumerate(zip(sample.verdicts, verdicts[sample.id], strict=False)):
            if old.get("status") and old["status"] != new.status:
                changes.append(
                    {
                        "id": sample.id,
                        "reply": number,
                        "was": old["status"],
                        "is": new.status,
                        "why": new.reason,
                        "was_because": old.get("reason", ""),
                    }
                )
    metrics = summary(verdicts) if verdicts else {}
    acc = "none" if metrics.get("acc") is None else f"{metrics['acc']:.4f}"
    print(f"{run.name} {task}: {len(samples)} samples, acc {acc}, {len(changes)} verdicts changed")
    for change in changes[:20]:
        print(f"    {change['id']} reply {change['reply']}: {change['was']} -> {change['is']}: {change['why'][:120]}")
    return {
        "metrics": metrics,
        "changes": changes,
        "verdicts": {k: [s.to_json() for s in row] for k, row in verdicts.items()},
    }


def _paired(replies: list[str], verdicts: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    return [(reply, verdicts[i] if i < len(verdicts) else {}) for i, reply in enumerate(replies)]
