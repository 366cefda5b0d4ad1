"""GRPO's ``rollouts.jsonl`` (see ``ct_train.grpo.rollout_log``) as figures a step: what the paper's Figure 4 shows."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Step:
    """``mean`` and ``std`` (population) of the rewards of all rollouts of a step; the same for the two halves of a group."""

    step: int
    rollouts: int
    mean: float
    std: float
    regular: float | None
    dbs: float | None


@dataclass(frozen=True, slots=True)
class Training:
    """One training run, named after its folder."""

    name: str
    steps: tuple[Step, ...]


def read_trainings(folders: Sequence[Path]) -> tuple[list[Training], list[str]]:
    """Every ``rollouts.jsonl`` below the folders, and a sentence for what could not be read."""
    found: list[Training] = []
    problems: list[str] = []
    for folder in folders:
        for path in sorted(folder.rglob("rollouts.jsonl")) if folder.is_dir() else []:
            rewards: dict[int, list[tuple[float, str]]] = {}
            bad = 0
            with path.open(encoding="utf-8", errors="replace") as file:
                for line in file:
                    try:
                        row = json.loads(line)
                        if row["reward"] is not None:
                            rewards.setdefault(int(row["step"]), []).append(
                                (float(row["reward"]), str(row.get("half")))
                            )
                    except (ValueError, KeyError, TypeError):
                        bad += 1
            if bad:
                problems.append(f"{path}: {bad} lines are no rollouts and are left out")
            if rewards:
                found.append(Training(path.parent.name, tuple(_step(n, rows) for n, rows in sorted(rewards.items()))))
            else:
                problems.append(f"{path} holds no scored rollout")
    return found, problems


def _step(number: int, rows: Sequence[tuple[float, str]]) -> Step:
    values = [v for v, _ in rows]
    halves = {half: [v for v, h in rows if h == half] for half in ("regular", "dbs")}
    means = {half: statistics.fmean(v) if v else None for half, v in halves.items()}
    return Step(
        number, len(values), statistics.fmean(values), statistics.pstdev(values), means["regular"], means["dbs"]
    )
