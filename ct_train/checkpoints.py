"""Checkpoints of a training run: which one to go on from, what it knows, and what stands in the way."""

from __future__ import annotations

import json
import struct
import sys
import zipfile
from pathlib import Path

from ct_tasks.errors import ConfigError

STATE = "trainer_state.json"
# What a resumed run needs, in any of the forms that one process, FSDP and DeepSpeed write it.
NEEDED = {
    "weights": ("*.safetensors", "pytorch_model*.bin", "pytorch_model_fsdp_*/.metadata", "global_step*/*"),
    "optimizer": ("optimizer.pt", "optimizer.bin", "optimizer_*/.metadata", "global_step*/*"),
    "schedule": ("scheduler.pt", "global_step*/*"),
    "random state": ("rng_state*.pth",),
    "state": (STATE,),
}


def last_checkpoint(folder: Path) -> Path | None:
    """The newest whole checkpoint. One that a kill, a full disk or a torn file left damaged is passed over, which is said."""
    damaged = []
    for path in sorted(folder.glob("checkpoint-*"), key=_step, reverse=True):
        if reason := damage(path):
            damaged.append(f"{path} is not whole ({reason})")
            continue
        if damaged:
            print(f"{'; '.join(damaged)}; going on from {path.name}", file=sys.stderr)
        return path
    if damaged:
        print(f"{'; '.join(damaged)}; no whole one is left, so the run begins again", file=sys.stderr)
    return None


def _step(path: Path) -> int:
    text = path.name.rsplit("-", 1)[1]
    return int(text) if text.isdecimal() else -1


def damage(checkpoint: Path) -> str:
    """Why ``checkpoint`` cannot be resumed from; empty where it is whole. Reads every file, tensors by their checksums."""
    if _step(checkpoint) < 0:
        return "its name holds no step"
    for kind, patterns in NEEDED.items():
        if not any(path for pattern in patterns for path in checkpoint.glob(pattern)):
            return f"it has no {kind}: no {' or '.join(patterns)}"
    for path in sorted(p for p in checkpoint.rglob("*") if p.is_file()):
        if not _whole(path):
            return f"{path.relative_to(checkpoint)} is torn"
    for index in checkpoint.glob("*.index.json"):
        shards = set(json.loads(index.read_text()).get("weight_map", {}).values())
        if missing := [name for name in sorted(shards) if not (checkpoint / name).is_file()]:
            return f"it lacks {missing[0]}"
    state = json.loads((checkpoint / STATE).read_text())
    if not isinstance(state, dict) or state.get("global_step") != _step(checkpoint) or "log_history" not in state:
        return f"{STATE} is not of step {_step(checkpoint)}"
    return ""


def _whole(path: Path) -> bool:
    try:
        if path.suffix == ".json":
            json.loads(path.read_text(encoding="utf-8"))
        elif path.suffix == ".safetensors":
            return _safetensors_whole(path)
        elif path.suffix in (".pt", ".pth", ".bin"):  # torch writes zip archives, with a checksum a tensor
            with zipfile.ZipFile(path) as archive:
                return archive.testzip() is None
        else:  # templates, word lists, shards: an empty one was begun and never written
            return path.stat().st_size > 0 or path.name == "latest"
    except (OSError, ValueError, zipfile.BadZipFile, struct.error):
        return False
    return True


def _safetensors_whole(path: Path) -> bool:
    """Eight bytes with the header's length, the header (JSON), then the tensors to the last offset that it names."""
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        size = path.stat().st_size
        if length > size - 8:
            return False
        header = json.loads(file.read(length))
    ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
    return bool(size == 8 + length + max(ends, default=0))


def generated_before(checkpoint: Path | None) -> int:
    """Tokens that a run had generated when it wrote ``checkpoint``: every step is logged, the last count is the checkpoint's."""
    if checkpoint is None:
        return 0
    logged, name = json.loads((checkpoint / STATE).read_text())["log_history"], "rollout/generated_tokens"
    return int(next((h[name] for h in reversed(logged) if name in h), 0))


def refuse_shorter(checkpoint: Path | None, max_steps: int) -> None:
    """Raises ``ConfigError`` where ``checkpoint`` is already past ``max_steps``: no run of that length would hold it."""
    if checkpoint is not None and 0 < max_steps < _step(checkpoint):
        raise ConfigError(
            f"{checkpoint} is past max_steps {max_steps}; raise max_steps, or give a fresh output_dir for a shorter run"
        )


def has_results(output: Path) -> bool:
    """Whether ``output`` holds anything that a later start would go on from or take for its own."""
    return any(any(output.glob(name)) for name in ("checkpoint-*", "final", "merged", "history.json"))


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
    for path in [*old, *output.glob("config.json")]:
        path.rename(aside / path.name)
    return aside
