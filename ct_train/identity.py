"""What a result was made with: settings by value, files by what they hold, so that a moved folder is the same and a file that
was made again is not."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

EDGE = 1 << 20  # bytes read at each end of a large file
PLACES = ("output_dir", "report_to", "save_steps", "vllm_server_url")  # settings that change no result
FILES = ("data", "eval_data", "model", "adapter")  # settings that name what they read


def of_settings(settings: Any) -> dict[str, Any]:
    """The settings as JSON values, without those that change no result, and with the contents of what they read."""
    given = json.loads(json.dumps(dataclasses.asdict(settings)))
    kept = {key: value for key, value in given.items() if key not in PLACES}
    return kept | {key: of_path(kept[key]) for key in FILES if kept.get(key)}


def of_path(name: str) -> str:
    """A hash of a file, or of the files of a folder; the name itself for what is not here (a model of the hub)."""
    path = Path(name)
    if path.is_file():
        return _file(path)
    if path.is_dir():
        parts = [f"{p.relative_to(path)} {_file(p)}" for p in sorted(path.iterdir()) if p.is_file() and not p.name.startswith(".")]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return name


def _file(path: Path) -> str:
    """Of a large file (weights) only its size and both ends."""
    size, found = path.stat().st_size, hashlib.sha256()
    with path.open("rb") as file:
        if size <= 64 * EDGE:
            while chunk := file.read(EDGE):
                found.update(chunk)
        else:
            found.update(str(size).encode() + file.read(EDGE))
            file.seek(-EDGE, 2)
            found.update(file.read())
    return found.hexdigest()


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
