"""Every rollout kept as a JSON line, and the figures of a group that the paper plots (Figure 4)."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ct_train import jsonl
from ct_train.output import full_disk
from ct_train.rewards import RewardResult


class RolloutLog:
    """Appends to ``rollouts.jsonl``, from one process only."""

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / "rollouts.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)

    def cut(self, from_step: int) -> None:
        """Drop rows of steps that will run again; called once, before a run begins or goes on. A kill meanwhile changes
        nothing: the file is replaced whole."""
        if self.path.is_file():
            partial = self.path.with_suffix(".part")
            with full_disk(self.path.parent):
                with partial.open("w", encoding="utf-8") as file:
                    for line in jsonl.whole_lines(self.path):
                        if (step := _step(line)) is not None and step < from_step:
                            file.write(line + "\n")
                partial.replace(self.path)

    def write(self, rows: Sequence[dict[str, Any]]) -> None:
        """Append rows of one step. Raises ``HarnessError`` on a full disk, and leaves no part of them."""
        jsonl.append(self.path, rows)


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


def length_figures(truncated: Sequence[bool], lengths: Sequence[int]) -> dict[str, float]:
    """trl's figures about clipped completions, by our mark: cut by the length limit, not "without an end token"."""
    ended = [n for n, cut in zip(lengths, truncated, strict=True) if not cut] or [0]
    return {
        "completions/clipped_ratio": statistics.fmean(truncated),
        "completions/mean_terminated_length": statistics.fmean(ended),
        "completions/min_terminated_length": float(min(ended)),
        "completions/max_terminated_length": float(max(ended)),
    }
