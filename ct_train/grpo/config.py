"""The GRPO configuration, and every check that can be made before a model loads.

The paper's Tables 10 and 11 are lost. Defaults marked [ExecVerify] come from ExecVerify's published training script, those
marked [ours] are this project's; the rest is the paper's text (group of 8 with 4 by DBS, three epochs, no KL, no entropy
bonus, rewards normalised by the group's mean and standard deviation).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ct_tasks.errors import ConfigError, UnknownNameError
from ct_tasks.options import SEGMENTATIONS
from ct_train import limits, optim, prompts
from ct_train.data import halves
from ct_train.rewards import build

ENGINES = ("transformers", "static", "vllm", "vllm_server")
LOSSES = ("grpo", "dapo", "dr_grpo", "bnpo")
SCALES = ("group", "batch", "none")
MAY_CHANGE = frozenset({"output_dir", "report_to", "save_steps", "gradient_checkpointing", "vllm_memory", "vllm_server_url"})
"""Settings that change neither weights nor rollouts, so a run that goes on may have others. ``model``, ``data`` and
``adapter`` are compared by content."""
LORA_BOUNDS = {"r": limits.NOT_NEGATIVE, "alpha": limits.POSITIVE, "dropout": limits.CHANCE}
BOUNDS = {
    **dict.fromkeys(("learning_rate", "clip", "temperature"), limits.POSITIVE),
    **dict.fromkeys(
        ("prompts_per_rollout", "prompts_per_update", "completions_per_device", "max_prompt_tokens",
         "max_response_tokens", "limit", "vllm_tensor_parallel"), limits.COUNT,
    ),
    **dict.fromkeys(
        ("warmup_steps", "save_steps", "beta", "entropy", "weight_decay", "max_grad_norm"), limits.NOT_NEGATIVE
    ),
    "max_steps": limits.STEPS,
    "vllm_memory": limits.SHARE,
    "seed": limits.SEED,
}  # fmt: skip


@dataclass(frozen=True)
class LoraSettings:
    """LoRA on all linear layers; ``r: 0`` trains every weight."""

    r: int = 16
    alpha: int = 32
    dropout: float = 0.0
    target_modules: str = "all-linear"


@dataclass(frozen=True)
class GrpoSettings:
    """One GRPO run.

    ``group_size`` completions a prompt, of which ``regular`` by regular sampling and the rest by DBS (Figure 5).
    ``prompts_per_rollout`` prompts are sampled before the policy moves, ``prompts_per_update`` make one optimiser step.
    ``completions_per_device`` is the forward-pass batch. Lengths in tokens. ``data``: JSON lines with ``program`` and
    ``call`` (or ``truth``). ``chat: false`` continues plain text
    instead of answering a user turn. ``engine``: ``static`` is for small Llama models on a CPU. ``optimizer`` ``muon`` trains the
    layers' matrices with Muon. ``reward_options`` go to the reward (``alpha``, ``prm``, ``rcc``, ``orm``, ``ccw`` ...).

    ``paradigm``: the format of prompt and reply (``ct_train.prompts.READS``); all but ``contra`` have no blocks, so no DBS.
    ``halve``: train on half of the ``code`` or of the ``tests`` (Table 5). ``loss_type``: how the tokens' losses become one
    (``grpo``: mean over each reply, then over replies; ``dapo``: mean over all tokens of an update; ``bnpo``: of a forward
    pass; ``dr_grpo``: sum over ``max_response_tokens``). ``beta``: weight of the KL term. ``entropy``: weight of the entropy
    bonus. ``scale_rewards``: whose standard deviation divides the advantage. ``clip_high``: the upper clip where it is not
    ``clip``.
    """

    model: str = ""
    data: str = ""
    output_dir: str = ""
    adapter: str = ""
    reward: str = "codethinker"
    reward_options: Mapping[str, Any] = field(default_factory=dict)
    paradigm: str = "contra"
    segmentation: str = "statement"
    chat: bool = True
    group_size: int = 8
    regular: int = 4
    engine: str = "transformers"
    prompts_per_rollout: int = 128  # [ExecVerify]
    prompts_per_update: int = 64  # [ExecVerify]
    completions_per_device: int = 8
    learning_rate: float = 1e-6  # [ExecVerify]
    optimizer: str = "adamw"
    schedule: str = "constant_with_warmup"
    epochs: float = 3.0
    max_steps: int = -1
    warmup_steps: int = 0
    clip: float = 0.2
    clip_high: float | None = None
    loss_type: str = "grpo"  # [ours]: the paper's equation is lost
    beta: float = 0.0
    entropy: float = 0.0
    scale_rewards: str = "group"
    weight_decay: float = 0.0  # [ours]
    max_grad_norm: float = 1.0  # [ours]
    temperature: float = 1.0
    max_prompt_tokens: int = 2048  # [ExecVerify]
    max_response_tokens: int = 4096  # [ExecVerify]
    mask_truncated: bool = False
    lora: LoraSettings = field(default_factory=LoraSettings)
    bf16: bool = True
    gradient_checkpointing: bool = True
    limit: int | None = None
    halve: str = ""
    seed: int = 0
    save_steps: int = 50
    report_to: str = "tensorboard"
    vllm_memory: float = 0.35
    vllm_tensor_parallel: int = 1
    vllm_server_url: str = "http://127.0.0.1:8000"

    def beam_options(self) -> dict[str, bool]:
        """The run's own switches as far as they change what a partial trajectory is worth to DBS; defaults for other rewards."""
        own = self.reward_options if self.reward == "codethinker" else {}
        return {name: bool(own[name]) for name in ("rcc", "ccw") if name in own}

    def check(self, world_size: int = 1) -> Schedule:
        """Refuse what cannot work, with what to change. Returns the batch arithmetic. Raises ``ConfigError``."""
        for name in ("model", "data", "output_dir"):
            if not getattr(self, name):
                raise ConfigError(f"grpo needs {name}: set it in the config or with {name}=...")
        if self.engine not in ENGINES:
            raise UnknownNameError("engine", self.engine, ENGINES)
        optim.check(self.optimizer, self.schedule, lora=self.lora.r > 0 and not self.adapter)
        if self.segmentation not in SEGMENTATIONS:
            raise UnknownNameError("segmentation", self.segmentation, SEGMENTATIONS)
        limits.check(self, BOUNDS)
        limits.check(self.lora, LORA_BOUNDS, "lora.")
        if self.epochs <= 0 and self.max_steps < 1:
            raise ConfigError(f"epochs {self.epochs} and max_steps {self.max_steps} train nothing; set one of them")
        alpha = self.reward_options.get("alpha", 0)
        if isinstance(alpha, (int, float)) and alpha < 0:
            raise ConfigError(f"reward_options.alpha {alpha} must be 0 or more: it would pay for wrong blocks")
        build(self.reward, self.reward_options)
        prompts.check(self.paradigm, self.reward)
        halves.check(self.halve)
        self._check_loss()
        if self.group_size < 2:
            raise ConfigError(f"group_size {self.group_size}: the advantage is relative to a group, so at least 2")
        if not 0 <= self.regular <= self.group_size:
            raise ConfigError(
                f"regular {self.regular} must be between 0 and group_size {self.group_size}; the rest is sampled by DBS"
            )
        if self.paradigm != "contra" and self.regular != self.group_size:
            raise ConfigError(
                f"DBS goes block by block, and replies in the format {self.paradigm} have no blocks; set regular to "
                f"{self.group_size}, the whole group"
            )
        if self.prompts_per_rollout % self.prompts_per_update:
            raise ConfigError(
                f"prompts_per_rollout {self.prompts_per_rollout} is not a multiple of "
                f"prompts_per_update {self.prompts_per_update}; "
                f"set prompts_per_rollout to {_nearest(self.prompts_per_rollout, self.prompts_per_update)}"
            )
        per_pass = self.completions_per_device * world_size
        update = self.prompts_per_update * self.group_size
        if update % per_pass:
            good = [b for b in range(1, update // world_size + 1) if update % (b * world_size) == 0]
            raise ConfigError(
                f"prompts_per_update x group_size = {update} completions do not divide into "
                f"completions_per_device x processes = {per_pass}; set completions_per_device to one of {good}"
            )
        rollout = self.prompts_per_rollout * self.group_size
        if (rollout // world_size) % self.group_size:
            raise ConfigError(
                f"{self.prompts_per_rollout} prompts cannot be dealt to {world_size} processes in whole groups of "
                f"{self.group_size}; set prompts_per_rollout to {_nearest(self.prompts_per_rollout, world_size)}"
            )
        steps = rollout // per_pass
        if self.save_steps > 0 and self.save_steps % (self.prompts_per_rollout // self.prompts_per_update):
            every = self.prompts_per_rollout // self.prompts_per_update
            raise ConfigError(
                f"save_steps {self.save_steps} would save in the middle of a rollout of {every} updates, "
                f"which cannot be resumed exactly; set save_steps to {_nearest(self.save_steps, every)}"
            )
        return Schedule(accumulation=update // per_pass, steps_per_generation=steps)

    def _check_loss(self) -> None:
        if self.loss_type not in LOSSES:
            raise UnknownNameError("loss_type", self.loss_type, LOSSES)
        if self.scale_rewards not in SCALES:
            raise UnknownNameError("scale_rewards", self.scale_rewards, SCALES)
        if self.clip_high is not None and self.clip_high <= 0:
            raise ConfigError(f"clip_high {self.clip_high} must be greater than 0; leave it out to take clip")


@dataclass(frozen=True, slots=True)
class Schedule:
    """trl's terms: forward passes an update, and forward passes a rollout."""

    accumulation: int
    steps_per_generation: int


def may_change(settings: GrpoSettings) -> frozenset[str]:
    """``MAY_CHANGE``, and the run's length where the learning rate does not depend on it."""
    return MAY_CHANGE | optim.length_may_change(settings.schedule)


def _nearest(value: int, unit: int) -> int:
    return max(unit, round(value / unit) * unit)
