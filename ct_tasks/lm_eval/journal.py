"""An append-only journal of generations: a killed run goes on where it was, sampled repeats included, with any backend.

lm-eval writes everything at the end, and its own cache skips sampled generation. Here requests are worked off in chunks of
fixed composition; before a chunk the random generators are seeded from the run's seed and the chunk's number, after it the
chunk's generations are appended and synced to disk. So a chunk is in the journal whole or not at all, and what a resumed
run samples does not depend on where it was killed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from ct_tasks.errors import ConfigError, HarnessError


class Journal:
    """``generations.jsonl`` in a run's folder. Opening repairs a torn last line and refuses a second writer."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "generations.jsonl"
        self._lock = (folder / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConfigError(
                f"{folder} is being written by another run; wait for it, or give another --run_dir"
            ) from None
        self.done: dict[str, str] = dict(self._read())
        self._file: IO[bytes] = self.path.open("ab")

    def _read(self) -> Iterator[tuple[str, str]]:
        if not self.path.exists():
            return
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):  # the machine stopped in the middle of a line
            with self.path.open("r+b") as file:
                file.truncate(len(whole))
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                row = json.loads(line)
                yield row["key"], row["text"]
            except (ValueError, KeyError, TypeError):
                raise ConfigError(
                    f"{self.path}:{number} is damaged; remove that line to generate its request again"
                ) from None

    def append(self, rows: Sequence[dict[str, Any]]) -> None:
        """Write rows in one piece and wait until the disk has them. On a full disk nothing of the piece stays.

        Raises ``HarnessError`` with what to do.
        """
        before = self.path.stat().st_size
        try:
            self._file.write(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):  # the buffer's rest cannot be written either
                self._file.close()
            os.truncate(self.path, before)
            self._file = self.path.open("ab")
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise HarnessError(
                    f"the disk of {self.path} is full; free some and run the same command again, nothing is lost"
                ) from None
            raise
        self.done.update((row["key"], row["text"]) for row in rows)

    def close(self) -> None:
        """Give the lock back."""
        self._file.close()
        self._lock.close()


def keys(requests: Sequence[Any]) -> list[str]:
    """A key a request: task, document, prompt, generation settings, and which repeat of it this is."""
    seen: dict[str, int] = {}
    found = []
    for request in requests:
        prompt, settings = request.args[0], request.args[1] if len(request.args) > 1 else {}
        text = json.dumps(
            [request.task_name, request.doc_id, request.idx, prompt, settings], sort_keys=True, default=str
        )
        base = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        seen[base] = seen.get(base, -1) + 1
        found.append(f"{request.task_name}/{request.doc_id}/{base}/{seen[base]}")
    return found


def journaled(
    generate: Callable[..., list[str]], journal: Journal, *, chunk: int, seed: int
) -> Callable[..., list[str]]:
    """``generate_until`` that takes finished requests from the journal and writes new ones to it chunk by chunk."""

    def generate_until(requests: Sequence[Any], **kwargs: Any) -> list[str]:
        names = keys(requests)
        for number, begin in enumerate(range(0, len(requests), chunk)):
            part = range(begin, min(begin + chunk, len(requests)))
            if all(names[i] in journal.done for i in part):
                continue
            _seed(seed, names[begin], number)
            start = time.time()
            texts = generate([requests[i] for i in part], **kwargs)
            seconds = time.time() - start
            journal.append([
                {"key": names[i], "text": text, "seed": seed, "chunk": number, "seconds": round(seconds / len(part), 4)}
                for i, text in zip(part, texts, strict=True)
            ])  # fmt: skip
        return [journal.done[name] for name in names]

    return generate_until


def _seed(seed: int, name: str, number: int) -> None:
    value = int.from_bytes(hashlib.sha256(f"{seed}/{number}/{name}".encode()).digest()[:4], "big")
    random.seed(value)
    with contextlib.suppress(ImportError):  # an API model needs neither
        import numpy

        numpy.random.seed(value)
    with contextlib.suppress(ImportError):
        import torch

        torch.manual_seed(value)
