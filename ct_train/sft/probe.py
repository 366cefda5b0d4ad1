"""Answering held-out programs with the model in hand: fmt, RCS, exact answers, whole traces. One scorer with evaluation."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from ct_tasks.contra.scoring import score_trace
from ct_tasks.contra.trace import Truth
from ct_train.dbs import Sampler, regular
from ct_train.rollouts.static_sampler import StaticSampler
from ct_train.rollouts.stopping import Codec
from ct_train.rollouts.transformers_sampler import TransformersSampler


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over all answers: ``fmt`` (δ_fmt), ``rcs``, ``exact`` (the right value in RETURN), ``whole`` (every block and
    the answer right, strict format), ``hack``. ``tokens`` is a completion's mean length."""

    answers: int
    fmt: float
    rcs: float
    exact: float
    whole: float
    hack: float
    tokens: float

    def to_json(self) -> dict[str, float]:
        return asdict(self)


def sampler_for(model: Any, tokenizer: Any, max_tokens: int, temperature: float = 1.0, batch_size: int = 64) -> Sampler:
    """The fast sampler where it fits the model, else transformers'. ``model`` must be in eval mode."""
    codec = Codec.of(tokenizer, _ends(model))
    small = getattr(model.config, "model_type", "") == "llama" and model.config.hidden_size <= 512
    if small and model.device.type == "cpu" and model.dtype == torch.float32:
        return StaticSampler(model, codec, max_tokens=max_tokens, temperature=temperature)
    return TransformersSampler(
        model, codec, max_tokens=max_tokens, temperature=temperature or 1e-4, batch_size=batch_size
    )


def measure(sampler: Sampler, prompts: Sequence[Sequence[int]], truths: Sequence[Truth], samples: int = 1) -> Figures:
    """``samples`` answers to each prompt (token ids), scored."""
    groups = regular(prompts, samples, sampler)
    scores = [(score_trace(t.text, truth), t) for group, truth in zip(groups, truths, strict=True) for t in group]
    mean = statistics.fmean
    return Figures(
        answers=len(scores),
        fmt=mean(s.fmt for s, _ in scores),
        rcs=mean(s.rcs for s, _ in scores),
        exact=mean(s.answer_right for s, _ in scores),
        whole=mean(s.reward == 4.0 for s, _ in scores),
        hack=mean(s.hack for s, _ in scores),
        tokens=mean(len(t.ids) for _, t in scores),
    )


def _ends(model: Any) -> list[int]:
    """End-of-turn ids that the generation config names beside the tokenizer's own."""
    found = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    return [found] if isinstance(found, int) else list(found or [])
