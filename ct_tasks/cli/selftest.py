"""Gold answers as raw text must score 100 %, hostile answers 0 %, in the strict and in the flexible reading.

    python -m ct_tasks selftest
    python -m ct_tasks selftest ct_cruxeval_o ct_mini --paradigm cot --json

Tasks whose data, tool chain or engine is not there are listed as skipped with the reason; name a task to make that an
error. Exit code 1 unless every gold and no hostile answer is right.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.base import Answer, Benchmark, Item
from ct_tasks.errors import DataError, HarnessError, UnknownNameError
from ct_tasks.options import PARADIGMS, TaskOptions
from ct_tasks.score import Score


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="tasks or groups; all when none is named")
    parser.add_argument("--paradigm", choices=PARADIGMS, help="the answer format (default: each task's own)")
    parser.add_argument("--limit", type=int, help="only the first N items of each task")
    parser.add_argument(
        "--hostile-items", type=int, default=3, help="items that meet the whole hostile corpus (default 3)"
    )
    parser.add_argument("--json", action="store_true", help='{task: {"gold": [right, n], "hostile": [right, n]}}')


def main(args: argparse.Namespace) -> int:
    names = expand(args.tasks)
    options = TaskOptions.from_mapping({"paradigm": args.paradigm} if args.paradigm else {})
    results: dict[str, Any] = {}
    skipped: dict[str, str] = {}
    clean = True
    for name in names:
        benchmark = registry.get(name)
        if args.paradigm and args.paradigm not in benchmark.paradigms:
            skipped[name] = f"has no paradigm {args.paradigm}"
            continue
        try:
            row = check(benchmark, options, args.limit, args.hostile_items)
        except (DataError, HarnessError) as error:
            if args.tasks:
                raise
            skipped[name] = str(error)
            continue
        results[name] = {"gold": row["gold"], "hostile": row["hostile"]}
        clean = clean and row["gold"][0] == row["gold"][1] and row["hostile"][0] == 0
        if not args.json:
            print(
                f"{name}: gold {row['gold'][0]}/{row['gold'][1]}, hostile {row['hostile'][0]}/{row['hostile'][1]}",
                flush=True,
            )
            for problem in row["problems"]:
                print(f"    {problem}", flush=True)
            for item_id, reason in list(row["bad"].items())[:20]:
                print(f"    left out: {item_id}: {reason}", flush=True)
    if args.json:
        print(json.dumps(results, indent=2))
    for name, reason in skipped.items():
        print(f"{name}: skipped: {reason}", file=sys.stderr)
    return 0 if clean and results else 1


def expand(names: Sequence[str]) -> list[str]:
    """Task names, groups replaced by their members. Raises ``UnknownNameError``."""
    if not names:
        return list(registry.TASKS)
    out: list[str] = []
    for name in names:
        if name in registry.GROUPS:
            out.extend(registry.GROUPS[name])
        elif name in registry.TASKS:
            out.append(name)
        else:
            raise UnknownNameError("task", name, [*registry.TASKS, *registry.GROUPS])
    return list(dict.fromkeys(out))


def check(benchmark: Benchmark, options: TaskOptions, limit: int | None, hostile_items: int) -> dict[str, Any]:
    """Score the gold text of every item and the whole hostile corpus on a few, spread over the task."""
    items = benchmark.items(options)
    bad = dict(benchmark.bad_references(options))
    items = [i for i in items if i.id not in bad][:limit]
    gold = benchmark.score([Answer(i, benchmark.gold(i, options)) for i in items], options)
    problems = [
        f"gold of {i.id}: {s.status}, read flexibly {s.status_flexible}: {s.reason}"
        for i, s in zip(items, gold, strict=True)
        if not _right(s)
    ][:20]
    attacks: list[tuple[Item, str, str]] = []
    step = max(1, len(items) // max(1, hostile_items))
    for item in items[::step][:hostile_items]:
        attacks += [(item, kind, text) for kind, text in benchmark.hostile(item, options).items()]
    verdicts = benchmark.score([Answer(item, text) for item, _, text in attacks], options)
    won = [
        f"hostile {kind} on {item.id} scored{'' if s.acc else ' in the flexible reading'}"
        for (item, kind, _), s in zip(attacks, verdicts, strict=True)
        if s.acc or s.acc_flexible
    ]
    return {
        "gold": [sum(map(_right, gold)), len(items)],
        "hostile": [len(won), len(attacks)],
        "problems": problems + won[:20],
        "bad": bad,
    }


def _right(score: Score) -> bool:
    """Right in every reading that the task has."""
    return score.acc and score.acc_flexible is not False
