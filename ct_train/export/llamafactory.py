"""LlamaFactory's data sets and training file for the warm-up on ConTra traces.

Data sets are in its ``sharegpt`` format: a list of ``{"conversations": [{"from": "human" | "gpt", "value"}]}``, named in
``dataset_info.json``. LlamaFactory trains on the answers alone, as ``python -m ct_train sft`` does. Every setting of ``sft`` is
carried over or refused with a sentence; lengths in tokens.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ct_tasks.errors import ConfigError, DataError
from ct_train.rewards.batch import text_of
from ct_train.sft.config import SftSettings

NAME, HELD_OUT = "contra", "contra_held_out"


def conversation(row: Mapping[str, Any], where: str) -> list[dict[str, str]]:
    """One row's turns. ``prompt`` and ``completion`` are texts or lists of messages. Raises ``DataError``."""
    if not {"prompt", "completion"} <= row.keys():
        raise DataError(f"{where} needs the keys prompt and completion; it has {sorted(row)[:12]}")
    prompt, completion = text_of(row["prompt"]), text_of(row["completion"])
    if not prompt.strip() or not completion.strip():
        raise DataError(f"{where} has an empty prompt or completion")
    return [{"from": "human", "value": prompt}, {"from": "gpt", "value": completion}]


def write(
    rows: Sequence[Mapping[str, Any]],
    held_out: Sequence[Mapping[str, Any]],
    out: Path,
    settings: SftSettings,
    template: str,
) -> list[Path]:
    """Write data sets, ``dataset_info.json`` and training file into ``out``; the files written.

    Raises ``DataError`` for a row without text, ``ConfigError`` for a setting that LlamaFactory cannot follow, both before
    anything is written.
    """
    given = {NAME: rows, **({HELD_OUT: held_out} if held_out else {})}
    sets = {
        name: [{"conversations": conversation(row, f"row {number}")} for number, row in enumerate(some, 1)]
        for name, some in given.items()
    }
    made = training(settings, out, template, evaluates=bool(held_out))
    out.mkdir(parents=True, exist_ok=True)
    files = []
    for name, turns in sets.items():
        files.append(out / f"{name}.json")
        files[-1].write_text(json.dumps(turns, indent=1, ensure_ascii=False) + "\n")
    info, file = out / "dataset_info.json", out / "sft.yaml"
    columns = {"formatting": "sharegpt", "columns": {"messages": "conversations"}}
    info.write_text(json.dumps({name: {"file_name": f"{name}.json", **columns} for name in sets}, indent=1) + "\n")
    file.write_text(f"# llamafactory-cli train {file}\n" + yaml.safe_dump(made, sort_keys=False))
    return [*files, info, file]


def refuse(settings: SftSettings) -> None:
    """Raises ``ConfigError`` for a setting that LlamaFactory cannot follow, with what to do."""
    for holds, what in (
        (settings.optimizer == "adamw", f"scales {settings.optimizer} in another way; set optimizer=adamw"),
        (settings.chat, "always writes prompts through a chat template; set chat=true"),
        (not settings.probe, "does not score held-out answers while it trains; set probe=0"),
        (
            settings.lora.target_modules == "all-linear" or "," in settings.lora.target_modules or not settings.lora.r,
            "takes lora.target_modules as all-linear or as names with commas between them",
        ),
    ):
        if not holds:
            raise ConfigError(f"LlamaFactory {what}")


def training(settings: SftSettings, out: Path, template: str, *, evaluates: bool) -> dict[str, Any]:
    """The training file. Raises ``ConfigError``, see ``refuse`` and the settings' own check."""
    settings.check()
    refuse(settings)
    lora = settings.lora
    target = "all" if lora.target_modules == "all-linear" else lora.target_modules
    kind: dict[str, Any] = {"finetuning_type": "full"}
    if lora.r:
        kind = {"finetuning_type": "lora", "lora_rank": lora.r, "lora_alpha": lora.alpha, "lora_dropout": lora.dropout,
                "lora_target": target}  # fmt: skip
    checks = {
        "eval_dataset": HELD_OUT, "eval_strategy": "steps", "eval_steps": settings.eval_steps,
        "per_device_eval_batch_size": settings.batch_size,
    } if evaluates else {}  # fmt: skip
    return {
        "model_name_or_path": settings.model, "template": template, "stage": "sft", "do_train": True, **kind,
        "dataset": NAME, "dataset_dir": str(out), "cutoff_len": settings.max_tokens, "packing": settings.packing,
        "output_dir": settings.output_dir, "per_device_train_batch_size": settings.batch_size,
        "gradient_accumulation_steps": settings.accumulation, "learning_rate": settings.learning_rate,
        "weight_decay": settings.weight_decay, "num_train_epochs": settings.epochs, "max_steps": settings.max_steps,
        "lr_scheduler_type": settings.schedule, "warmup_steps": settings.warmup_steps, "bf16": settings.bf16,
        "disable_gradient_checkpointing": not settings.gradient_checkpointing, **checks, "logging_steps": 10,
        "save_strategy": "steps" if settings.save_steps > 0 else "no", "save_steps": max(1, settings.save_steps),
        "save_total_limit": settings.keep_checkpoints, "seed": settings.seed, "report_to": settings.report_to,
    }  # fmt: skip
