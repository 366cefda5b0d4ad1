"""The paper's rejection-sampling baseline: draw the rollouts that GRPO would have drawn, keep the perfect ones, learn them.

Budget: exactly GRPO's. A rollout of ``prompts_per_rollout`` programs serves ``prompts_per_rollout / prompts_per_update``
optimiser steps, so ``max_steps`` or ``epochs`` come to so many rollouts, with ``group_size`` regular samples a program, all
from the start model. As in GRPO each epoch has an order of its own and gives whole rollouts only.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from pathlib import Path

from ct_tasks.errors import ConfigError, DataError
from ct_train.data.halves import halve
from ct_train.grpo.config import GrpoSettings
from ct_train.grpo.data import Row
from ct_train.prompts import prompt

PERFECT = 4.0


def train(settings: GrpoSettings) -> Path:
    """Sample, filter, SFT; the final model's folder. ``rejection.json`` there counts rollouts, perfect texts and tokens.

    Raises ``DataError`` when no rollout is perfect.
    """
    if settings.paradigm != "contra":
        raise ConfigError(f"rejection sampling keeps perfect traces, and replies in the format {settings.paradigm} are none")
    folder = Path(settings.output_dir)
    kept = folder / "perfect.jsonl"
    if not kept.exists():
        _sample(settings, kept)
    from ct_train.sft.config import SftSettings
    from ct_train.sft.run import train as sft

    rows = kept.read_text().count("\n")
    batch = min(32, rows)
    return sft(
        SftSettings(
            model=settings.model,
            data=str(kept),
            output_dir=str(folder),
            lora=settings.lora,
            chat=settings.chat,
            learning_rate=settings.learning_rate,
            optimizer=settings.optimizer,
            schedule="linear",
            weight_decay=settings.weight_decay,
            epochs=1,
            batch_size=batch,
            max_tokens=settings.max_prompt_tokens + settings.max_response_tokens,
            bf16=settings.bf16,
            gradient_checkpointing=settings.gradient_checkpointing,
            save_steps=0,
            seed=settings.seed,
            report_to="none",
        ),
        lambda truth: "",  # every row has its prompt
    )


def budget(settings: GrpoSettings, rows: int) -> int:
    """Programs that GRPO would sample from ``rows`` rows, repeats counted. Raises ``ConfigError`` where that is none."""
    updates = settings.prompts_per_rollout // settings.prompts_per_update
    steps = settings.max_steps
    if steps < 1:
        steps = math.ceil(rows // settings.prompts_per_rollout * updates * settings.epochs)
    if steps < 1:
        raise ConfigError(f"epochs {settings.epochs} and max_steps {settings.max_steps} sample nothing; set one of them")
    return math.ceil(steps / updates) * settings.prompts_per_rollout


def drawn(settings: GrpoSettings, rows: Sequence[Row]) -> list[Row]:
    """The programs to sample, in order."""
    wanted = budget(settings, len(rows))
    whole = len(rows) // settings.prompts_per_rollout * settings.prompts_per_rollout or len(rows)
    draw = random.Random(settings.seed)
    found: list[Row] = []
    while len(found) < wanted:
        found += draw.sample(list(rows), len(rows))[:whole]
    return found[:wanted]


def _sample(settings: GrpoSettings, kept: Path) -> None:
    import torch

    from ct_tasks.contra.scoring import score_trace
    from ct_train.dbs import generated_tokens, regular
    from ct_train.grpo.data import load_rows, prompt_ids, with_prompts, with_truths
    from ct_train.models import load_model, load_tokenizer, set_pad
    from ct_train.sft.data import truth_of
    from ct_train.sft.probe import sampler_for

    tokenizer = load_tokenizer(settings.model)
    if not settings.chat:
        tokenizer.chat_template = None
    set_pad(tokenizer)
    rows = with_truths(halve(load_rows(settings.data, settings.limit), settings.halve), segmentation=settings.segmentation)
    rows = with_prompts(rows, tokenizer, lambda t: prompt(t, segmentation=settings.segmentation), settings.max_prompt_tokens)
    rows = drawn(settings, rows)
    torch.manual_seed(settings.seed)
    model = load_model(settings.model, bf16=settings.bf16, whole=False).eval()
    if torch.accelerator.is_available():
        model = model.to(torch.accelerator.current_accelerator())
    sampler = sampler_for(model, tokenizer, settings.max_response_tokens, settings.temperature)
    lines: list[str] = []
    tokens = 0
    for begin in range(0, len(rows), settings.prompts_per_rollout):
        some = rows[begin : begin + settings.prompts_per_rollout]
        groups = regular([prompt_ids(tokenizer, r["prompt"]) for r in some], settings.group_size, sampler)
        tokens += generated_tokens(groups)
        for row, group in zip(some, groups, strict=True):
            truth = truth_of(row)
            assert truth is not None
            texts = dict.fromkeys(t.text for t in group if score_trace(t.text, truth).reward == PERFECT)
            lines += [json.dumps({"prompt": row["prompt"], "completion": text}) + "\n" for text in texts]
    if not lines:
        raise DataError(
            f"none of {len(rows) * settings.group_size} rollouts is perfect, so there is nothing to learn from"
        )
    kept.parent.mkdir(parents=True, exist_ok=True)
    figures = {"rollouts": len(rows) * settings.group_size, "perfect": len(lines), "generated_tokens": tokens}
    kept.with_name("rejection.json").write_text(json.dumps(figures) + "\n")
    partial = kept.with_suffix(".part")
    partial.write_text("".join(lines))
    partial.replace(kept)
