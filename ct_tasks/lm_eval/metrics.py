"""From verdict rows to lm-eval's metrics. Every generation counts; a number that does not apply leaves the mean alone."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval.api.metrics import mean

from ct_tasks.benchmarks.reval.consistency import Coverage
from ct_tasks.score import STATUSES

SHARES = tuple(s for s in STATUSES if s not in ("right", "wrong"))
TRACE = ("rcs", "fmt", "r_proc", "r_res", "reward", "hack_rate")
_LOWER_IS_BETTER = frozenset({*SHARES, "hack_rate", "acc_std"})
PASS_AT = (1, 2, 5, 10, 20, 50, 100)


def declared(domain: str, repeats: int, name: str = "") -> list[dict[str, Any]]:
    """``metric_list`` of a task of this domain."""
    names = ["acc", "acc_flexible", "acc_official", *SHARES, "tokens_out"]
    if domain in ("output", "input"):
        names += TRACE
    if repeats > 1:
        names += [f"pass@{k}" for k in pass_at(repeats)]
    rows = [{"metric": n, "aggregation": mean, "higher_is_better": n not in _LOWER_IS_BETTER} for n in names]
    if name == "ct_reval_c":
        rows += [{"metric": n, "aggregation": ratio, "higher_is_better": True} for n, ratio in COVERAGE.items()]
    if repeats > 1:
        rows.append({"metric": "acc_std", "aggregation": std_over_repeats, "higher_is_better": False})
    return rows


def pass_at(repeats: int) -> list[int]:
    """The k for which pass@k is reported."""
    return [k for k in PASS_AT if k <= repeats]


def of_document(rows: Sequence[Mapping[str, Any]], repeats: int) -> dict[str, Any]:
    """Metrics of one document from the verdicts on its generations."""
    # Where our own machinery failed there is no verdict: such a generation is counted apart and leaves accuracy alone.
    right = [bool(row["acc"]) for row in rows if row["status"] != "harness_error"]
    found: dict[str, Any] = {"acc": statistics.fmean(right)} if right else {}
    for share in SHARES:
        found[share] = statistics.fmean(row["status"] == share for row in rows)
    for name in ("acc_flexible", "acc_official"):
        read = [row[name] for row in rows if row.get(name) is not None and row["status"] != "harness_error"]
        if read:
            found[name] = statistics.fmean(read)
    fixed = {"acc", "acc_flexible", "acc_official", "status", "status_flexible", "answer", "answer_flexible", "reason", "detail"}
    for name in dict.fromkeys(key for row in rows for key in row if key not in fixed):
        values = [float(row[name]) for row in rows if isinstance(row.get(name), (int, float))]
        if values:
            found["hack_rate" if name == "hack" else name] = statistics.fmean(values)
    cells = [found.pop(cell, None) for cell in ("tp", "fp", "fn")]
    if None not in cells:
        found.update(dict.fromkeys(COVERAGE, cells))
    if repeats > 1 and right:
        for k in pass_at(len(right)):
            found[f"pass@{k}"] = pass_at_k(len(right), sum(right), k)
        found["acc_std"] = [float(r) for r in right]
    return found


def pass_at_k(n: int, c: int, k: int) -> float:
    """Chance that one of ``k`` of ``n`` generations is right when ``c`` are: 1 - prod_{i=n-c+1..n} (1 - k/i)."""
    if n - c < k:
        return 1.0
    missed = 1.0
    for i in range(n - c + 1, n + 1):
        missed *= 1.0 - k / i
    return 1.0 - missed


def _precision(rows: Sequence[Sequence[float]]) -> float:
    return Coverage.of(*map(sum, zip(*rows, strict=True))).precision


def _recall(rows: Sequence[Sequence[float]]) -> float:
    return Coverage.of(*map(sum, zip(*rows, strict=True))).recall


def _f1(rows: Sequence[Sequence[float]]) -> float:
    return Coverage.of(*map(sum, zip(*rows, strict=True))).f1


# Ratios over all documents, from each document's shares of true YES, false YES and missed YES (REval's coverage task).
COVERAGE = {"precision": _precision, "recall": _recall, "f1": _f1}


def std_over_repeats(rows: Sequence[Sequence[float]]) -> float:
    """Sample standard deviation, over repeats, of the accuracy of each repeat; NaN below two repeats."""
    repeats = min(len(row) for row in rows)
    if repeats < 2:
        return float("nan")
    return statistics.stdev(statistics.fmean(row[r] for row in rows) for r in range(repeats))
