"""The Python pool: batches of jobs in, one result per job out, through warm sandboxed workers.

Each worker is a process tree of its own (``sandbox.supervisor``, a fork server below it, one throw-away child a program).
The pool's own process never runs a program, and is the only one that knows expected values.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, cast

from ct_tasks.errors import ConfigError, HarnessError, UnknownNameError
from ct_tasks.execution.jobs import Job, Result
from ct_tasks.execution.sandbox import protocol
from ct_tasks.execution.sandbox.layers import PROTECTIONS

Backend = Literal["local", "docker"]
Progress = Callable[[int, int], None]

_ROOT = Path(__file__).resolve().parents[2]
_BOOT = "import sys; sys.path.insert(0, {root!r}); from ct_tasks.execution.sandbox.supervisor import main; main()"
_CHUNK = 192
_START_S = 120.0


class PythonPool:
    """``workers`` sandboxed workers (one per core by default), started when first needed.

    ``allow_missing`` names the protections (see ``sandbox.layers.PROTECTIONS``) whose absence the caller accepts; any
    other that the kernel does not grant makes ``run`` raise ``HarnessError``. Safe to use from many threads; in a
    forked process the pool starts workers of its own.
    """

    def __init__(
        self, workers: int | None = None, backend: Backend = "local", allow_missing: Iterable[str] = ()
    ) -> None:
        if backend not in ("local", "docker"):
            raise UnknownNameError("sandbox backend", backend, ("local", "docker"))
        self.workers = workers or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.backend = backend
        self.allow_missing = tuple(allow_missing)
        for name in self.allow_missing:
            if name not in PROTECTIONS:
                raise UnknownNameError("protection", name, PROTECTIONS)
        self._lock = threading.Lock()
        self._idle: dict[str, list[_Worker]] = {}
        self._slots = threading.Semaphore(self.workers)
        self._closed = False
        self._pid = os.getpid()

    def __enter__(self) -> PythonPool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
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
            with contextlib.suppress(queue.Empty):  # on failure or interruption the threads shall find nothing more to do
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
        """End all workers. Idempotent."""
        self._closed = True
        with self._lock:
            idle, self._idle = self._idle, {}
        if os.getpid() == self._pid:
            for worker in (w for group in idle.values() for w in group):
                worker.stop()

    def _forget(self) -> None:
        """We are a fork of the process that made the pool: its workers are not ours."""
        for worker in (w for group in self._idle.values() for w in group):
            worker.abandon()
        self._lock, self._idle, self._pid = threading.Lock(), {}, os.getpid()
        self._slots = threading.Semaphore(self.workers)

    def _chunks(self, jobs: Sequence[Job]) -> Iterable[tuple[str, list[int]]]:
        groups: dict[str, list[int]] = {}
        for i, job in enumerate(jobs):
            groups.setdefault((job.hook or "").partition(":")[0], []).append(i)
        for hook, members in groups.items():
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
        attempts = 0
        while waiting:
            worker = self._take(hook)
            try:
                for group in worker.batch([jobs[i] for i in waiting]):
                    for position, result in group:
                        results[waiting[position]] = result
                    done.put(len(group))
                with self._lock:
                    if not self._closed:
                        self._idle.setdefault(hook, []).append(worker)
                        return
                worker.stop()
                return
            except protocol.Closed as error:
                worker.stop()
                waiting = [i for i in waiting if results[i] is None]
                attempts += 1
                if attempts > 1:  # one at a time now, so that only the job that brings workers down fails
                    for i in waiting:
                        results[i] = self._single(hook, jobs[i], str(error))
                        done.put(1)
                    return

    def _single(self, hook: str, job: Job, reason: str) -> Result:
        worker = self._take(hook)
        try:
            (((_, result),),) = worker.batch([job])
        except (protocol.Closed, ValueError) as error:
            reason = f"{reason}; {error}; worker said: {worker.last_words()}"
            worker.stop()
            return Result("harness_error", error=f"the sandbox worker died twice: {reason}", id=job.id)
        with self._lock:
            self._idle.setdefault(hook, []).append(worker)
        return result

    def _take(self, hook: str) -> _Worker:
        with self._lock:
            idle = self._idle.get(hook)
            if idle:
                return idle.pop()
        return _Worker(hook, self.backend, self.allow_missing)


class _Worker:
    """One supervisor process and the pipes to it. Raises ``HarnessError`` when it cannot start or lacks a protection."""

    def __init__(self, hook: str, backend: Backend, allow_missing: tuple[str, ...]) -> None:
        self.stderr: IO[bytes] = tempfile.TemporaryFile()
        command = [sys.executable, "-I", "-W", "ignore", *([] if hook else ["-S"]), "-c", _BOOT.format(root=str(_ROOT))]
        environment = {"PATH": os.environ.get("PATH", os.defpath), "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.stderr,
            env=environment,
            cwd="/",
            start_new_session=True,
        )
        assert self.process.stdin
        assert self.process.stdout
        self.requests, self.replies = self.process.stdin, self.process.stdout
        config = {
            "parent": os.getpid(),
            "container": False,
            "preload": [hook] if hook else [],
            "allow_missing": list(allow_missing),
        }
        try:
            protocol.send(self.requests, config)
            hello = protocol.receive(self.replies)
        except protocol.Closed as error:
            words = self.last_words()
            self.stop()
            raise HarnessError(f"the sandbox worker did not start: {error}; it said: {words}") from None
        if "failed" in hello:
            self.stop()
            raise HarnessError(f"the sandbox worker did not start: {hello['failed']}")
        self.missing: dict[str, str] = hello["missing"]
        refused = sorted(set(self.missing) - set(allow_missing))
        if refused:
            self.stop()
            raise HarnessError(_refusal(refused, self.missing))

    def batch(self, jobs: Sequence[Job]) -> Iterable[list[tuple[int, Result]]]:
        """Results with positions, in groups as they come. Raises ``protocol.Closed`` when the worker dies."""
        protocol.send(self.requests, {"jobs": [_encode(job) for job in jobs]})
        missing = set(range(len(jobs)))
        while missing:
            group = [(reply["index"], _decode(reply, jobs[reply["index"]])) for reply in protocol.receive(self.replies)]
            missing.difference_update(position for position, _ in group)
            yield group

    def last_words(self) -> str:
        """The end of what the worker wrote to its standard error."""
        self.stderr.seek(0, os.SEEK_END)
        self.stderr.seek(max(0, self.stderr.tell() - 2000))
        return self.stderr.read().decode("utf-8", "replace").strip() or "nothing"

    def stop(self) -> None:
        """End the process tree and wait for it."""
        for stream in (self.requests, self.replies):
            with contextlib.suppress(OSError):
                stream.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.stderr.close()

    def abandon(self) -> None:
        """Close this process's copies of the pipes to a worker that belongs to the parent process."""
        for stream in (self.requests, self.replies, self.stderr):
            with contextlib.suppress(OSError):
                stream.close()
        self.process.returncode = 0  # not our child: nothing to wait for


def _refusal(refused: list[str], missing: dict[str, str]) -> str:
    lines = [f"  {name}: without it {PROTECTIONS[name]} ({missing[name]})" for name in refused]
    return (
        "this system does not grant the sandbox all its protections. Missing:\n"
        + "\n".join(lines)
        + "\nUse backend='docker', or accept the risk by name: allow_missing=("
        + ", ".join(map(repr, refused))
        + ",) or CT_SANDBOX_ALLOW_MISSING="
        + ",".join(refused)
    )


def _encode(job: Job) -> dict[str, Any]:
    limits = job.limits
    encoded: dict[str, Any] = {
        "code": job.code,
        "cpu_s": limits.cpu_s,
        "wall_s": limits.wall_s,
        "memory_mb": limits.memory_mb,
        "output_bytes": limits.output_bytes,
        "disk_mb": limits.disk_mb,
    }
    if job.expr is not None:
        encoded["expr"] = job.expr
    if job.stdin is not None:
        encoded["stdin"] = job.stdin
    if job.hook is not None:
        encoded.update(hook=job.hook, payload=dict(job.payload))
    return encoded


def _decode(reply: dict[str, Any], job: Job) -> Result:
    get = reply.get
    return Result(
        reply["status"], get("value"), get("error", ""), get("stdout", ""), get("stderr", ""), get("cpu_s", 0.0),
        get("wall_s", 0.0), job.id,
    )  # fmt: skip


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
