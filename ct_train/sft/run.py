"""One SFT run from its settings: checks, data, model, trainer, resume. The heavy imports wait until the checks passed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ct_tasks.contra.trace import Truth
from ct_tasks.errors import ConfigError, DataError
from ct_train.checkpoints import last_checkpoint, refuse_mixed_folder, set_aside
from ct_train.data.halves import halve
from ct_train.grpo.checks import refuse_without_template
from ct_train.grpo.data import prompt_ids
from ct_train.models import load_model, load_tokenizer, lora_config, precision, set_pad, split_by
from ct_train.sft.config import SftSettings
from ct_train.sft.data import complete, load_rows, tokenize, truth_of


def train(settings: SftSettings, prompt: Callable[[Truth], str], *, resume: bool = True) -> Path:
    """Train and return the folder of the final model (a LoRA adapter where LoRA is on; ``merged`` beside it).

    Raises ``ConfigError`` or ``DataError`` before the model loads for everything that can be known then.
    """
    settings.check()
    rows = halve(load_rows(settings.data, settings.limit), settings.halve)
    held_out = load_rows(settings.eval_data, settings.eval_limit) if settings.eval_data else []
    output = Path(settings.output_dir)
    if settings.probe and (how := split_by()):
        raise ConfigError(f"probe samples from the model, which {how} splits over the processes; set probe=0")
    if resume:
        refuse_mixed_folder(output, settings.lora.r)
    checkpoint = last_checkpoint(output) if resume else None
    rows = complete(rows, prompt, settings.segmentation)
    held_out = complete(held_out, prompt, settings.segmentation) if held_out else []
    if settings.probe and not any("truth" in row for row in held_out):
        raise DataError(
            f"probe needs rows with truth; {settings.eval_data} has none: set probe=0 or give other eval_data"
        )

    from datasets import Dataset
    from trl import SFTConfig

    from ct_train import optim
    from ct_train.sft.trainer import ContraSFTTrainer

    tokenizer = load_tokenizer(settings.model)
    refuse_without_template(tokenizer, settings.chat)
    if not settings.chat:
        tokenizer.chat_template = None
    set_pad(tokenizer)
    learned = tokenize(rows, tokenizer, settings.max_tokens)
    checked = tokenize(held_out, tokenizer, settings.max_tokens) if held_out else None
    if len(learned) < len(rows):
        print(f"sft: {len(rows) - len(learned)} of {len(rows)} rows are longer than max_tokens and left out")
    model = load_model(settings.model, bf16=settings.bf16, whole=settings.lora.r == 0)
    trainer = ContraSFTTrainer(
        model=model,
        args=SFTConfig(**trl_arguments(settings)),
        train_dataset=Dataset.from_list(learned),
        eval_dataset=Dataset.from_list(checked) if checked else None,
        processing_class=tokenizer,
        peft_config=lora_config(settings.lora),
        optimizers=(optim.build(model, settings.optimizer, settings.learning_rate, settings.weight_decay), None),
    )
    if not resume and trainer.is_world_process_zero():
        set_aside(output)
    if settings.probe:
        trainer.add_callback(_probe_callback(trainer, settings, tokenizer, held_out))
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    final = output / "final"
    trainer.save_model(str(final))
    if not trainer.is_world_process_zero():
        return final
    tokenizer.save_pretrained(str(final))
    if settings.lora.r and settings.merge:
        merge(settings.model, final, output / "merged", tokenizer)
    (output / "history.json").write_text(json.dumps(trainer.state.log_history, indent=1) + "\n")
    return final


def trl_arguments(settings: SftSettings) -> dict[str, Any]:
    """trl's configuration."""
    evaluates = bool(settings.eval_data)
    return {
        "output_dir": settings.output_dir,
        "per_device_train_batch_size": settings.batch_size,
        "per_device_eval_batch_size": settings.batch_size,
        "gradient_accumulation_steps": settings.accumulation,
        "learning_rate": settings.learning_rate,
        "lr_scheduler_type": settings.schedule,
        "warmup_steps": settings.warmup_steps,
        "weight_decay": settings.weight_decay,
        "num_train_epochs": settings.epochs,
        "max_steps": settings.max_steps,
        "max_length": settings.max_tokens,
        "packing": settings.packing,
        **precision(settings.bf16),
        "gradient_checkpointing": settings.gradient_checkpointing,
        "eval_strategy": "steps" if evaluates else "no",
        "eval_steps": settings.eval_steps if evaluates else None,
        "save_strategy": "steps" if settings.save_steps > 0 else "no",
        "save_steps": max(1, settings.save_steps),
        "save_total_limit": settings.keep_checkpoints,
        "logging_steps": 10,
        "report_to": settings.report_to,
        "seed": settings.seed,
    }


def merge(base: str, adapter: Path, folder: Path, tokenizer: Any) -> None:
    """Write the adapter merged into its base, in bf16-safe fp32 arithmetic, for engines that take no adapters."""
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    dtype = torch.bfloat16 if "bfloat16" in str(model.config.dtype) else None
    merged = PeftModel.from_pretrained(model, str(adapter)).merge_and_unload()
    (merged.to(dtype) if dtype else merged).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _probe_callback(trainer: Any, settings: SftSettings, tokenizer: Any, rows: Sequence[dict[str, Any]]) -> Any:
    from transformers import TrainerCallback

    from ct_train.sft.probe import measure, sampler_for

    asked = [row for row in rows if "truth" in row][: settings.probe]
    ids = [prompt_ids(tokenizer, _messages(row["prompt"], tokenizer)) for row in asked]
    truths = [t for row in asked if (t := truth_of(row)) is not None]

    class Probe(TrainerCallback):  # type: ignore[misc]
        """At each evaluation, and before the first step."""

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if state.global_step == 0:
                self.run(state)

        def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            self.run(state)

        def run(self, state: Any) -> None:
            model = trainer.accelerator.unwrap_model(trainer.model)
            training = model.training
            model.eval()
            cache, model.config.use_cache = model.config.use_cache, True
            figures = measure(sampler_for(model, tokenizer, settings.probe_tokens), ids, truths)
            model.config.use_cache = cache
            model.train(training)
            trainer.log({f"probe/{k}": float(v) for k, v in figures.to_json().items()})

    return Probe()


def _messages(prompt: Any, tokenizer: Any) -> Any:
    if isinstance(prompt, str) and getattr(tokenizer, "chat_template", None):
        return [{"role": "user", "content": prompt}]
    return prompt
