"""LlamaFactory's data set and training file for the warm-up on ConTra traces.

The data set is in its ``sharegpt`` format: a list of ``{"conversations": [{"from": "human" | "gpt", "value"}]}``, named in
``dataset_info.json``. LlamaFactory trains on the answers alone, as ``python -m ct_train sft`` does. LoRA settings are those
of ``ct_train``; lengths in tokens.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ct_tasks.errors import DataError
from ct_train.rewards.batch import text_of

NAME = "contra"


def conversation(row: Mapping[str, Any], where: str) -> list[dict[str, str]]:
    """One row's turns. ``prompt`` and ``completion`` are texts or lists of messages. Raises ``DataError``."""
    if not {"prompt", "completion"} <= row.keys():
        raise DataError(f"{where} needs the keys prompt and completion; it has {sorted(row)[:12]}")
    prompt, completion = text_of(row["prompt"]), text_of(row["completion"])
    if not prompt.strip() or not completion.strip():
        raise DataError(f"{where} has an empty prompt or completion")
    return [{"from": "human", "value": prompt}, {"from": "gpt", "value": completion}]


def write(
    rows: Sequence[Mapping[str, Any]], out: Path, *, model: str, template: str, max_tokens: int = 6144
) -> list[Path]:
    """Write data set, ``dataset_info.json`` and training file into ``out``; the files written. Raises ``DataError``."""
    turns = [{"conversations": conversation(row, f"row {number}")} for number, row in enumerate(rows, 1)]
    out.mkdir(parents=True, exist_ok=True)
    data, info, training = out / f"{NAME}.json", out / "dataset_info.json", out / "sft.yaml"
    data.write_text(json.dumps(turns, indent=1, ensure_ascii=False) + "\n")
    info.write_text(json.dumps({NAME: {
        "file_name": data.name, "formatting": "sharegpt", "columns": {"messages": "conversations"},
    }}, indent=1) + "\n")  # fmt: skip
    settings = {
        "model_name_or_path": model, "template": template, "stage": "sft", "do_train": True,
        "finetuning_type": "lora", "lora_rank": 16, "lora_alpha": 32, "lora_target": "all",
        "dataset": NAME, "dataset_dir": str(out), "cutoff_len": max_tokens, "output_dir": str(out / "saves"),
        "per_device_train_batch_size": 1, "gradient_accumulation_steps": 16, "learning_rate": 1.0e-4,
        "num_train_epochs": 3.0, "lr_scheduler_type": "cosine", "warmup_ratio": 0.03, "bf16": True,
        "logging_steps": 10, "save_steps": 500, "report_to": "none",
    }  # fmt: skip
    training.write_text(f"# llamafactory-cli train {training}\n" + yaml.safe_dump(settings, sort_keys=False))
    return [data, info, training]
