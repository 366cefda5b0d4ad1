"""Step 5, split (paper section 5.1): two halves of equal size for SFT and GRPO, no function in both (our reading)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from ct_train.data.similarity import grouped
from ct_train.data.steps import Row, dump, read_rows, whole

VERSION = 1
HALVES = ("sft", "grpo")


def split_step(folder: Path, seed: int) -> None:
    """``sft.jsonl`` and ``grpo.jsonl``: the training rows, in the form that ``ct_train sft`` and ``grpo`` read."""
    before = folder / "4_similar.jsonl"

    def make() -> dict[str, str]:
        halves = halve(read_rows(before), seed)
        return {f"{name}.jsonl": "".join(dump(row) + "\n" for row in rows) for name, rows in halves.items()}

    whole(folder, "5_split", {"rules": VERSION, "seed": seed}, [before], make)


def halve(samples: Sequence[Row], seed: int) -> dict[str, list[Row]]:
    """Functions in a seeded order, each to the half that has fewer samples. Rows come back in their old order."""
    functions = grouped(samples)
    order = sorted(range(len(functions)), key=lambda i: functions[i][0]["id"])
    random.Random(seed).shuffle(order)
    owner: dict[int, int] = {}
    sizes = [0, 0]
    for i in order:
        half = 0 if sizes[0] <= sizes[1] else 1
        owner[i] = half
        sizes[half] += len(functions[i])
    out: dict[str, list[Row]] = {name: [] for name in HALVES}
    for i, rows in enumerate(functions):
        out[HALVES[owner[i]]] += [{**row, "sample": f"{row['id']}/{n}"} for n, row in enumerate(rows)]
    return out
