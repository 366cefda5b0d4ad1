"""The paper's rejection-sampling baseline: draw the rollouts that GRPO would have drawn, keep the perfect ones, learn them.

Budget: ``max_steps`` x ``prompts_per_rollout`` programs with ``group_size`` regular samples each, all from the start model.
"""

from __future__ import annotations

import json
from pathlib import Path

from ct_tasks.errors import ConfigError, DataError
from ct_train.grpo.config import GrpoSettings

PERFECT = 4.0


def train(settings: GrpoSettings) -> Path:
    """Sample, filter, SFT; the final model's folder. Raises ``DataError`` when no rollout is perfect."""
    if settings.max_steps < 1:
        raise ConfigError("rejection sampling needs max_steps, which sets its budget of rollouts")
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


def _sample(settings: GrpoSettings, kept: Path) -> None:
    import random

    import torch

    from ct_tasks.contra.scoring import score_trace
    from ct_train.cli.grpo import contra_prompt
    from ct_train.dbs import regular
    from ct_train.grpo.data import load_rows, prompt_ids, with_prompts, with_truths
    from ct_train.models import load_model, load_tokenizer, set_pad
    from ct_train.sft.data import truth_of
    from ct_train.sft.probe import sampler_for

    tokenizer = load_tokenizer(settings.model)
    if not settings.chat:
        tokenizer.chat_template = None
    set_pad(tokenizer)
    rows = with_truths(load_rows(settings.data, settings.limit), segmentation=settings.segmentation)
    rows = with_prompts(rows, tokenizer, lambda t: contra_prompt(t, settings.segmentation), settings.max_prompt_tokens)
    random.Random(settings.seed).shuffle(rows)
    rows = rows[: settings.max_steps * settings.prompts_per_rollout]
    torch.manual_seed(settings.seed)
    sampler = sampler_for(
        load_model(settings.model, bf16=settings.bf16, whole=False).eval(), tokenizer, settings.max_response_tokens
    )
    lines = []
    for begin in range(0, len(rows), settings.prompts_per_rollout):
        some = rows[begin : begin + settings.prompts_per_rollout]
        groups = regular([prompt_ids(tokenizer, r["prompt"]) for r in some], settings.group_size, sampler)
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
    kept.write_text("".join(lines))
