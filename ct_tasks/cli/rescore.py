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
from ct_tasks.errors import CodeThinkerError, ConfigError
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
                try:
                    results[f"{run.name} {task}"] = _rescore(run, task, result.samples, problems)
                except CodeThinkerError as error:  # unknown options of another version, data that is not here
                    problems.append(f"{task} in {run.path} cannot be scored again: {error}")
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
    found = list(read_samples(path, problems))
    samples = [s for s in found if s.id in items]
    if len(samples) < len(found):
        unknown = next(s.id for s in found if s.id not in items)
        problems.append(
            f"{path.name}: {len(found) - len(samples)} samples are no items of {task} here, such as {unknown}; they are left out"
        )
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
            if old.get("status") and (old["status"], old.get("acc_official")) != (new.status, new.acc_official):
                changes.append(
                    {
                        "id": sample.id,
                        "reply": number,
                        "was": old["status"],
                        "is": new.status,
                        "official": [old.get("acc_official"), new.acc_official],
                        "why": new.reason,
                        "was_because": old.get("reason", ""),
                    }
                )
    metrics = summary(verdicts) if verdicts else {}
    acc = "none" if metrics.get("acc") is None else f"{metrics['acc']:.4f}"
    before = run.tasks[task].metrics.get("acc")
    was = "" if before is None else f" (was {before:.4f})"
    print(f"{run.name} {task}: {len(samples)} samples, acc {acc}{was}, {len(changes)} verdicts changed")
    for change in changes[:20]:
        print(f"    {change['id']} reply {change['reply']}: {_told(change)}")
    return {
        "metrics": metrics,
        "changes": changes,
        "verdicts": {k: [s.to_json() for s in row] for k, row in verdicts.items()},
    }


def _told(change: dict[str, Any]) -> str:
    if change["was"] != change["is"]:
        return f"{change['was']} -> {change['is']}: {change['why'][:120] or 'no reason given'}"
    return f"{change['is']}, the published scorer's verdict: {change['official'][0]} -> {change['official'][1]}"


def _paired(replies: list[str], verdicts: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    return [(reply, verdicts[i] if i < len(verdicts) else {}) for i, reply in enumerate(replies)]
