"""Optimisers by name. ``adamw`` is the trainer's own; ``muon`` orthogonalises the updates of weight matrices.

Muon is torch's (https://kellerjordan.github.io/posts/muon/), with the learning rate on AdamW's scale
(``match_rms_adamw``, arXiv 2502.16982). Embeddings, the output head and vectors stay with AdamW, as its author advises.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.optim import AdamW, Muon, Optimizer

from ct_tasks.errors import ConfigError, UnknownNameError

OPTIMISERS = ("adamw", "muon")
SCHEDULES = ("constant", "linear", "cosine", "constant_with_warmup")
BETAS = (0.9, 0.95)


def check(optimizer: str, schedule: str, *, lora: bool = False) -> None:
    """Raises ``UnknownNameError`` for a name that is not known, ``ConfigError`` for Muon with new LoRA adapters: trl adds
    those after the optimiser was built."""
    if optimizer not in OPTIMISERS:
        raise UnknownNameError("optimizer", optimizer, OPTIMISERS)
    if schedule not in SCHEDULES:
        raise UnknownNameError("schedule", schedule, SCHEDULES)
    if optimizer == "muon" and lora:
        raise ConfigError("muon trains every weight and would see none of the LoRA adapters; set lora.r=0 or optimizer=adamw")


def length_may_change(schedule: str) -> frozenset[str]:
    """``epochs`` and ``max_steps`` where ``schedule`` is constant: a run made longer is then the long run from the start."""
    return frozenset({"epochs", "max_steps"}) if schedule.startswith("constant") else frozenset()


def build(model: torch.nn.Module, name: str, learning_rate: float, weight_decay: float = 0.0) -> Optimizer | None:
    """The optimiser over ``model``'s trainable parameters; None for ``adamw``, which trl's trainer makes by itself."""
    if name == "adamw":
        return None
    check(name, "constant")
    return MuonAdamW(model, learning_rate, weight_decay)


class MuonAdamW(Optimizer):
    """Muon for the matrices inside the layers, AdamW for the rest, behind one optimiser's interface."""

    def __init__(self, model: torch.nn.Module, learning_rate: float, weight_decay: float = 0.0) -> None:
        matrices: list[torch.nn.Parameter] = []
        rest: list[torch.nn.Parameter] = []
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                inner = parameter.ndim == 2 and "embed" not in name and "lm_head" not in name
                (matrices if inner else rest).append(parameter)
        super().__init__([{"params": matrices + rest}], {"lr": learning_rate})
        self.parts: list[Optimizer] = []
        if matrices:
            self.parts.append(
                Muon(matrices, lr=learning_rate, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw")
            )
        if rest:
            self.parts.append(AdamW(rest, lr=learning_rate, betas=BETAS, weight_decay=weight_decay))
        self._share()

    def _share(self) -> None:
        self.param_groups = [group for part in self.parts for group in part.param_groups]

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """One step of both. A closure is not supported; the trainer never passes one."""
        assert closure is None
        for part in self.parts:
            part.step()

    def state_dict(self) -> dict[str, Any]:
        return {"parts": [part.state_dict() for part in self.parts]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        for part, state in zip(self.parts, state_dict["parts"], strict=True):
            part.load_state_dict(state)
        self._share()
