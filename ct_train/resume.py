"""What a run was made from, and the refusal to go on with anything else: results of two runs in one folder are neither's.

``config.json`` beside the results holds the settings and, under ``made_from``, a digest of the data's bytes and of the model.
Data and model are compared by these digests, so their paths may change; what changes neither weights nor rollouts may change
too (each command names those settings).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from ct_tasks.errors import ConfigError

CONFIG = "config.json"
WAYS = "name a fresh output_dir, or begin again with --fresh, which keeps the old results in before-fresh-N"
PATHS = {"data": "data", "eval_data": "eval_data", "model": "model", "adapter": "adapter"}
EDGE = 1 << 16  # bytes at either end of a model's file that stand for it


def digest(path: str | Path) -> str:
    """SHA-256 of a file; of a model's folder: of names, sizes and both ends of its files, since whole weights take minutes.
    The name itself where nothing is there (a model of the hub)."""
    path = Path(path)
    seen = hashlib.sha256()
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    if not path.is_dir():
        return str(path)
    for file_path in sorted(p for p in path.iterdir() if p.suffix in (".safetensors", ".bin", ".json", ".jinja", ".model")):
        size = file_path.stat().st_size
        with file_path.open("rb") as file:
            seen.update(f"{file_path.name} {size} ".encode() + file.read(EDGE))
            file.seek(max(0, size - EDGE))
            seen.update(file.read(EDGE))
    return seen.hexdigest()[:16]


def made_from(settings: Any) -> dict[str, str]:
    """Digests of the files that ``settings`` names."""
    return {name: digest(value) for name in PATHS if (value := getattr(settings, name, ""))}


def record(folder: Path) -> Mapping[str, Any] | None:
    """What ``config.json`` in ``folder`` says; None without one that can be read."""
    try:
        found = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        return found if isinstance(found, dict) and isinstance(found.get("settings"), dict) else None
    except (OSError, ValueError):
        return None


def refuse_other_settings(
    folder: Path, settings: Any, may_change: Collection[str], *, ways: str = "name a fresh output folder"
) -> None:
    """Raises ``ConfigError`` naming every setting that differs from those that ``folder`` was made with, old and new value.

    Call it where ``folder`` holds results. Without a record nothing can be compared, which is said.
    """
    before = record(folder)
    if before is None:
        print(f"{folder} has no readable {CONFIG}: its settings cannot be compared; going on with it", file=sys.stderr)
        return
    digests = before.get("made_from") or {}
    changed = differences(before["settings"], settings, {*may_change, *digests})
    for name, new in made_from(settings).items():
        if name in digests and digests[name] != new:
            old_path = before["settings"].get(name)
            changed.append(f"{name} was {old_path} ({digests[name]}), now {getattr(settings, name)} ({new})")
    if changed:
        raise ConfigError(
            f"{folder} holds results made with other settings: {'; '.join(changed)}. Going on would mix two runs: give the "
            f"old values, or {ways}"
        )


def differences(before: Mapping[str, Any], settings: Any, may_change: Collection[str]) -> list[str]:
    """``name was OLD, now NEW`` for each setting that differs. One that ``before`` does not know had its default."""
    plain = json.loads(json.dumps(dataclasses.asdict(settings), default=str))
    default = json.loads(json.dumps(dataclasses.asdict(type(settings)()), default=str))
    old, new = _flat({**default, **before}), _flat(plain)
    return [
        f"{name} was {old.get(name)!r}, now {new.get(name)!r}"
        for name in sorted(old.keys() | new.keys())
        if name.partition(".")[0] in plain
        and name.partition(".")[0] not in may_change
        and old.get(name) != new.get(name)
    ]


def _flat(values: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{before}{key}.")
        else:
            flat[f"{before}{key}"] = value
    return flat
