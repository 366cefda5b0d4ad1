"""The Python pool: batches of jobs in, one result per job out, through warm sandboxed workers.

Each worker is a process tree of its own (``sandbox.supervisor``, a fork server below it, one throw-away child a program).
The pool's own process never runs a program, and is the only one that knows expected values.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import cast

from ct_tasks.errors import ConfigError, UnknownNameError
from ct_tasks.execution.jobs import Job, Result
from ct_tasks.execution.sandbox import protocol
from ct_tasks.execution.sandbox.layers import PROTECTIONS
from ct_tasks.execution.worker import Backend, Worker

Progress = Callable[[int, int], None]
_CHUNK = 1024  # jobs that one worker takes at a time; they may share one child


class PythonPool:
    """``workers`` sandboxed workers (one per core by default), started when first needed.

    ``allow_missing`` names the protections (see ``sandbox.layers.PROTECTIONS``) whose absence the caller accepts; any
    other that the kernel does not grant makes ``run`` raise ``HarnessError``. ``hash_seed`` is Python's own for all
    workers, so that the order of a set is the same in every run. Safe to use from many threads; in a
    forked process the pool starts workers of its own.
    """

    def __init__(
        self,
        workers: int | None = None,
        backend: Backend = "local",
        allow_missing: Iterable[str] = (),
        hash_seed: int = 0,
    ) -> None:
        if backend not in ("local", "docker"):
            raise UnknownNameError("sandbox backend", backend, ("local", "docker"))
        self.workers = workers or _cores()
        self.backend = backend
        self.allow_missing = tuple(allow_missing)
        self.hash_seed = hash_seed
        for name in self.allow_missing:
            if name not in PROTECTIONS:
                raise UnknownNameError("protection", name, PROTECTIONS)
        self._closed = False
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._slots = threading.Semaphore(self.workers)

    def __enter__(self) -> PythonPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run(self, jobs: Sequence[Job], progress: Progress | None = None) -> list[Result]:
        """Run all jobs; results in the order of the jobs. ``progress(done, total)`` is called from this thread.

        A job on which the machinery fails twice gives a ``harness_error`` result; a sandbox that cannot start raises
        ``HarnessError``.
        """
        if self._closed:
            raise ConfigError("this PythonPool is closed; make a new one")
        if os.getpid() != self._pid:
            self._forget()
        results: list[Result | None] = [None] * len(jobs)
        work: queue.SimpleQueue[tuple[str, list[int]] | None] = queue.SimpleQueue()
        done: queue.SimpleQueue[int | BaseException] = queue.SimpleQueue()
        chunks = list(self._chunks(jobs))
        for chunk in chunks:
            work.put(chunk)
        count = min(self.workers, len(chunks))
        threads = [
            threading.Thread(target=self._drive, args=(jobs, work, results, done), daemon=True) for _ in range(count)
        ]
        for thread in threads:
            work.put(None)
            thread.start()
        failure: BaseException | None = None
        try:
            finished = 0
            while finished < len(jobs) and failure is None:
                item = done.get()
                if isinstance(item, BaseException):
                    failure = item
                else:
                    finished += item
                    if progress is not None:
                        progress(finished, len(jobs))
        finally:
            with contextlib.suppress(
                queue.Empty
            ):  # on failure or interruption the threads shall find nothing more to do
                while finished < len(jobs):
                    work.get_nowait()
            for _ in threads:
                work.put(None)
        if failure is not None:
            raise failure
        for thread in threads:
            thread.join()
        return cast("list[Result]", results)

    def close(self) -> None:
        """End all workers, those that are busy included. Idempotent."""
        self._closed = True
        if os.getpid() != self._pid:
            return
        with self._lock:
            workers = [*self._idle, *self._busy]
            self._idle = []
        for worker in workers:
            worker.stop()

    def _forget(self) -> None:
        """We are a fork of the process that made the pool: its workers are not ours."""
        for worker in (*self._idle, *self._busy):
            worker.abandon()
        self._reset()

    def _chunks(self, jobs: Sequence[Job]) -> Iterable[tuple[str, list[int]]]:
        groups: dict[tuple[str, bool], list[int]] = {}
        for i, job in enumerate(jobs):
            groups.setdefault(((job.hook or "").partition(":")[0], job.stdin is not None), []).append(i)
        for (hook, _), members in groups.items():
            size = max(1, min(_CHUNK, -(-len(members) // (self.workers * 4))))
            for start in range(0, len(members), size):
                yield hook, members[start : start + size]

    def _drive(
        self,
        jobs: Sequence[Job],
        work: queue.SimpleQueue[tuple[str, list[int]] | None],
        results: list[Result | None],
        done: queue.SimpleQueue[int | BaseException],
    ) -> None:
        try:
            while (chunk := work.get()) is not None:
                with self._slots:
                    self._run_chunk(jobs, chunk, results, done)
        except BaseException as error:  # noqa: BLE001 - handed to the thread that called run, which raises it
            done.put(error)

    def _run_chunk(
        self,
        jobs: Sequence[Job],
        chunk: tuple[str, list[int]],
        results: list[Result | None],
        done: queue.SimpleQueue[int | BaseException],
    ) -> None:
        hook, waiting = chunk
        try:
            with self._worker(hook) as worker:
                for group in worker.batch([jobs[i] for i in waiting]):
                    for position, result in group:
                        results[waiting[position]] = result
                    done.put(len(group))
        except protocol.Closed as error:
            # One at a time now, so that only a job that brings workers down fails.
            for i in [i for i in waiting if results[i] is None]:
                results[i] = self._single(hook, jobs[i], str(error))
                done.put(1)

    def _single(self, hook: str, job: Job, reason: str) -> Result:
        if self._closed:
            return Result("harness_error", error="the pool was closed while the job waited", id=job.id)
        try:
            with self._worker(hook) as worker:
                ((_, result),) = next(iter(worker.batch([job])))
                return result
        except protocol.Closed as error:
            return Result("harness_error", error=f"the sandbox worker died twice: {reason}; {error}", id=job.id)

    @contextlib.contextmanager
    def _worker(self, hook: str) -> Iterator[Worker]:
        """A worker for this kind of job, warm if there is one; one that failed is not used again."""
        with self._lock:
            stale = [w for w in self._idle if w.process.poll() is not None]
            self._idle = [w for w in self._idle if w not in stale]
            worker = next((w for w in self._idle if w.hook == hook), None)
            if worker is not None:
                self._idle.remove(worker)
            elif len(self._idle) >= 2 * self.workers:
                stale.append(self._idle.pop(0))
        for old in stale:
            old.stop()
        worker = worker or Worker(hook, self.backend, self.allow_missing, self.hash_seed)
        with self._lock:
            self._busy.add(worker)
        kept = False
        try:
            yield worker
            kept = True
        finally:
            with self._lock:
                self._busy.discard(worker)
                kept = kept and not self._closed
                if kept:
                    self._idle.append(worker)
            if not kept:
                worker.stop()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_shared: dict[str, PythonPool] = {}
_shared_lock = threading.Lock()


def shared_pool(backend: Backend = "local") -> PythonPool:
    """The pool of this process, made when first asked for and closed at exit.

    ``CT_SANDBOX_ALLOW_MISSING`` (names separated by commas) and ``CT_SANDBOX_WORKERS`` configure it.
    """
    with _shared_lock:
        pool = _shared.get(backend)
        if pool is None or pool._closed:
            allowed = [n.strip() for n in os.environ.get("CT_SANDBOX_ALLOW_MISSING", "").split(",") if n.strip()]
            workers = os.environ.get("CT_SANDBOX_WORKERS")
            pool = _shared[backend] = PythonPool(int(workers) if workers else None, backend, allowed)
        return pool


def _close_shared() -> None:
    for pool in _shared.values():
        pool.close()


def _after_fork() -> None:
    global _shared_lock
    _shared_lock = threading.Lock()
    for pool in _shared.values():
        pool._forget()


atexit.register(_close_shared)
os.register_at_fork(after_in_child=_after_fork)
