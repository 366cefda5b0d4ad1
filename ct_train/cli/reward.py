"""Score saved rollouts with any reward.

    python -m ct_train reward rollouts.jsonl --reward codethinker --json
    python -m ct_train reward rollouts.jsonl --reward codethinker alpha=0.5 rcc=false

Rows are {"program", "call", "completion"}; --json prints a line a row: {"reward", "r_proc", "r_res", "fmt", "delta": [...]}.
ExecVerify's white-box questions are those of a row's "questions", else those that its training prompt asks.
A row whose program has no trace, or that could not be scored, has "reward": null and says why.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ct_tasks.contra.trace import Truth
from ct_tasks.errors import ConfigError, DataError, TraceError
from ct_tasks.execution.tracing import Call, trace_all
from ct_tasks.options import SEGMENTATIONS
from ct_train.rewards import REWARDS
from ct_train.rewards.batch import BatchScorer, text_of
from ct_train.rewards.whitebox import questions_for


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="JSON lines with program, call and completion")
    parser.add_argument("--reward", default="codethinker", help=f"one of {', '.join(REWARDS)}")
    parser.add_argument("--segmentation", default="statement", choices=SEGMENTATIONS)
    parser.add_argument("--json", action="store_true", help="one JSON line a row")
    parser.add_argument(
        "options", nargs="*", metavar="key=value", help="options of the reward, e.g. alpha=0.5 orm=false"
    )


def main(args: argparse.Namespace) -> int:
    given = {}
    for text in args.options:
        key, equals, value = text.partition("=")
        if not equals:
            raise ConfigError(f"{text!r} is not key=value")
        given[key] = yaml.safe_load(value)
    scorer = BatchScorer(args.reward, given)
    rows = _read(args.file)
    truths = trace_all([Call(r["program"], r["call"], r.get("entry")) for r in rows], segmentation=args.segmentation)
    usable = [i for i, t in enumerate(truths) if not isinstance(t, TraceError)]
    known = [t for t in truths if not isinstance(t, TraceError)]
    asked = _asked([rows[i] for i in usable], known) if args.reward == "execverify" else None
    results = scorer.score(
        [text_of(rows[i]["completion"]) for i in usable], [json.dumps(t.to_json()) for t in known], asked
    )
    by_row = dict(zip(usable, results, strict=True))
    out: list[dict[str, Any]] = []
    for i, truth in enumerate(truths):
        result = by_row.get(i)
        if result is not None:
            out.append(result.to_json())
        else:
            reason = str(truth) if isinstance(truth, TraceError) else scorer.last_error
            out.append({"reward": None, "error": reason})
    if args.json:
        print("\n".join(map(json.dumps, out)))
        return 0
    scored = [r for r in out if r["reward"] is not None]
    print(f"{len(out)} rollouts, {len(out) - len(scored)} not scored")
    if scored:
        for name in ("reward", "r_proc", "r_res", "rcs", "fmt", "answer_right", "hack"):
            print(f"{name:>12}  mean {statistics.fmean(float(r[name]) for r in scored):.4f}")
    for i, row in enumerate(out):
        if row["reward"] is None:
            print(f"row {i + 1}: {row['error'][:120]}", file=sys.stderr)
    return 0


def _asked(rows: Sequence[dict[str, Any]], truths: Sequence[Truth]) -> list[Sequence[Mapping[str, Any]]]:
    made = iter(questions_for([t for row, t in zip(rows, truths, strict=True) if "questions" not in row]))
    return [row["questions"] if "questions" in row else next(made) for row in rows]


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {path}: {error}") from None
    rows = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise DataError(f"{path}:{number} is not JSON: {error}") from None
        missing = [k for k in ("program", "call", "completion") if not isinstance(row, dict) or k not in row]
        if missing:
            raise DataError(f"{path}:{number} has no {', '.join(missing)}")
        rows.append(row)
    if not rows:
        raise DataError(f"{path} holds no rows")
    return rows
