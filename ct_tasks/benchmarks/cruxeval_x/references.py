"""Which reference programs of CRUXEval-X are sound: a model is never scored on one that fails by itself.

``references.json`` is written by ``python -m ct_tasks containers check`` (``check.py``): for each language the data's hash, how many
references passed every run, and those that did not, with the reason. It counts only for data of that hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("references.json")


@cache
def known() -> dict[str, Any]:
    """The committed list."""
    return dict(json.loads(FILE.read_text())) if FILE.is_file() else {}


def digest(programs: Sequence[str]) -> str:
    """Hash of a language's reference programs, in order."""
    return hashlib.sha256("\0".join(programs).encode("utf-8", "surrogatepass")).hexdigest()


def bad(language: str, programs: Sequence[str]) -> dict[str, str]:
    """Item id to reason, for the references of these programs that do not pass; empty for data of another hash."""
    entry = known().get(language, {})
    return dict(entry.get("bad", {})) if entry.get("sha256") == digest(programs) else {}


def table(languages: Sequence[str]) -> list[str]:
    """Lines of a Markdown table: for each language how many references are good, bad and flaky."""
    lines = ["| language | references | good | bad | flaky | runs of each | data (SHA-256) |", "|---|---:|---:|---:|---:|---:|---|"]
    for name in languages:
        entry = known().get(name)
        if entry is None:
            lines.append(f"| {name} | not checked | – | – | – | – | – |")
            continue
        kinds = [reason.partition(":")[0] for reason in entry["bad"].values()]
        lines.append(f"| {name} | {entry['of']} | {entry['good']} | {kinds.count('bad')} | {kinds.count('flaky')} | {entry['repeats']} | {entry['sha256'][:12]} |")
    return lines
