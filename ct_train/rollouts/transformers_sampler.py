"""Block-by-block sampling with a transformers model; the key-value cache is kept from block to block.

All rows run in lock-step. A row that reached its block's end waits: what it is fed meanwhile is masked out of its
attention, so the cache has holes but no row ever attends to them, and position ids count only real tokens. When DBS moves
the budget, cache rows are selected by index: a fork costs a copy, not a second prefill, and goes on from token ids.

Log-probabilities are ``log_softmax(logits / temperature)`` of the model that samples: the policy of the GRPO surrogate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import DynamicCache

from ct_train.dbs import Trajectory
from ct_train.rollouts.stopping import Codec, NotFiniteError, Window, append

Row = tuple[int, ...]


class TransformersSampler:
    """``model`` must be in eval mode. ``max_tokens`` limits a whole completion. Uses torch's global generator, so that a
    trainer which restores its random state on resume restores the sampler's."""

    def __init__(
        self, model: Any, codec: Codec, *, max_tokens: int, temperature: float = 1.0, batch_size: int = 64
    ) -> None:
        self.model, self.codec = model, codec
        self.max_tokens, self.temperature, self.batch_size = max_tokens, temperature, batch_size
        self._states: list[_State] = []

    def extend(self, prompts: Sequence[Sequence[int]], trajectories: Sequence[Trajectory]) -> list[Trajectory]:
        """One block more for each trajectory (see ``ct_train.dbs.Sampler``)."""
        rows = [(*p, *t.ids) for p, t in zip(prompts, trajectories, strict=True)]
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        out: dict[int, Trajectory] = {}
        states: list[_State] = []
        for begin in range(0, len(rows), self.batch_size):
            chosen = order[begin : begin + self.batch_size]
            state = self._state([rows[i] for i in chosen])
            longer = state.block([trajectories[i] for i in chosen], self)
            out.update(zip(chosen, longer, strict=True))
            states.append(state)
        self._states = states
        return [out[i] for i in range(len(rows))]

    def _state(self, rows: Sequence[Row]) -> _State:
        """The cached state that holds exactly these rows, or a fresh one."""
        for state in self._states:
            where = {row: i for i, row in enumerate(state.rows)}
            if all(row in where for row in rows):
                return state.select([where[row] for row in rows])
        return _State.prefill(self.model, rows, self.codec.pad_id)


class _State:
    """A batch of rows: ``rows[i]`` are all its token ids; the cache holds all but the last, which is fed next."""

    def __init__(self, model: Any, rows: list[Row], cache: Any, mask: torch.Tensor) -> None:
        self.model, self.rows, self.cache, self.mask = model, rows, cache, mask

    @classmethod
    @torch.no_grad()
    def prefill(cls, model: Any, rows: Sequence[Row], pad_id: int) -> _State:
        """Run the prompts once; equal rows are run once and then copied."""
        unique = list(dict.fromkeys(rows))
        heads = [row[:-1] for row in unique]
        width = max(1, *(len(h) for h in heads))
        device = model.device
        ids = torch.tensor([[pad_id] * (width - len(h)) + list(h) for h in heads], device=device)
        mask = torch.tensor([[0] * (width - len(h)) + [1] * len(h) for h in heads], device=device)
        cache = DynamicCache()
        model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=_positions(mask),
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        where = {row: i for i, row in enumerate(unique)}
        return cls(model, unique, cache, mask).select([where[row] for row in rows])

    def select(self, index: Sequence[int]) -> _State:
        """A state of these rows, copied where a row occurs twice."""
        if list(index) != list(range(len(self.rows))):
            picked = torch.tensor(list(index), device=self.mask.device)
            self.cache.batch_select_indices(picked)
            self.mask = self.mask[picked]
        self.rows = [self.rows[i] for i in index]
        return self

    @torch.no_grad()
    def block(self, trajectories: Sequence[Trajectory], sampler: TransformersSampler) -> list[Trajectory]:
        device = self.mask.device
        count = len(self.rows)
        windows = [Window(sampler.codec, t.ids) for t in trajectories]
        new: list[list[int]] = [[] for _ in range(count)]
        logprobs: list[list[float]] = [[] for _ in range(count)]
        ended = ["" for _ in range(count)]
        feed = torch.tensor([[row[-1]] for row in self.rows], device=device)
        live = list(range(count))
        while live:
            alive = torch.zeros(count, 1, dtype=self.mask.dtype, device=device)
            alive[live] = 1
            position = self.mask.sum(dim=1, keepdim=True)
            self.mask = torch.cat([self.mask, alive], dim=1)
            logits = (
                self.model(
                    input_ids=feed,
                    attention_mask=self.mask,
                    position_ids=position,
                    past_key_values=self.cache,
                    use_cache=True,
                )
                .logits[:, -1]
                .float()
            )
            policy = torch.log_softmax(logits / sampler.temperature, dim=-1)
            if bool(policy[live].isnan().any()):
                raise NotFiniteError
            token = torch.multinomial(policy.exp(), 1)
            chosen = policy.gather(1, token)[:, 0].tolist()
            feed = token
            tokens = token[:, 0].tolist()
            still = []
            for i in live:
                new[i].append(tokens[i])
                logprobs[i].append(chosen[i])
                if tokens[i] in sampler.codec.eos_ids:
                    ended[i] = "eos"
                elif cut := windows[i].push(tokens[i]):
                    ended[i] = cut
                elif len(trajectories[i].ids) + len(new[i]) >= sampler.max_tokens:
                    ended[i] = "length"
                else:
                    still.append(i)
            live = still
        self.rows = [(*row, *added) for row, added in zip(self.rows, new, strict=True)]
        return [
            append(t, n, p, e, sampler.codec, sampler.max_tokens)
            for t, n, p, e in zip(trajectories, new, logprobs, ended, strict=True)
        ]


def _positions(mask: torch.Tensor) -> torch.Tensor:
    return (mask.cumsum(dim=1) - 1).clamp(min=0)
