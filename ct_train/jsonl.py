"""JSON lines as every command here reads and writes them: UTF-8, a line ends at ``\\n`` and nowhere else.

``str.splitlines`` also splits at U+2028, U+2029 and U+0085, which JSON allows raw inside a string and writers leave there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ct_tasks.errors import DataError, HarnessError
from ct_train.output import full_disk

WHERE = "where"  # the key under which a training row carries its place, FILE:LINE


def read(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) of each line that is not blank. Raises ``DataError`` naming file and line."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                    if not text.strip():
                        continue
                    row = json.loads(text)
                except (ValueError, RecursionError) as error:
                    raise DataError(f"{path}:{number} is not JSON: {error}") from None
                if not isinstance(row, dict):
                    raise DataError(f"{path}:{number} holds a {type(row).__name__}, not an object with keys")
                yield number, row
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None


def whole_lines(path: Path) -> Iterator[str]:
    """The lines of a log, without one at the end that a kill cut off, and without bytes that are no text."""
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield line[:-1].decode("utf-8", "replace")


def append(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Append rows in one piece; on a full disk nothing of the piece stays. Raises ``HarnessError``."""
    piece = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    before = path.stat().st_size if path.exists() else 0
    with full_disk(path.parent), path.open("ab", buffering=0) as file:
        try:
            if file.write(piece) != len(piece):  # what a disk does that fills up in the middle
                raise HarnessError(f"the disk of {path} is full; free some and run the same command again")
        except (OSError, HarnessError):
            if path.is_file():
                os.truncate(path, before)
            raise


def left_out(command: str, dropped: Mapping[str, Sequence[str]], of: int) -> str:
    """One sentence about rows that are not used: ``dropped`` maps a reason to the places (FILE:LINE). Empty without any."""
    count = sum(map(len, dropped.values()))
    if not count:
        return ""
    parts = [
        f"{len(places)} {reason} ({', '.join(places[:3])}{', ...' if len(places) > 3 else ''})"
        for reason, places in dropped.items()
        if places
    ]
    return f"{command}: {count} of {of} rows are left out: {'; '.join(parts)}"
