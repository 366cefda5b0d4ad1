"""A saved model on held-out programs: several answers at temperature 1, and the greedy one beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ct_tasks.errors import ConfigError, DataError
from ct_train.grpo.checks import refuse_without_template
from ct_train.grpo.data import prompt_ids
from ct_train.jsonl import WHERE
from ct_train.models import load_model, load_tokenizer
from ct_train.sft.data import load_rows, truth_of

MAX_TOKENS = 256


def measure_model(folder: Path, data: Path | None, samples: int = 5, limit: int | None = None) -> dict[str, Any]:
    """Figures by kind of sampling. Torch's seed is set to 0, so the same model gives the same figures.

    Raises ``ConfigError`` without ``data`` or where no model can be loaded from ``folder``, and ``DataError`` for rows
    without a true trace or a prompt.
    """
    if data is None:
        raise ConfigError("--measure needs --data with held-out rows")
    if samples < 1 or (limit is not None and limit < 1):
        raise ConfigError(f"--samples {samples} and --limit {limit} must be at least 1")
    rows = load_rows(data, limit)
    truths = [truth for row in rows if (truth := truth_of(row)) is not None]
    if len(truths) != len(rows):
        raise DataError(f"{data}: {len(rows) - len(truths)} rows have no truth to compare with")
    if lacking := [row[WHERE] for row in rows if not isinstance(row.get("prompt"), str)]:
        raise DataError(f"{data}: {len(lacking)} rows have no prompt, e.g. {lacking[0]}")

    import torch

    from ct_train.sft.probe import measure, sampler_for

    tokenizer = load_tokenizer(str(folder))
    refuse_without_template(tokenizer, chat=True)
    model = load_model(str(folder), bf16=False, whole=True).eval()
    prompts = [prompt_ids(tokenizer, [{"role": "user", "content": row["prompt"]}]) for row in rows]
    torch.manual_seed(0)
    sampled = measure(sampler_for(model, tokenizer, MAX_TOKENS), prompts, truths, samples)
    greedy = measure(sampler_for(model, tokenizer, MAX_TOKENS, temperature=0.0), prompts, truths)
    return {"model": str(folder), "programs": len(rows), "sampled": sampled.to_json(), "greedy": greedy.to_json()}
