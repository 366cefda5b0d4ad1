"""Compare two runs on the samples that both have, as a table: McNemar, paired bootstrap interval, per task and pooled.

    python -m ct_tasks compare runs/base runs/grpo
    python -m ct_tasks compare runs/base runs/grpo --out comparison.html    # or .md, .tex
    python -m ct_tasks compare runs/main runs/branch --fail-if-worse
    python -m ct_tasks compare runs/base runs/grpo --site site    # with links to what went from right to wrong

The interval resamples whole programs (items of one program go together); p-values are Holm-corrected over the tasks.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from ct_tasks.errors import ConfigError
from ct_tasks.reports.comparison import KINDS, POOLED, Comparison, terminal, written
from ct_tasks.reports.read import Run, Sample, read_runs, read_samples
from ct_tasks.reports.statistics import holm, mcnemar, paired_bootstrap


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", type=Path, metavar="DIR_A")
    parser.add_argument("b", type=Path, metavar="DIR_B")
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    parser.add_argument("--out", type=Path, help="also write the table there: .md, .tex or .html")
    parser.add_argument(
        "--site", type=Path, help="a site that `report` made of both runs: lost samples get links into it"
    )
    parser.add_argument(
        "--fail-if-worse", action="store_true", help="exit 1 when B is worse than A (corrected p < 0.05) in any task"
    )


def main(args: argparse.Namespace) -> int:
    problems: list[str] = []
    if args.out and args.out.suffix not in KINDS:
        raise ConfigError(f"--out {args.out}: a table is written as one of {', '.join(KINDS)}")
    if args.site and not (args.site / "index.html").is_file():
        raise ConfigError(
            f"{args.site} is no site; make one of both runs: python -m ct_tasks report DIR_A DIR_B --out {args.site}"
        )
    a, b = _samples(args.a, problems), _samples(args.b, problems)
    shared = [task for task in a if task in b]
    if not shared:
        raise ConfigError(
            f"{args.a} and {args.b} have no task with samples in common ({', '.join(a) or 'none'}; {', '.join(b) or 'none'})"
        )
    rows = {task: _compare(a[task].samples, b[task].samples) for task in shared}
    usable = {t: r for t, r in rows.items() if r["n"]}
    if len(usable) > 1:
        rows[POOLED] = _compare(_pooled(a, usable), _pooled(b, usable))
    corrected = holm({t: r["p"] for t, r in usable.items()})
    for task, row in rows.items():
        row["p_holm"] = corrected.get(task)
        if args.site and task in usable:
            row["links"] = {key: _link(args.site, a[task], b[task], task, key) for key in row["lost"]}
    found = Comparison(_told(args.a, a, shared), _told(args.b, b, shared), rows)
    if args.out:
        try:
            args.out.write_text(written(found, args.out.suffix), encoding="utf-8", errors="replace")
        except OSError as error:
            raise ConfigError(f"cannot write {args.out}: {error}") from None
    print(json.dumps(rows, indent=1) if args.json else terminal(found))
    for problem in problems:
        print(problem, file=sys.stderr)
    worse = [t for t, r in usable.items() if r["difference"] < 0 and corrected[t] < 0.05]
    return 1 if args.fail_if_worse and worse else 0


@dataclass(frozen=True)
class _Side:
    """One task of one side: the run it comes from, and its samples by id."""

    run: Run
    samples: dict[str, Sample]


def _samples(folder: Path, problems: list[str]) -> dict[str, _Side]:
    runs, found = read_runs([folder])
    problems += found
    newest: dict[str, Run] = {}
    for run in runs:  # oldest first
        for task, result in run.tasks.items():
            if result.samples is None:
                problems.append(f"{run.path} has no samples of {task}; run lm_eval with --log_samples")
                continue
            if task in newest:
                problems.append(
                    f"{folder} has several runs of {task}; {run.path.name} is newer than {newest[task].path.name} and counts"
                )
            newest[task] = run
    out = {}
    for task, run in newest.items():
        path = run.tasks[task].samples
        assert path is not None
        out[task] = _Side(run, {s.id: s for s in read_samples(path, problems)})
    return out


def _pooled(side: dict[str, _Side], tasks: Iterable[str]) -> dict[str, Sample]:
    """All tasks together. A program of one task is no cluster with one of another task that happens to have its name, but the
    languages of CRUXEval-X are translations of the same programs."""
    pooled = {}
    for task in tasks:
        family = task.rpartition("_")[0] if task.startswith("ct_cruxeval_x") else task
        for key, sample in side[task].samples.items():
            pooled[f"{task}/{key}"] = replace(sample, group=f"{family}/{sample.group}")
    return pooled


def _link(site: Path, a: _Side, b: _Side, task: str, key: str) -> str:
    query = urlencode({"run": a.run.key, "task": task, "id": key, "other": b.run.key, "show": "lost"})
    return f"{(site / 'index.html').resolve().as_uri()}#samples?{query}"


def _compare(a: dict[str, Sample], b: dict[str, Sample]) -> dict[str, Any]:
    keys = [k for k in a if k in b and a[k].acc is not None and b[k].acc is not None]
    left, right = [float(a[k].acc or 0) for k in keys], [float(b[k].acc or 0) for k in keys]
    lost = [k for k, x, y in zip(keys, left, right, strict=True) if x > y]
    won = [k for k, x, y in zip(keys, left, right, strict=True) if y > x]
    groups = [a[k].group for k in keys]
    interval = paired_bootstrap(left, right, groups)
    enough = interval is not None and len(set(groups)) > 1  # with one program there is nothing to resample
    kinds = Counter(f"{_status(a[k])} -> {_status(b[k])}" for k in keys if _status(a[k]) != _status(b[k]))
    return {
        "n": len(keys), "only_in_a": len(a.keys() - b.keys()), "only_in_b": len(b.keys() - a.keys()),
        "acc_a": sum(left) / len(left) if left else None, "acc_b": sum(right) / len(right) if right else None,
        "difference": interval.mean if interval else 0.0, "low": interval.low if interval and enough else None, "high": interval.high if interval and enough else None, "programs": len(set(groups)),
        "p": mcnemar(len(lost), len(won)), "lost": lost, "won": won, "changes": dict(kinds.most_common()),
    }  # fmt: skip


def _status(sample: Sample) -> str:
    return str(sample.verdicts[0].get("status", "?")) if sample.verdicts else "?"


def _told(folder: Path, side: dict[str, _Side], tasks: Iterable[str]) -> str:
    """A side by its folder and the names of its runs."""
    return f"{folder} ({'; '.join(dict.fromkeys(side[t].run.name for t in tasks))})"
