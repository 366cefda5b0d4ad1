"""Batched sampling for small Llama-architecture models: an own forward pass over a key-value cache of fixed size.

transformers' ``generate`` spends most of its time beside the arithmetic when a model has a million parameters: a growing
cache is copied at every token, and finished rows are still computed. Here each row has a slot in preallocated tensors, a
row that ended leaves the batch, and the weights are read from the live model at each call, so a training step needs no
hand-over. The numbers are those of the model's own forward pass (a test compares them).

Shapes: n rows, T cache positions, d hidden, H query heads in K groups of g, e per head. Caches are [n, K, T, e].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from ct_tasks.errors import ConfigError
from ct_train.dbs import Trajectory
from ct_train.rollouts.stopping import Codec, NotFiniteError, Window, append

COMPACT_AT = 0.7  # share of live rows under which the batch is packed anew: a copy against dead arithmetic


@dataclass(frozen=True, slots=True)
class _Layer:
    qkv: Tensor
    out: Tensor
    gate_up: Tensor
    down: Tensor
    before: Tensor
    after: Tensor


class _Weights:
    """Views of a ``LlamaForCausalLM``'s parameters, projections of one input joined, LoRA adapters added in."""

    def __init__(self, model: Any) -> None:
        config, inner = model.config, _plain(model).model
        self.heads, self.groups = config.num_attention_heads, config.num_key_value_heads
        self.size = inner.layers[0].self_attn.head_dim
        self.eps = config.rms_norm_eps
        self.embed, self.norm, self.head = inner.embed_tokens.weight, inner.norm.weight, _plain(model).lm_head.weight
        self.rotary = inner.rotary_emb
        self.layers = [
            _Layer(
                torch.cat([_weight(a.q_proj), _weight(a.k_proj), _weight(a.v_proj)]),
                _weight(a.o_proj),
                torch.cat([_weight(m.gate_proj), _weight(m.up_proj)]),
                _weight(m.down_proj),
                layer.input_layernorm.weight,
                layer.post_attention_layernorm.weight,
            )
            for layer in inner.layers
            for a, m in ((layer.self_attn, layer.mlp),)
        ]

    def norms(self, x: Tensor, weight: Tensor) -> Tensor:
        return functional.rms_norm(x, (x.shape[-1],), weight, self.eps)


def _plain(model: Any) -> Any:
    """The transformers model inside a peft model."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def _weight(module: Any) -> Tensor:
    """A projection's matrix with its active LoRA adapters."""
    base: Tensor = getattr(module, "base_layer", module).weight
    for name in getattr(module, "active_adapters", ()):
        if name in module.lora_A:
            base = base + module.get_delta_weight(name)
    return base


class _Cache:
    """Keys and values of n rows. ``lengths`` [n] counts the positions that hold something."""

    def __init__(self, weights: _Weights, rows: int, positions: int) -> None:
        shape = (len(weights.layers), rows, weights.groups, positions, weights.size)
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)
        self.lengths = torch.zeros(rows, dtype=torch.long)

    def select(self, index: Tensor) -> None:
        """Keep these rows in this order; a row may be taken several times."""
        self.keys, self.values = self.keys[:, index], self.values[:, index]
        self.lengths = self.lengths[index]


class StaticSampler:
    """See ``ct_train.dbs.Sampler``. Reads ``model`` (Llama architecture, float32, on the CPU) at each call; ``temperature`` 0
    is greedy. Random numbers come from torch's global generator. Raises ``ConfigError`` for another architecture."""

    def __init__(
        self, model: Any, codec: Codec, *, max_tokens: int, temperature: float = 1.0, batch_size: int = 512
    ) -> None:
        if getattr(model.config, "model_type", "") != "llama" or model.config.attention_bias or model.config.mlp_bias:
            raise ConfigError(
                f"engine static samples from Llama models without biases, not from {model.config.model_type!r}; "
                f"use engine=transformers"
            )
        self.model, self.codec = model, codec
        self.max_tokens, self.temperature, self.batch_size = max_tokens, temperature, batch_size
        self._closing = [
            "]" in codec.decode([token]) for token in range(model.config.vocab_size)
        ]  # only such a token can end a tag
        self._kept: list[tuple[dict[tuple[int, ...], int], _Cache]] = []

    def extend(self, prompts: Sequence[Sequence[int]], trajectories: Sequence[Trajectory]) -> list[Trajectory]:
        """One block more for each trajectory."""
        return self._run(prompts, trajectories, whole=False)

    def complete(self, prompts: Sequence[Sequence[int]], trajectories: Sequence[Trajectory]) -> list[Trajectory]:
        """Each trajectory to its end, without waiting at block ends: same distribution as ``extend`` until finished."""
        return self._run(prompts, trajectories, whole=True)

    @torch.no_grad()
    def _run(
        self, prompts: Sequence[Sequence[int]], trajectories: Sequence[Trajectory], *, whole: bool
    ) -> list[Trajectory]:
        weights = _Weights(self.model)
        rows = [(*p, *t.ids) for p, t in zip(prompts, trajectories, strict=True)]
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        positions = max(len(p) for p in prompts) + self.max_tokens
        out: dict[int, Trajectory] = {}
        kept = []
        for begin in range(0, len(rows), self.batch_size):
            chosen = order[begin : begin + self.batch_size]
            batch = [rows[i] for i in chosen]
            cache = self._cached(batch) or _prefill(weights, batch, positions)
            longer = self._batch(weights, cache, batch, [trajectories[i] for i in chosen], whole)
            out.update(zip(chosen, longer, strict=True))
            if not whole:
                kept.append(
                    (
                        {
                            (*b, *t.ids[len(trajectories[i].ids) :]): k
                            for k, (i, b, t) in enumerate(zip(chosen, batch, longer, strict=True))
                        },
                        cache,
                    )
                )
        self._kept = kept
        return [out[i] for i in range(len(rows))]

    def _cached(self, rows: Sequence[tuple[int, ...]]) -> _Cache | None:
        """The cache of the last call, cut to these rows; None when it does not hold them all."""
        for where, cache in self._kept:
            if all(row in where for row in rows):
                cache.select(torch.tensor([where[row] for row in rows]))
                return cache
        return None

    def _batch(
        self,
        weights: _Weights,
        cache: _Cache,
        rows: Sequence[tuple[int, ...]],
        begun: Sequence[Trajectory],
        whole: bool,
    ) -> list[Trajectory]:
        count = len(rows)
        new: list[list[int]] = [[] for _ in range(count)]
        logprobs: list[list[float]] = [[] for _ in range(count)]
        ended = [""] * count
        at = list(range(count))  # at[slot] is the row that lives there, -1 when it ended
        feed = torch.tensor([row[-1] for row in rows])
        live = torch.ones(count, dtype=torch.long)
        while (alive := sum(i >= 0 for i in at)) > 0:
            if whole and alive < COMPACT_AT * len(at):
                index = torch.tensor([slot for slot, i in enumerate(at) if i >= 0])
                cache.select(index)
                feed, live, at = feed[index], live[index], [i for i in at if i >= 0]
            policy = torch.log_softmax(_forward(weights, cache, feed, live) / (self.temperature or 1.0), dim=-1)
            if self.temperature:
                feed = (policy - torch.empty_like(policy).exponential_().log_()).argmax(dim=-1)
            else:
                feed = policy.argmax(dim=-1)
            chosen = policy.gather(1, feed[:, None])[:, 0].tolist()
            if not all(math.isfinite(chosen[slot]) for slot, i in enumerate(at) if i >= 0):
                raise NotFiniteError
            for slot, (i, token, logprob) in enumerate(zip(at, feed.tolist(), chosen, strict=True)):
                if i < 0:
                    continue
                new[i].append(token)
                logprobs[i].append(logprob)
                end = self._end(begun[i], new[i])
                if end == "end" or end == "eos" or end == "length" or (end and not whole):
                    ended[i], at[slot], live[slot] = end, -1, 0
        return [
            append(t, n, p, e, self.codec, self.max_tokens)
            for t, n, p, e in zip(begun, new, logprobs, ended, strict=True)
        ]

    def _end(self, begun: Trajectory, new: list[int]) -> str:
        token = new[-1]
        if token in self.codec.eos_ids:
            return "eos"
        if self._closing[token] and (cut := Window(self.codec, [*begun.ids, *new[:-1]]).push(token)):
            return cut
        return "length" if len(begun.ids) + len(new) >= self.max_tokens else ""


def _prefill(weights: _Weights, rows: Sequence[tuple[int, ...]], positions: int) -> _Cache:
    """All but each row's last token, which is fed next. Equal rows are computed once and copied."""
    unique = list(dict.fromkeys(rows))
    width = max(1, *(len(row) - 1 for row in unique))
    ids = torch.tensor([[*row[:-1], *([0] * (width - len(row) + 1))] for row in unique])
    cache = _Cache(weights, len(unique), positions)
    x = weights.embed[ids]
    cos, sin = weights.rotary(x, torch.arange(width)[None])
    for number, layer in enumerate(weights.layers):
        q, k, v = _project(weights, layer, x)
        q, k = _turn(q, cos[:, :, None], sin[:, :, None]), _turn(k, cos[:, :, None], sin[:, :, None])
        k, v = k.transpose(1, 2), v.transpose(1, 2)
        cache.keys[number, :, :, :width], cache.values[number, :, :, :width] = k, v
        # What is to the right of a row's end is padding; causal attention never looks there.
        mixed = functional.scaled_dot_product_attention(q.transpose(1, 2), k, v, is_causal=True, enable_gqa=True)
        x = _rest(weights, layer, x, mixed.transpose(1, 2).flatten(2))
    cache.lengths = torch.tensor([len(row) - 1 for row in unique])
    where = {row: i for i, row in enumerate(unique)}
    cache.select(torch.tensor([where[row] for row in rows]))
    return cache


def _forward(weights: _Weights, cache: _Cache, feed: Tensor, live: Tensor) -> Tensor:
    """Logits [n, vocabulary] after feeding one token a row; only live rows keep it."""
    count, used = len(feed), int(cache.lengths.max()) + 1
    rows = torch.arange(count)
    mask = (torch.arange(used)[None] <= cache.lengths[:, None])[:, None, None]
    x = weights.embed[feed]
    cos, sin = weights.rotary(x[:, None], cache.lengths[:, None])
    for number, layer in enumerate(weights.layers):
        q, k, v = _project(weights, layer, x)
        q, k = _turn(q, cos, sin), _turn(k, cos, sin)
        keys, values = cache.keys[number], cache.values[number]
        keys[rows, :, cache.lengths], values[rows, :, cache.lengths] = k, v
        grouped = q.view(count, weights.groups, -1, weights.size)  # query heads of one group share keys: one "sequence"
        mixed = functional.scaled_dot_product_attention(grouped, keys[:, :, :used], values[:, :, :used], attn_mask=mask)
        x = _rest(weights, layer, x, mixed.reshape(count, -1))
    cache.lengths = cache.lengths + live
    return functional.linear(weights.norms(x, weights.norm), weights.head)


def _project(weights: _Weights, layer: _Layer, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Queries [..., H, e], keys and values [..., K, e]."""
    joined = functional.linear(weights.norms(x, layer.before), layer.qkv)
    joined = joined.view(*x.shape[:-1], -1, weights.size)
    q, k, v = torch.split(joined, [weights.heads, weights.groups, weights.groups], dim=-2)
    return q, k, v


def _turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding, halves as transformers has them."""
    left, right = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-right, left], dim=-1) * sin


def _rest(weights: _Weights, layer: _Layer, x: Tensor, mixed: Tensor) -> Tensor:
    x = x + functional.linear(mixed, layer.out)
    gate, up = functional.linear(weights.norms(x, layer.after), layer.gate_up).chunk(2, dim=-1)
    return x + functional.linear(functional.silu(gate) * up, layer.down)
