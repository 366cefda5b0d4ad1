"""An append-only journal of generations: a killed run goes on where it was, sampled repeats included, with any backend.

lm-eval writes everything at the end, and its own cache skips sampled generation. What a resumed run samples must not depend
on where it was killed, and there are two ways to that. A model that runs in this process (``hf``) draws from the process's
random generators: its requests are worked off in chunks of fixed composition, the generators are seeded from the run's seed
before each chunk, and a chunk is in the journal whole or not at all. A server or an engine that takes a seed with the request
(OpenAI-compatible APIs, vLLM) gets one a request and repeat, so that each reply can be kept as soon as it is there.

A row holds what is known of how the reply ended (``finish_reason``, ``stop``, ``tokens``, ``reasoning``; see
``ct_tasks.reply``), so that a resumed run scores as one that was never killed.
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
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ct_tasks.errors import ConfigError, HarnessError
from ct_tasks.reply import Ending, Reply


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
        self.done: dict[str, Reply] = dict(self._read())
        # Not buffered: a piece goes to the disk in one call, and a failed one leaves nothing behind to be written later.
        self._file = self.path.open("ab", buffering=0)

    def _read(self) -> Iterator[tuple[str, Reply]]:
        if not self.path.exists():
            return
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):  # the machine stopped in the middle of a line
            with self.path.open("r+b") as file:
                file.truncate(len(whole))
        for number, line in enumerate(whole.split(b"\n")[:-1], 1):
            try:
                yield _read_row(json.loads(line))
            except (ValueError, KeyError, TypeError):
                raise ConfigError(
                    f"{self.path}:{number} is damaged; remove that line to generate its request again"
                ) from None

    def append(self, rows: Sequence[dict[str, Any]]) -> None:
        """Write rows in one piece and wait until the disk has them. On a full disk nothing of the piece stays.

        Raises ``HarnessError`` with what to do.
        """
        before = self.path.stat().st_size
        piece = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        try:
            if (written := self._file.write(piece)) != len(piece):  # what a disk does that fills up in the middle
                raise OSError(errno.ENOSPC, f"{written} of {len(piece)} bytes were written")
            os.fsync(self._file.fileno())
        except OSError as error:
            os.truncate(self.path, before)
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise HarnessError(
                    f"the disk of {self.path} is full; free some and run the same command again, nothing is lost"
                ) from None
            raise
        self.done.update(map(_read_row, rows))

    def close(self) -> None:
        """Give the lock back."""
        self._file.close()
        self._lock.close()


def _row(key: str, text: object, **rest: Any) -> dict[str, Any]:
    reply = Reply.of(text)
    return {"key": key, "text": str(reply), **rest, **reply.ending.to_json()}


def _read_row(row: Any) -> tuple[str, Reply]:
    if not isinstance(row["text"], str):
        raise TypeError
    return row["key"], Reply(row["text"], Ending.from_json(row))


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
    """``generate_until`` of a model in this process: finished requests come from the journal, new ones go there chunk by chunk."""

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
            # A kill in the middle of a write leaves a part of the chunk; those rows stay.
            journal.append([
                _row(names[i], text, seed=seed, chunk=number, seconds=round(seconds / len(part), 4))
                for i, text in zip(part, texts, strict=True) if names[i] not in journal.done
            ])  # fmt: skip
        return [journal.done[name] for name in names]

    return generate_until


def journaled_with_seeds(
    generate: Callable[..., list[str]], journal: Journal, *, at_once: int, workers: int, seed: int
) -> Callable[..., list[str]]:
    """``generate_until`` of a model that takes a seed with each request. ``at_once`` requests go out in a call; ``workers``
    calls run side by side. lm-eval itself sends one seed for all, with which every repeat of a request would be the same."""

    def one(requests: Sequence[Any], names: Sequence[str], kwargs: Any) -> list[dict[str, Any]]:
        seeds = [_number(seed, name) for name in names]
        start = time.time()
        texts = generate([_with_seed(r, s) for r, s in zip(requests, seeds, strict=True)], **kwargs)
        seconds = round((time.time() - start) / len(names), 4)
        return [_row(name, text, seed=s, seconds=seconds) for name, text, s in zip(names, texts, seeds, strict=True)]

    def generate_until(requests: Sequence[Any], **kwargs: Any) -> list[str]:
        names = keys(requests)
        todo = [i for i, name in enumerate(names) if name not in journal.done]
        parts = [todo[k : k + at_once] for k in range(0, len(todo), at_once)]
        with ThreadPoolExecutor(workers) as pool:
            waiting = [pool.submit(one, [requests[i] for i in p], [names[i] for i in p], kwargs) for p in parts]
            try:
                for finished in as_completed(waiting):
                    journal.append(finished.result())
            except BaseException:  # Ctrl-C too: what has not started must not start; raised again
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return [journal.done[name] for name in names]

    return generate_until


def _with_seed(request: Any, seed: int) -> Any:
    """The request with a seed among its settings: what lm-eval's models read of it, the settings copied."""
    settings = dict(request.args[1]) if len(request.args) > 1 else {}
    args = (request.args[0], {**settings, "seed": seed}, *request.args[2:])
    return SimpleNamespace(task_name=request.task_name, doc_id=request.doc_id, idx=request.idx, args=args)


def _number(seed: int, name: str) -> int:
    """A seed of 31 bits: what OpenAI's API and vLLM take."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{name}".encode()).digest()[:4], "big") >> 1


def _seed(seed: int, name: str, number: int) -> None:
    value = int.from_bytes(hashlib.sha256(f"{seed}/{number}/{name}".encode()).digest()[:4], "big")
    random.seed(value)
    with contextlib.suppress(ImportError):  # an API model needs neither
        import numpy

        numpy.random.seed(value)
    with contextlib.suppress(ImportError):
        import torch

        torch.manual_seed(value)
