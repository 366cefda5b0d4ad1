"""Score generations that already exist; no model is needed.

    python -m ct_tasks score ct_cruxeval_o generations.json.gz --answers --out verdicts.json
    python -m ct_tasks score ct_cruxeval_x_java phi-1_java.json.gz --out verdicts.json

FILE is JSON, JSON lines or gzip: {id: [text, ...]}, an official result file (raw_generations), a samples_*.jsonl of
lm-eval, or CRUXEval-X's per-language file ({"output": [{"id", "code", ...}]}, whole programs). --answers says that the
texts are answers already, not replies. Ids that the task does not have are counted and left out.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.base import Answer
from ct_tasks.benchmarks.generations import read_generations
from ct_tasks.errors import ConfigError
from ct_tasks.options import PARADIGMS, TaskOptions
from ct_tasks.score import STATUSES, Score


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", help="a ct_* task")
    parser.add_argument("file", type=Path, help="the generations")
    parser.add_argument("--answers", action="store_true", help="the texts are extracted answers")
    parser.add_argument("--paradigm", choices=PARADIGMS, help="the format of raw replies (default: the task's own)")
    parser.add_argument("--segmentation", help="how ConTra cuts programs into blocks")
    parser.add_argument("--out", type=Path, required=True, help="where the verdicts go (JSON)")


def main(args: argparse.Namespace) -> int:
    benchmark = registry.get(args.task)
    given = {k: v for k, v in (("paradigm", args.paradigm), ("segmentation", args.segmentation)) if v}
    options = TaskOptions.from_mapping(given)
    items = {item.id: item for item in benchmark.items(options)}
    generations = read_generations(args.file, benchmark)
    known = {key: texts for key, texts in generations.items() if key in items}
    if not known:
        some = ", ".join(list(generations)[:3])
        raise ConfigError(f"{args.file}: none of its {len(generations)} ids ({some} ...) is an item of {args.task}")
    answers: list[Answer] = []
    for key, rows in known.items():
        for row in rows:
            extracted = args.answers or row.extracted
            answers.append(Answer(items[key], row.text, extracted, row.truncated, row.thinking, row.extra))
    scores = iter(benchmark.score(answers, options))
    verdicts = {key: [next(scores) for _ in rows] for key, rows in known.items()}
    metrics = {**summary(verdicts), "items": len(known), "unknown_ids": len(generations) - len(known)}
    out = {
        "task": args.task,
        "options": options.to_json(),
        "metrics": metrics,
        "verdicts": {key: [s.to_json() for s in row] for key, row in verdicts.items()},
    }
    try:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(out, indent=1) + "\n")
    except OSError as error:
        raise ConfigError(f"cannot write {args.out}: {error}") from None
    print(f"{args.task}: " + ", ".join(f"{k} {v:.4g}" for k, v in metrics.items() if v is not None))
    if metrics["unknown_ids"]:
        print(
            f"{metrics['unknown_ids']} ids of {args.file} are not items of {args.task} and were left out",
            file=sys.stderr,
        )
    return 0


def summary(verdicts: dict[str, list[Score]]) -> dict[str, Any]:
    """Means over items of the mean over their texts, as the published numbers are made. A harness error is no verdict."""
    rows = [row for row in verdicts.values() if row]
    judged = [[s.acc for s in row if s.status != "harness_error"] for row in rows]
    metrics: dict[str, Any] = {
        "acc": statistics.fmean(statistics.fmean(r) for r in judged if r) if any(judged) else None
    }
    official = [[s.acc_official for s in row if s.acc_official is not None] for row in rows]
    metrics["acc_official"] = statistics.fmean(statistics.fmean(r) for r in official if r) if any(official) else None
    for status in STATUSES:
        metrics[status] = statistics.fmean(statistics.fmean(s.status == status for s in row) for row in rows)
    for name in dict.fromkeys(key for row in rows for s in row for key in s.values):
        values = [float(v) for row in rows for s in row if (v := s.values.get(name)) is not None]
        metrics[name] = statistics.fmean(values) if values else None
    return metrics
