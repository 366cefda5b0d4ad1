"""Compare two runs on the samples that both have: McNemar, paired bootstrap interval, per task and pooled.

    python -m ct_tasks compare runs/base runs/grpo
    python -m ct_tasks compare runs/main runs/branch --fail-if-worse

The interval resamples whole programs (items of one program go together); p-values are Holm-corrected over the tasks.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from ct_tasks.errors import ConfigError
from ct_tasks.reports.read import Run, Sample, read_runs, read_samples
from ct_tasks.reports.statistics import holm, mcnemar, paired_bootstrap


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", type=Path, metavar="DIR_A")
    parser.add_argument("b", type=Path, metavar="DIR_B")
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    parser.add_argument(
        "--fail-if-worse", action="store_true", help="exit 1 when B is worse than A (corrected p < 0.05) in any task"
    )


def main(args: argparse.Namespace) -> int:
    problems: list[str] = []
    a, b = _samples(args.a, problems), _samples(args.b, problems)
    shared = [task for task in a if task in b]
    if not shared:
        raise ConfigError(
            f"{args.a} and {args.b} have no task with samples in common ({', '.join(a) or 'none'}; {', '.join(b) or 'none'})"
        )
    rows = {task: _compare(a[task], b[task]) for task in shared}
    usable = {t: r for t, r in rows.items() if r["n"]}
    if len(usable) > 1:
        pooled_a = {f"{t}/{k}": s for t in usable for k, s in a[t].items()}
        pooled_b = {f"{t}/{k}": s for t in usable for k, s in b[t].items()}
        rows["all tasks"] = _compare(pooled_a, pooled_b)
    corrected = holm({t: r["p"] for t, r in usable.items()})
    for task, row in rows.items():
        row["p_holm"] = corrected.get(task)
    if args.json:
        print(json.dumps(rows, indent=1))
    else:
        for task, row in rows.items():
            print(_sentence(task, row))
    for problem in problems:
        print(problem, file=sys.stderr)
    worse = [t for t, r in usable.items() if r["difference"] < 0 and corrected[t] < 0.05]
    return 1 if args.fail_if_worse and worse else 0


def _samples(folder: Path, problems: list[str]) -> dict[str, dict[str, Sample]]:
    runs, found = read_runs([folder])
    problems += found
    newest: dict[str, Run] = {
        task: run for run in runs for task, result in run.tasks.items() if result.samples is not None
    }
    out = {}
    for task, run in newest.items():
        path = run.tasks[task].samples
        assert path is not None
        out[task] = {s.id: s for s in read_samples(path, problems)}
    return out


def _compare(a: dict[str, Sample], b: dict[str, Sample]) -> dict[str, Any]:
    keys = [k for k in a if k in b and a[k].acc is not None and b[k].acc is not None]
    left, right = [float(a[k].acc or 0) for k in keys], [float(b[k].acc or 0) for k in keys]
    lost = [k for k, x, y in zip(keys, left, right, strict=True) if x > y]
    won = [k for k, x, y in zip(keys, left, right, strict=True) if y > x]
    interval = paired_bootstrap(left, right, [a[k].group for k in keys])
    kinds = Counter(f"{_status(a[k])} -> {_status(b[k])}" for k in keys if _status(a[k]) != _status(b[k]))
    return {
        "n": len(keys), "only_in_a": len(a.keys() - b.keys()), "only_in_b": len(b.keys() - a.keys()),
        "acc_a": sum(left) / len(left) if left else None, "acc_b": sum(right) / len(right) if right else None,
        "difference": interval.mean if interval else 0.0, "low": interval.low if interval else None, "high": interval.high if interval else None,
        "p": mcnemar(len(lost), len(won)), "lost": lost, "won": won, "changes": dict(kinds.most_common()),
    }  # fmt: skip


def _status(sample: Sample) -> str:
    return str(sample.verdicts[0].get("status", "?")) if sample.verdicts else "?"


def _sentence(task: str, row: dict[str, Any]) -> str:
    left_out = (
        f" ({row['only_in_a']} samples only in A and {row['only_in_b']} only in B are left out)"
        if row["only_in_a"] or row["only_in_b"]
        else ""
    )
    if not row["n"]:
        return f"{task}: no sample has a verdict in both runs{left_out}"
    text = (
        f"{task}: {100 * row['acc_a']:.2f} -> {100 * row['acc_b']:.2f} on {row['n']} samples, difference {100 * row['difference']:+.2f} "
        f"[{100 * row['low']:+.2f}, {100 * row['high']:+.2f}], {len(row['won'])} won, {len(row['lost'])} lost, McNemar p = {row['p']:.4f}"
    )
    if row.get("p_holm") is not None:
        text += f" (Holm {row['p_holm']:.4f})"
    if not row["won"] and not row["lost"]:
        text += "; not one sample differs"
    changes = "".join(f"\n    {kind}: {count}" for kind, count in row["changes"].items())
    lost = f"\n    lost: {', '.join(row['lost'][:8])}{' ...' if len(row['lost']) > 8 else ''}" if row["lost"] else ""
    return text + left_out + changes + lost
