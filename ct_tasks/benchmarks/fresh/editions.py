"""Editions: each month has one public set of programs, and what belongs to one is never trained on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any

from ct_tasks.errors import ConfigError, DataError

FIRST = "2026-12"
LATEST = "2026-12"
"""The default: the newest edition when this version was made. It is a constant, not today's month, so that the same version
asks the same questions on every day."""
SIZE = 400  # items of an edition
_MARGIN = 1000  # drafts of an edition that count as its programs: all that its tasks can come to, and more
_MONTH = re.compile(r"(20\d\d)-(0[1-9]|1[0-2])")
_LAST_YEAR = 2099


def seed_of(edition: str) -> int:
    """``202612`` for ``2026-12``. Raises ``ConfigError`` for what is no edition."""
    found = _MONTH.fullmatch(edition) if isinstance(edition, str) else None
    if found is None or edition < FIRST:
        raise ConfigError(f"fresh_edition is a month from {FIRST} on, like {LATEST!r}, got {edition!r}")
    return int(found[1]) * 100 + int(found[2])


def is_reserved(seed: int) -> bool:
    """Whether a seed is that of an edition, of months to come included."""
    year, month = divmod(seed, 100)
    return int(FIRST[:4]) <= year <= _LAST_YEAR and 1 <= month <= 12 and of_seed(seed) >= FIRST


def of_seed(seed: int) -> str:
    """The edition's name for its seed."""
    return f"{seed // 100}-{seed % 100:02}"


@cache
def fingerprints() -> Mapping[str, str]:
    """Fingerprint → edition of every program of the editions up to the newest that this version knows."""
    import itertools

    from ct_tasks.benchmarks.fresh.fingerprint import fingerprint
    from ct_tasks.benchmarks.fresh.programs import stream

    found: dict[str, str] = {}
    for edition in known():
        for draft in itertools.islice(stream(seed_of(edition)), _MARGIN):
            found.setdefault(fingerprint(draft.code), edition)
    return found


def known() -> list[str]:
    """All editions from the first to the newest."""
    months = range(int(FIRST[:4]) * 12 + int(FIRST[5:]) - 1, int(LATEST[:4]) * 12 + int(LATEST[5:]))
    return [f"{m // 12}-{m % 12 + 1:02}" for m in months]


@lru_cache(maxsize=100_000)
def edition_of(program: str) -> str | None:
    """The edition that holds this program, whatever the names in it, or None."""
    from ct_tasks.benchmarks.fresh.fingerprint import fingerprint

    return fingerprints().get(fingerprint(program))


def refuse(rows: Iterable[Mapping[str, Any]], where: object) -> None:
    """Raise ``DataError`` when a training row comes from an edition: by its ``id`` (``fresh/2026-12/7``), its
    ``fresh_edition``, its ``fresh_seed``, or its ``program`` or ``truth``, whatever the names in it."""
    for number, row in enumerate(rows, 1):
        edition, program = _claimed(row), _program(row)
        if edition is None and program:
            edition = edition_of(program)
        if edition is not None:
            raise DataError(
                f"{where}: row {number} is a program of ct_fresh's edition {edition}, which is for evaluation: a model "
                "trained on it has seen the answers. Take the row out, or generate programs from another seed."
            )


def _claimed(row: Mapping[str, Any]) -> str | None:
    named = re.match(r"fresh/(20\d\d-\d\d)/", str(row.get("id", "")))
    if named:
        return named[1]
    if row.get("fresh_edition"):
        return str(row["fresh_edition"])
    seed = row.get("fresh_seed")
    return of_seed(seed) if isinstance(seed, int) and is_reserved(seed) else None


def _program(row: Mapping[str, Any]) -> str:
    """The program of a row, or of the trace (JSON, or its text) that it holds."""
    if isinstance(row.get("program"), str):
        return str(row["program"])
    truth = row.get("truth")
    if isinstance(truth, str):
        try:
            truth = json.loads(truth)
        except ValueError:
            return ""  # no trace: whoever reads the row says so
    if not isinstance(truth, Mapping):
        return ""
    return "\n".join(part for part in (truth.get("before"), *truth.get("lines", ()), truth.get("after")) if part)
