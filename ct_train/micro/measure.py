"""A saved model on held-out programs: several answers at temperature 1, and the greedy one beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ct_tasks.errors import ConfigError, DataError
from ct_train.grpo.data import prompt_ids
from ct_train.sft.data import load_rows, truth_of

MAX_TOKENS = 256


def measure_model(folder: Path, data: Path | None, samples: int = 5, limit: int | None = None) -> dict[str, Any]:
    """Figures by kind of sampling. Torch's seed is set to 0, so the same model gives the same figures.

    Raises ``ConfigError`` without ``data`` and ``DataError`` for rows without a true trace.
    """
    if data is None:
        raise ConfigError("--measure needs --data with held-out rows")
    rows = load_rows(data, limit)
    truths = [truth for row in rows if (truth := truth_of(row)) is not None]
    if len(truths) != len(rows):
        raise DataError(f"{data}: {len(rows) - len(truths)} rows have no truth to compare with")

    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from ct_train.sft.probe import measure, sampler_for

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    prompts = [prompt_ids(tokenizer, [{"role": "user", "content": row["prompt"]}]) for row in rows]
    torch.manual_seed(0)
    sampled = measure(sampler_for(model, tokenizer, MAX_TOKENS), prompts, truths, samples)
    greedy = measure(sampler_for(model, tokenizer, MAX_TOKENS, temperature=0.0), prompts, truths)
    return {"model": str(folder), "programs": len(rows), "sampled": sampled.to_json(), "greedy": greedy.to_json()}
