"""Output folders: one writer at a time, files that appear whole or not at all, and a full disk told in a sentence."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ct_tasks.errors import CodeThinkerError, ConfigError, HarnessError

LOCK = "lock"
FULL = (errno.ENOSPC, errno.EDQUOT)
FULL_TEXTS = ("No space left", "os error 28", "Disk quota exceeded", "PytorchStreamWriter failed", "unexpected pos")
_held: dict[Path, Any] = {}


@contextlib.contextmanager
def locked(folder: str | Path) -> Iterator[Path]:
    """Hold ``folder`` (made where it is missing) against every other writer until the block ends or the process dies.

    The same process may enter again. Processes of one training run share its folder: only rank 0 takes the lock. Raises
    ``ConfigError`` where another process holds it.
    """
    folder = Path(folder)
    with full_disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
    place = folder.resolve()
    if place in _held or int(os.environ.get("RANK", "0")) > 0:
        yield folder
        return
    file = (folder / LOCK).open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise ConfigError(
            f"{folder} is being written by another run; wait for it, or name another output folder"
        ) from None
    _held[place] = file
    try:
        yield folder
    finally:
        del _held[place]
        file.close()


def _let_go() -> None:
    """A forked worker that outlives its killed parent must not keep the parent's folders locked."""
    for file in _held.values():
        file.close()
    _held.clear()


os.register_at_fork(after_in_child=_let_go)


@contextlib.contextmanager
def full_disk(folder: str | Path, kept: str = "nothing that was finished is lost") -> Iterator[None]:
    """Whatever a full disk makes a library raise inside the block becomes a ``HarnessError`` that says so."""
    try:
        yield
    except CodeThinkerError:
        raise
    except Exception as error:
        if not (getattr(error, "errno", None) in FULL or any(text in str(error) for text in FULL_TEXTS)):
            raise
        raise HarnessError(
            f"the disk of {folder} is full; free some and run the same command again, {kept}"
        ) from error


def write_text(path: Path, text: str) -> None:
    """Write ``path`` whole or not at all. Raises ``HarnessError`` on a full disk."""
    partial = path.with_name(path.name + ".part")
    with full_disk(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)


def write_json(path: Path, data: Any) -> None:
    """``write_text`` of indented JSON."""
    write_text(path, json.dumps(data, indent=1, default=str) + "\n")


def replaced(folder: Path, made: Path) -> None:
    """Put the finished folder ``made`` in the place of ``folder``, which holds what an earlier run left, or nothing."""
    shutil.rmtree(folder, ignore_errors=True)
    made.replace(folder)
