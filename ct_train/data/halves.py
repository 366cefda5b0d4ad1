"""Half of the training rows (paper, Table 5): half of the functions, or half of each function's unit tests.

The paper does not say which half goes. Here a hash of the text decides, so it is the same half in SFT and GRPO, on every
machine and for every seed.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ct_tasks.errors import DataError, UnknownNameError

KINDS = ("code", "tests")
Row = dict[str, Any]


def check(kind: str) -> None:
    """Raises ``UnknownNameError`` for anything but one of ``KINDS`` or nothing."""
    if kind and kind not in KINDS:
        raise UnknownNameError("halve", kind, KINDS)


def halve(rows: Sequence[Row], kind: str) -> list[Row]:
    """``code``: the rows of half of the functions; ``tests``: half of the rows of each function; both rounded up, rows in their
    old order, all of them where ``kind`` is empty. Raises ``DataError`` for a row that does not say its program and call."""
    check(kind)
    if not kind:
        return list(rows)
    functions: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        functions.setdefault(_texts(row, number)[0], []).append(number)
    if kind == "code":
        kept = {n for program in _half(list(functions)) for n in functions[program]}
    else:
        kept = set()
        for program, numbers in functions.items():
            seen: Counter[str] = Counter()
            calls = {}
            for n in numbers:
                call = _texts(rows[n], n)[1]
                seen[call] += 1
                calls[n] = f"{program}\x00{call}\x00{seen[call]}"
            chosen = set(_half(list(calls.values())))
            kept |= {n for n in numbers if calls[n] in chosen}
    return [row for number, row in enumerate(rows) if number in kept]


def _half(texts: Sequence[str]) -> list[str]:
    ordered = sorted(texts, key=lambda text: hashlib.sha256(text.encode()).digest())
    return ordered[: math.ceil(len(ordered) / 2)]


def _texts(row: Mapping[str, Any], number: int) -> tuple[str, str]:
    if "program" in row and "call" in row:
        return str(row["program"]), str(row["call"])
    if "truth" in row:
        truth = json.loads(row["truth"]) if isinstance(row["truth"], str) else row["truth"]
        return "\n".join([truth["before"], *truth["lines"], truth["after"]]), str(truth["call"])
    raise DataError(f"row {number + 1} has no program and call, so it cannot be told which half it belongs to; set halve=''")
