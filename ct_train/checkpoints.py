"""Checkpoints of a training run: which one to go on from, what it knows, and what stands in the way."""

from __future__ import annotations

import json
from pathlib import Path

from ct_tasks.errors import ConfigError


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


def set_aside(output: Path) -> Path | None:
    """Move what an earlier run left in ``output`` into ``before-fresh-N`` there, so that no later start goes on from it.
    Returns that folder; None where there was nothing. One process calls it."""
    names = ("checkpoint-*", "final", "merged", "rollouts.jsonl", "history.json")
    old = [path for name in names for path in output.glob(name)]
    if not old:
        return None
    aside = next(p for n in range(1, 10_000) if not (p := output / f"before-fresh-{n}").exists())
    aside.mkdir()
    for path in old:
        path.rename(aside / path.name)
    return aside
