"""GRPO's settings in verl's terms: each is carried over, or the export is refused with a sentence. None is dropped.

verl counts steps in rollouts and moves the learning rate once a rollout; ``ct_train`` counts optimiser steps. Where trl and
verl differ by default (dual clip, weight decay, the upper clip, prompts that are too long) verl is told to do as trl does.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from ct_tasks.errors import ConfigError
from ct_train.grpo.config import GrpoSettings

LOSSES = {"grpo": "seq-mean-token-mean", "dapo": "token-mean", "dr_grpo": "seq-mean-token-sum-norm"}
SCHEDULES = {"constant": "constant", "constant_with_warmup": "constant", "cosine": "cosine"}
LOGGERS = ("tensorboard", "wandb", "mlflow", "swanlab")
NO_DUAL_CLIP = 1_000_000.0
NO_GRADIENT_CLIP = 1_000_000.0
ACTOR, ROLLOUT, MODEL = "actor_rollout_ref.actor", "actor_rollout_ref.rollout", "actor_rollout_ref.model"


def refuse(settings: GrpoSettings) -> None:
    """Raises ``ConfigError`` for a setting that verl cannot follow, with what to do."""
    for holds, what in (
        (settings.optimizer == "adamw", f"has no optimiser {settings.optimizer}; set optimizer=adamw"),
        (settings.schedule in SCHEDULES, f"has no {settings.schedule} schedule; set schedule to one of {', '.join(SCHEDULES)}"),
        (settings.chat, "always writes prompts through the chat template; set chat=true"),
        (settings.bf16, "computes in bfloat16; set bf16=true"),
        (settings.loss_type in LOSSES, f"has no loss_type {settings.loss_type}; set it to one of {', '.join(LOSSES)}"),
        (settings.scale_rewards != "batch", "divides by the group's deviation or by none; set scale_rewards to group or none"),
        (settings.lora.dropout == 0 or not settings.lora.r, "has no dropout in its LoRA layers; set lora.dropout=0"),
        (
            settings.report_to in ("none", *LOGGERS),
            f"does not log to {settings.report_to}; set report_to to none or one of {', '.join(LOGGERS)}",
        ),
    ):
        if not holds:
            raise ConfigError(f"verl {what}")


def overrides(settings: GrpoSettings, out: Path, gpus: int, nodes: int, rows: int) -> dict[str, Any]:
    """verl's settings for this run on ``rows`` training rows, as its command line takes them (``verl.trainer.main_ppo``).

    Raises ``ConfigError``, see ``refuse`` and ``length``.
    """
    refuse(settings)
    per_pass = settings.completions_per_device
    options = {f"+reward.custom_reward_function.reward_kwargs.{k}": v for k, v in settings.reward_options.items()}
    return {
        "algorithm.adv_estimator": "grpo", "algorithm.use_kl_in_reward": False,
        "algorithm.norm_adv_by_std_in_grpo": settings.scale_rewards == "group",
        "data.train_files": out / "train.parquet", "data.val_files": out / "validation.parquet",
        "data.train_batch_size": settings.prompts_per_rollout, "data.seed": settings.seed,
        "data.max_prompt_length": settings.max_prompt_tokens, "data.max_response_length": settings.max_response_tokens,
        "data.filter_overlong_prompts": True, "data.return_raw_chat": True,
        f"{MODEL}.path": settings.model, f"{MODEL}.enable_gradient_checkpointing": settings.gradient_checkpointing,
        **adapter(settings),
        **optimiser(settings),
        f"{ACTOR}.ppo_mini_batch_size": settings.prompts_per_update,
        f"{ACTOR}.ppo_micro_batch_size_per_gpu": per_pass,
        f"{ACTOR}.data_loader_seed": settings.seed, f"{ACTOR}.fsdp_config.seed": settings.seed,
        **loss(settings),
        f"{ROLLOUT}.name": "vllm", f"{ROLLOUT}.mode": "async", f"{ROLLOUT}.n": settings.group_size,
        f"{ROLLOUT}.temperature": settings.temperature, f"{ROLLOUT}.seed": settings.seed,
        f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu": per_pass,
        f"{ROLLOUT}.gpu_memory_utilization": settings.vllm_memory,
        f"{ROLLOUT}.tensor_model_parallel_size": settings.vllm_tensor_parallel,
        f"{ROLLOUT}.enable_prefix_caching": True,
        f"{ROLLOUT}.agent.agent_loop_config_path": out / "agent_loop.yaml",
        "reward.custom_reward_function.path": out / "reward.py",
        "reward.custom_reward_function.name": "compute_score",
        "+reward.custom_reward_function.reward_kwargs.reward": settings.reward, **options,
        "trainer.n_gpus_per_node": gpus, "trainer.nnodes": nodes,
        **length(settings, rows),
        "trainer.default_local_dir": settings.output_dir,
        "trainer.project_name": "codethinker", "trainer.experiment_name": Path(settings.output_dir).name,
        "trainer.logger": "[console]" if settings.report_to == "none" else f"[console,{settings.report_to}]",
    }  # fmt: skip


def rollout_updates(settings: GrpoSettings) -> int:
    """Optimiser steps a rollout."""
    return settings.prompts_per_rollout // settings.prompts_per_update


def length(settings: GrpoSettings, rows: int) -> dict[str, Any]:
    """How long verl trains and when it saves, in rollouts. A whole number of epochs stays one, since verl may leave out
    prompts that are too long; ``max_steps`` and parts of an epoch become rollouts, on as many epochs as they take.

    Raises ``ConfigError`` where there is no whole number of rollouts, or none at all.
    """
    updates, an_epoch = rollout_updates(settings), rows // settings.prompts_per_rollout
    if settings.max_steps > 0 and settings.max_steps % updates:
        raise ConfigError(
            f"max_steps {settings.max_steps} ends inside a rollout of {updates} updates, where verl cannot stop; set max_steps "
            f"to a multiple of {updates}"
        )
    if settings.max_steps < 1 and settings.epochs <= 0:
        raise ConfigError(f"epochs {settings.epochs} and max_steps {settings.max_steps} train nothing; set one of them")
    steps = settings.max_steps // updates if settings.max_steps > 0 else math.ceil(an_epoch * settings.epochs)
    whole = settings.max_steps < 1 and settings.epochs == int(settings.epochs)
    if not whole and steps < 1:
        raise ConfigError(f"epochs {settings.epochs} of {few_rows(settings, rows)}")
    saves = settings.save_steps // updates if settings.save_steps > 0 else -1
    if whole:
        return {"trainer.total_epochs": int(settings.epochs), "trainer.save_freq": saves}
    return {"trainer.total_epochs": steps, "trainer.total_training_steps": steps, "trainer.save_freq": saves}


def few_rows(settings: GrpoSettings, rows: int) -> str:
    """What to say where a rollout cannot be filled; empty where it can."""
    if rows >= settings.prompts_per_rollout:
        return ""
    return (
        f"{rows} training rows (the last tenth is held out), fewer than prompts_per_rollout {settings.prompts_per_rollout}: verl "
        "would take no step; lower prompts_per_rollout and prompts_per_update, or give more rows"
    )


def optimiser(settings: GrpoSettings) -> dict[str, Any]:
    """Learning rate, its course and what bounds a step. ``constant`` has no warm-up, as in transformers."""
    warm = 0 if settings.schedule == "constant" else math.ceil(settings.warmup_steps / rollout_updates(settings))
    clip = settings.max_grad_norm or NO_GRADIENT_CLIP
    return {
        f"{ACTOR}.optim.lr": settings.learning_rate,
        f"{ACTOR}.optim.lr_scheduler_type": SCHEDULES[settings.schedule],
        f"{ACTOR}.optim.lr_warmup_steps": warm,
        f"{ACTOR}.optim.weight_decay": settings.weight_decay,
        f"{ACTOR}.optim.clip_grad": clip, f"{ACTOR}.grad_clip": clip,
    }  # fmt: skip


def loss(settings: GrpoSettings) -> dict[str, Any]:
    """The surrogate, the KL term and the entropy bonus."""
    found: dict[str, Any] = {
        f"{ACTOR}.clip_ratio": settings.clip, f"{ACTOR}.clip_ratio_low": settings.clip,
        f"{ACTOR}.clip_ratio_high": settings.clip if settings.clip_high is None else settings.clip_high,
        f"{ACTOR}.clip_ratio_c": NO_DUAL_CLIP,
        f"{ACTOR}.loss_agg_mode": LOSSES[settings.loss_type],
        f"{ACTOR}.use_kl_loss": settings.beta > 0, f"{ACTOR}.entropy_coeff": settings.entropy,
    }  # fmt: skip
    if settings.loss_type == "dr_grpo":
        found[f"{ACTOR}.loss_scale_factor"] = settings.max_response_tokens
    if settings.beta > 0:
        found |= {f"{ACTOR}.kl_loss_coef": settings.beta, f"{ACTOR}.kl_loss_type": "low_var_kl"}  # trl's estimator
        found["actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu"] = settings.completions_per_device
    return found


def adapter(settings: GrpoSettings) -> dict[str, Any]:
    """LoRA: a new adapter, or ``settings.adapter`` to go on from, whose own rank and alpha count where they can be read."""
    rank, alpha, targets = settings.lora.r, settings.lora.alpha, settings.lora.target_modules
    if settings.adapter:
        saved = Path(settings.adapter) / "adapter_config.json"
        if saved.is_file():
            facts = json.loads(saved.read_text())
            rank, alpha = int(facts["r"]), int(facts["lora_alpha"])
        elif rank < 1:
            raise ConfigError(f"the rank of adapter {settings.adapter} cannot be read; set lora.r and lora.alpha to its own")
    if rank < 1:
        return {}
    found = {
        f"{MODEL}.lora_rank": rank, f"{MODEL}.lora_alpha": alpha, f"{MODEL}.target_modules": targets,
        f"{ROLLOUT}.load_format": "safetensors",  # vLLM needs the base model's weights beside the adapter
    }  # fmt: skip
    return {**found, f"{MODEL}.lora_adapter_path": settings.adapter} if settings.adapter else found
