"""What a run was made from, and the refusal to go on with anything else: results of two runs in one folder are neither's.

``config.json`` beside the results holds the settings and, under ``made_from``, a digest of the data's bytes and of the model.
Data and model are compared by these digests, so their paths may change; what changes neither weights nor rollouts may change
too (each command names those settings).
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from ct_tasks.errors import ConfigError
from ct_train import identity

CONFIG = "config.json"
WAYS = "name a fresh output_dir, or begin again with --fresh, which keeps the old results in before-fresh-N"


def made_from(settings: Any) -> dict[str, str]:
    """Digests of the files that ``settings`` names."""
    return {name: identity.of_path(value) for name in identity.FILES if (value := getattr(settings, name, ""))}


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
            changed.append(f"{name} was {old_path} ({digests[name][:12]}), now {getattr(settings, name)} ({new[:12]})")
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
