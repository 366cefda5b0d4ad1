"""Batches of similar length in random order. transformers' ``group_by_length`` gives the long batches of a chunk first, then
ever shorter ones; a small model at a high learning rate then forgets the long while it learns the short."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from torch.utils.data import Sampler

CHUNK = 16  # batches that are sorted together: large enough to save padding, small enough to mix


class BucketSampler(Sampler[int]):
    """Indices such that each run of ``batch`` has similar ``lengths``; the order follows from ``seed`` and the epoch."""

    def __init__(self, lengths: Sequence[int], batch: int, seed: int) -> None:
        self.lengths, self.batch, self.seed, self.epoch = lengths, batch, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Called by accelerate's loader, on resume too."""
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[int]:
        rng = random.Random(f"{self.seed} {self.epoch}")
        order = list(range(len(self.lengths)))
        rng.shuffle(order)
        batches: list[list[int]] = []
        for begin in range(0, len(order), CHUNK * self.batch):
            chunk = sorted(order[begin : begin + CHUNK * self.batch], key=lambda i: self.lengths[i])
            batches += [chunk[k : k + self.batch] for k in range(0, len(chunk), self.batch)]
        whole = [b for b in batches if len(b) == self.batch]
        rng.shuffle(whole)  # a short batch must stay last, or every later one would be cut in two
        return iter([i for b in [*whole, *(b for b in batches if len(b) < self.batch)] for i in b])
