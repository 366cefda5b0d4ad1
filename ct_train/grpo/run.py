"""One GRPO run from its settings: checks, data, model, trainer, resume. The heavy imports wait until the checks passed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ct_tasks.contra.trace import Truth
from ct_tasks.paradigms.thinking import opened_by
from ct_train import config
from ct_train.checkpoints import (
    generated_before,
    has_results,
    last_checkpoint,
    refuse_mixed_folder,
    refuse_shorter,
    set_aside,
)
from ct_train.data.halves import halve
from ct_train.finals import checked_arguments, save_final
from ct_train.grpo.checks import refuse_few_rows, refuse_split_engine, refuse_ties, refuse_without_template
from ct_train.grpo.config import GrpoSettings, Schedule, may_change
from ct_train.grpo.data import Dropped, load_rows, prompt_ids, with_prompts, with_truths
from ct_train.grpo.learnt import learnt_nothing
from ct_train.jsonl import WHERE, left_out
from ct_train.models import load_model, load_tokenizer, lora_config, precision, refuse_other_vocabulary, set_pad
from ct_train.output import full_disk, locked, write_json
from ct_train.resume import WAYS, refuse_other_settings
from ct_train.rewards.batch import BatchScorer, trl_reward

COLUMNS = ("prompt", "truth", "id", "questions", WHERE)


def train(settings: GrpoSettings, prompt: Callable[[Truth], str], *, resume: bool = True) -> Path:
    """Train and return the folder of the final model.

    With ``resume`` a run whose ``output_dir`` holds a whole checkpoint of the same settings goes on from it, with the same
    rollouts as if it had never stopped. Raises ``ConfigError`` or ``DataError`` before the model loads for everything that
    can be known then, ``HarnessError`` for a loss, gradient or weight that is not finite and for a full disk.
    """
    schedule = settings.check(int(os.environ.get("WORLD_SIZE", "1")))
    refuse_split_engine(settings)
    load_rows(settings.data, 1)  # what is not there is told before a folder is made
    with locked(settings.output_dir) as output, full_disk(output, "it goes on from the last whole checkpoint"):
        return _train(settings, schedule, prompt, output, resume)


def _train(
    settings: GrpoSettings, schedule: Schedule, prompt: Callable[[Truth], str], output: Path, resume: bool
) -> Path:
    rows = halve(load_rows(settings.data, settings.limit), settings.halve)
    count, dropped = len(rows), Dropped()
    scorer = BatchScorer(settings.reward, settings.reward_options)
    if resume and has_results(output):
        refuse_mixed_folder(output, settings.lora.r)
        refuse_other_settings(output, settings, may_change(settings), ways=WAYS)
    checkpoint = last_checkpoint(output) if resume else None
    refuse_shorter(checkpoint, settings.max_steps)
    rows = with_truths(
        rows, segmentation=settings.segmentation, questions=settings.reward == "execverify", dropped=dropped
    )

    refuse_ties(rows, settings.reward, settings.reward_options)

    from datasets import Dataset
    from trl import GRPOConfig

    from ct_train import optim
    from ct_train.grpo import vllm_cpu
    from ct_train.grpo.rollout_log import RolloutLog
    from ct_train.grpo.trainer import ContraGRPOTrainer

    tokenizer = load_tokenizer(settings.model, padding_side="left")
    refuse_without_template(tokenizer, settings.chat)
    if not settings.chat:
        tokenizer.chat_template = None
    set_pad(tokenizer)
    rows = with_prompts(
        rows, tokenizer, prompt, settings.max_prompt_tokens, settings.paradigm, settings.segmentation, dropped
    )
    if sentence := left_out("grpo", dropped, count):
        print(sentence, file=sys.stderr)
    scorer.thinking = opened_by(tokenizer.decode(prompt_ids(tokenizer, rows[0]["prompt"])))
    refuse_few_rows(len(rows), settings)
    if rest := len(rows) % settings.prompts_per_rollout:
        print(
            f"grpo: an epoch uses {len(rows) - rest} of {len(rows)} rows, other ones each time: a rollout takes "
            f"prompts_per_rollout = {settings.prompts_per_rollout} of them",
            file=sys.stderr,
        )
    refuse_other_vocabulary(settings.model, tokenizer, (prompt_ids(tokenizer, row["prompt"]) for row in rows))
    kept = [{k: row.get(k) for k in COLUMNS if k in row or k == "id"} for row in rows]
    arguments = checked_arguments(
        GRPOConfig, trl_arguments(settings, schedule.accumulation, schedule.steps_per_generation)
    )
    if settings.engine.startswith("vllm"):
        vllm_cpu.prepare()
    step = int(checkpoint.name.rsplit("-", 1)[1]) if checkpoint else 0
    model = _model(settings)
    trainer = ContraGRPOTrainer(
        model=model,
        reward_funcs=LoggedReward(scorer),
        args=arguments,
        train_dataset=Dataset.from_list(kept),
        processing_class=tokenizer,
        peft_config=None if settings.adapter else lora_config(settings.lora),
        optimizers=(optim.build(model, settings.optimizer, settings.learning_rate, settings.weight_decay), None),
        settings=settings,
        rollout_log=RolloutLog(output),
    )
    trainer.generated = generated_before(checkpoint)
    if trainer.is_world_process_zero():
        if not resume:
            set_aside(output)
        config.keep(settings, output)
        trainer.rollout_log.cut(from_step=step)
    reward = trainer.reward_funcs[0]
    reward.attach(trainer)
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    final = save_final(trainer, tokenizer, output)
    if not trainer.is_world_process_zero():
        return final
    history = [entry for entry in trainer.state.log_history if "loss" in entry or "reward" in entry]
    write_json(output / "history.json", history)
    if sentence := learnt_nothing(history, settings):
        print(sentence, file=sys.stderr)
    return final


def trl_arguments(settings: GrpoSettings, accumulation: int, steps_per_generation: int) -> dict[str, Any]:
    """trl's configuration. Every default of trl's that would change the algorithm of the paper is set here."""
    arguments: dict[str, Any] = {
        "output_dir": settings.output_dir,
        "per_device_train_batch_size": settings.completions_per_device,
        "gradient_accumulation_steps": accumulation,
        "steps_per_generation": steps_per_generation,
        "num_generations": settings.group_size,
        "max_completion_length": settings.max_response_tokens,
        "learning_rate": settings.learning_rate,
        "lr_scheduler_type": settings.schedule,
        "warmup_steps": settings.warmup_steps,
        "num_train_epochs": settings.epochs,
        "max_steps": settings.max_steps,
        "temperature": settings.temperature,
        "top_p": 1.0,
        "top_k": 0,
        "beta": settings.beta,  # KL in the loss; trl has none in the reward
        "entropy_coef": settings.entropy,
        "epsilon": settings.clip,
        "epsilon_high": settings.clip_high,
        "loss_type": settings.loss_type,
        "scale_rewards": settings.scale_rewards,
        "weight_decay": settings.weight_decay,
        "max_grad_norm": settings.max_grad_norm,
        "mask_truncated_completions": False,  # the trainer masks by its own mark: a trace that ends is not truncated
        **precision(settings.bf16),
        "gradient_checkpointing": settings.gradient_checkpointing,
        "save_steps": settings.save_steps,
        "save_strategy": "steps" if settings.save_steps > 0 else "no",
        "logging_steps": 1,
        "logging_nan_inf_filter": False,  # it would log a loss that is NaN as the mean of those before it
        "report_to": settings.report_to,
        "seed": settings.seed,
        "auto_find_batch_size": False,  # halving the batch would tear groups apart
        "remove_unused_columns": False,
    }
    if settings.engine.startswith("vllm"):
        arguments |= {
            "use_vllm": True,
            "vllm_mode": "colocate" if settings.engine == "vllm" else "server",
            "vllm_gpu_memory_utilization": settings.vllm_memory,
            "vllm_max_model_length": settings.max_prompt_tokens + settings.max_response_tokens,
            "vllm_importance_sampling_mode": "token_truncate",  # sequence_mask would drop every long trace
        }
    if settings.engine == "vllm_server":
        arguments["vllm_server_base_url"] = settings.vllm_server_url
    return arguments


def _model(settings: GrpoSettings) -> Any:
    model = load_model(settings.model, bf16=settings.bf16, whole=settings.lora.r == 0 and not settings.adapter)
    if not settings.adapter:
        return model
    from peft import PeftModel

    return PeftModel.from_pretrained(model, settings.adapter, is_trainable=True)


class LoggedReward:
    """The reward function, told of its trainer once that exists, so that every scored batch reaches the rollout log."""

    def __init__(self, scorer: BatchScorer) -> None:
        self.__name__ = f"reward_{scorer.name}"
        self._score = trl_reward(scorer, keep=self._keep)
        self._trainer: Any = None
        self._completions: Any = ()

    def attach(self, trainer: Any) -> None:
        self._trainer = trainer

    def _keep(self, results: Any) -> None:
        if self._trainer is not None:
            self._trainer.keep(results, self._completions)

    def __call__(self, **columns: Any) -> list[float | None]:
        self._completions = columns["completions"]
        return self._score(**columns)
