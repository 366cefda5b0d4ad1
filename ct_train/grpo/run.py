"""One GRPO run from its settings: checks, data, model, trainer, resume. The heavy imports wait until the checks passed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ct_tasks.contra.trace import Truth
from ct_tasks.errors import ConfigError
from ct_train.grpo.checks import refuse_split_engine, refuse_ties, refuse_without_template
from ct_train.grpo.config import GrpoSettings, LoraSettings
from ct_train.grpo.data import load_rows, with_prompts, with_truths
from ct_train.rewards.batch import BatchScorer, trl_reward

COLUMNS = ("prompt", "truth", "id", "questions")


def train(settings: GrpoSettings, prompt: Callable[[Truth], str], *, resume: bool = True) -> Path:
    """Train and return the folder of the final model.

    With ``resume`` a run whose ``output_dir`` holds a checkpoint goes on from it, with the same rollouts as if it had never
    stopped. Raises ``ConfigError`` or ``DataError`` before the model loads for everything that can be known then.
    """
    schedule = settings.check(int(os.environ.get("WORLD_SIZE", "1")))
    refuse_split_engine(settings)
    rows = load_rows(settings.data, settings.limit)
    scorer = BatchScorer(settings.reward, settings.reward_options)
    output = Path(settings.output_dir)
    checkpoint = last_checkpoint(output) if resume else None
    refuse_mixed_folder(output, settings.lora.r)
    rows = with_truths(rows, segmentation=settings.segmentation, questions=settings.reward == "execverify")

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
    rows = with_prompts(rows, tokenizer, prompt, settings.max_prompt_tokens)
    kept = [{k: row.get(k) for k in COLUMNS if k in row or k == "id"} for row in rows]
    arguments = GRPOConfig(**trl_arguments(settings, schedule.accumulation, schedule.steps_per_generation))
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
        optimizers=(optim.build(model, settings.optimizer, settings.learning_rate), None),
        settings=settings,
        rollout_log=RolloutLog(output),
    )
    trainer.generated = generated_before(checkpoint)
    if trainer.is_world_process_zero():
        trainer.rollout_log.cut(from_step=step)
    reward = trainer.reward_funcs[0]
    reward.attach(trainer)
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    final = output / "final"
    trainer.save_model(str(final))
    if not trainer.is_world_process_zero():
        return final
    tokenizer.save_pretrained(str(final))
    history = [entry for entry in trainer.state.log_history if "loss" in entry or "reward" in entry]
    (output / "history.json").write_text(json.dumps(history, indent=1) + "\n")
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
        "beta": 0.0,  # no KL, neither in the loss nor in the reward
        "entropy_coef": 0.0,
        "epsilon": settings.clip,
        "loss_type": "grpo",
        "scale_rewards": "group",
        "mask_truncated_completions": False,  # the trainer masks by its own mark: a trace that ends is not truncated
        **precision(settings.bf16),
        "gradient_checkpointing": settings.gradient_checkpointing,
        "save_steps": settings.save_steps,
        "save_strategy": "steps" if settings.save_steps > 0 else "no",
        "logging_steps": 1,
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


def last_checkpoint(folder: Path) -> Path | None:
    """The newest complete checkpoint; one whose trainer state is missing was cut off while it was written."""
    found = [p for p in folder.glob("checkpoint-*") if (p / "trainer_state.json").is_file()]
    return max(found, key=lambda p: int(p.name.rsplit("-", 1)[1]), default=None)


def generated_before(checkpoint: Path | None) -> int:
    """Tokens that a run had generated when it wrote ``checkpoint``: every step is logged, the last count is the checkpoint's."""
    if checkpoint is None:
        return 0
    logged, name = json.loads((checkpoint / "trainer_state.json").read_text())["log_history"], "rollout/generated_tokens"
    return int(next((h[name] for h in reversed(logged) if name in h), 0))


def set_pad(tokenizer: Any) -> None:
    """A pad token of its own: with pad equal to end-of-sequence, masking pads would mask the end that is to be learnt."""
    if tokenizer.pad_token_id is not None and tokenizer.pad_token_id != tokenizer.eos_token_id:
        return
    known = tokenizer.get_vocab()
    for candidate in ("<|endoftext|>", "<pad>", "<|pad|>", "<|finetune_right_pad_id|>", "<unk>"):
        if candidate in known and known[candidate] != tokenizer.eos_token_id:
            tokenizer.pad_token = candidate
            return
    raise ConfigError(
        f"the tokenizer of {tokenizer.name_or_path} has no pad token apart from end-of-sequence; add one to it and save it"
    )


def refuse_mixed_folder(output: Path, lora_rank: int) -> None:
    """Raises ``ConfigError`` where ``output`` holds checkpoints of the other kind (adapters or full models): transformers
    would resume from them with no more than a warning."""
    adapter = any(output.glob("checkpoint-*/adapter_model.safetensors"))
    whole = any(output.glob("checkpoint-*/model*.safetensors"))
    if (adapter and lora_rank == 0) or (whole and lora_rank > 0):
        kind = "LoRA adapters" if adapter else "full models"
        raise ConfigError(
            f"{output} holds checkpoints of {kind}, which this run cannot resume; give a fresh output_dir"
        )


def precision(bf16: bool) -> dict[str, Any]:
    """Arguments of every trainer. transformers refuses bf16 on a CPU unless told that there is no accelerator."""
    import torch

    return {"bf16": bf16, "use_cpu": not torch.accelerator.is_available()}


def load_tokenizer(name: str, **options: Any) -> Any:
    """A model's tokenizer. Loaded before the model, so a model that is not there is told here: raises ``ConfigError``."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(name, **options)
    except (OSError, ValueError) as error:
        cause = str(error).strip().splitlines()[0][:200]
        raise ConfigError(
            f"the model {name} cannot be loaded ({cause}); name a folder that holds one, or connect to the hub: model=..."
        ) from error


def load_model(name: str, *, bf16: bool) -> Any:
    """A causal language model in bfloat16 or float32."""
    import torch
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(name, dtype=torch.bfloat16 if bf16 else torch.float32)


def _model(settings: GrpoSettings) -> Any:
    model = load_model(settings.model, bf16=settings.bf16)
    if not settings.adapter:
        return model
    from peft import PeftModel

    return PeftModel.from_pretrained(model, settings.adapter, is_trainable=True)


def lora_config(lora: LoraSettings) -> Any:
    """peft's configuration; None where every weight is trained."""
    if lora.r == 0:
        return None
    from peft import LoraConfig

    return LoraConfig(
        r=lora.r,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=lora.target_modules,
        task_type="CAUSAL_LM",
    )


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
