"""Every rollout kept as a JSON line, and the figures of a group that the paper plots (Figure 4)."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ct_train.rewards import RewardResult


class RolloutLog:
    """Appends to ``rollouts.jsonl``, from one process only."""

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / "rollouts.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)

    def cut(self, from_step: int) -> None:
        """Drop rows of steps that will run again; called once, before a run begins or goes on."""
        if self.path.exists():
            kept = [
                line for line in self.path.read_text().splitlines() if (s := _step(line)) is not None and s < from_step
            ]
            self.path.write_text("".join(line + "\n" for line in kept))

    def write(self, rows: Sequence[dict[str, Any]]) -> None:
        """Append rows of one step."""
        with self.path.open("a") as file:
            file.write("".join(json.dumps(row) + "\n" for row in rows))


def _step(line: str) -> int | None:
    try:
        return int(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return None  # a line torn by a kill


def group_figures(
    results: Sequence[RewardResult | None], halves: Sequence[str], texts: Sequence[str], group: int
) -> dict[str, float]:
    """Mean, standard deviation and maximum of reward for the regular and the DBS half apart, hack rate, RCS, the share of
    groups whose rewards are all equal, and the mean number of distinct completions a group. Unscored rollouts are left out."""
    figures: dict[str, float] = {}
    for half in ("regular", "dbs"):
        rewards = [r.reward for r, h in zip(results, halves, strict=True) if r is not None and h == half]
        if rewards:
            figures[f"{half}/reward_mean"] = statistics.fmean(rewards)
            figures[f"{half}/reward_std"] = statistics.pstdev(rewards)
            figures[f"{half}/reward_max"] = max(rewards)
    scored = [r for r in results if r is not None]
    if scored:
        figures["hack_rate"] = statistics.fmean(r.hack for r in scored)
        figures["rcs"] = statistics.fmean(r.rcs for r in scored)
        figures["fmt"] = statistics.fmean(r.fmt for r in scored)
        figures["answer_right"] = statistics.fmean(r.answer_right for r in scored)
    equal, distinct, best = [], [], []
    for begin in range(0, len(results), group):
        rewards = [r.reward for r in results[begin : begin + group] if r is not None]
        equal.append(len(set(rewards)) <= 1)
        distinct.append(len(set(texts[begin : begin + group])))
        if rewards:
            best.append(max(rewards))
    figures["equal_groups"] = statistics.fmean(equal)
    figures["distinct_per_group"] = statistics.fmean(distinct)
    if best:
        figures["group_max"] = statistics.fmean(best)
    return figures
