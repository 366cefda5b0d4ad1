"""Reading JSON lines. A line ends at a line feed and nowhere else: Python's ``splitlines`` also cuts at U+2028, U+2029 and
U+0085, which stand unescaped inside JSON strings. A row that cannot be read is told with its place, never dropped."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ct_tasks.errors import DataError


def rows(text: str, where: object) -> Iterator[tuple[int, Any]]:
    """Line number, from 1, and value of every line that is not blank. Raises ``DataError`` naming ``where`` and the line."""
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line, object_pairs_hook=_once)
            except ValueError as error:
                raise DataError(f"{where}:{number} is no JSON: {error}") from None


def document(text: str) -> Any:
    """The one JSON value of a text. Raises ``ValueError``, also for a key that an object has twice."""
    return json.loads(text.removeprefix("\ufeff"), object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    """``json`` itself would keep the last of two values for one key, and drop the other."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(n for n in names if names.count(n) > 1)!r} occurs twice in one object")
    return found
