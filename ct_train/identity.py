"""What a result was made with: settings by value, files by what they hold, so that a moved folder is the same and a file that
was made again is not."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

EDGE = 1 << 16  # bytes at either end of a model's file that stand for it
MODEL_FILES = (".safetensors", ".bin", ".json", ".jinja", ".model")
PLACES = ("output_dir", "report_to", "save_steps", "vllm_server_url")  # settings that change no result
FILES = ("data", "eval_data", "model", "adapter")  # settings that name what they read


def of_settings(settings: Any) -> dict[str, Any]:
    """The settings as JSON values, without those that change no result, and with the contents of what they read."""
    given = json.loads(json.dumps(dataclasses.asdict(settings)))
    kept = {key: value for key, value in given.items() if key not in PLACES}
    return kept | {key: of_path(kept[key]) for key in FILES if kept.get(key)}


def of_path(name: str | Path) -> str:
    """SHA-256 of a file's bytes; of a model's folder: of names, sizes and both ends of its files, since whole weights take
    minutes. The name itself for what is not here (a model of the hub)."""
    path = Path(name)
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    if not path.is_dir():
        return str(name)
    seen = hashlib.sha256()
    for part in sorted(p for p in path.iterdir() if p.suffix in MODEL_FILES):
        size = part.stat().st_size
        with part.open("rb") as file:
            seen.update(f"{part.name} {size} ".encode() + file.read(EDGE))
            file.seek(max(0, size - EDGE))
            seen.update(file.read(EDGE))
    return seen.hexdigest()


def differences(old: Mapping[str, Any], new: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """One phrase a setting that is not the same."""
    for key in [*old, *(k for k in new if k not in old)]:
        before, now = old.get(key), new.get(key)
        if isinstance(before, Mapping) and isinstance(now, Mapping):
            yield from differences(before, now, f"{where}{key}.")
        elif before != now:
            yield f"{where}{key} {_shown(before)}, now {_shown(now)}"


def _shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:8]}…"
