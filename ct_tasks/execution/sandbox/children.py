"""One child at a time, watched from outside: deadlines, output limits, the verdict channel, and what a death means."""

from __future__ import annotations

import json
import os
import secrets
import select
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from ct_tasks.execution.sandbox import child, protocol

SHARED_CPU_S: Final = 60
SHARED_WALL_S: Final = 0.3  # in a shared child nobody waits long: what is slow runs again alone, with its own limit
START_S: Final = 120.0  # for the child to get ready, on a machine that is busy elsewhere
MAX_VALUE: Final = 16 * 1024 * 1024  # bytes of one verdict; a longer one is an output_limit
_CHUNK: Final = 65536
_FROM_CHILD: Final = ("ok", "exception", "memory", "output_limit", "alone", "again")


Forward = Callable[[int, int, bytes], None]  # the position of the first job, how many, their results as JSON


class Lost(Exception):
    """The fork server does not answer, or there is nobody left to report to."""


@dataclass
class Shared:
    """How far a shared child got: the jobs before ``reached`` are ``ok`` and passed on, or in ``unsettled`` with what the
    child said instead. ``stopped``: it ended there of its own accord."""

    reached: int = 0
    unsettled: dict[int, str] = field(default_factory=dict)
    stopped: bool = False


class Nursery:
    """Has children forked, and turns what happens to them into results (plain dictionaries, see ``jobs.Result``)."""

    def __init__(self, control: socket.socket, allow_missing: list[str], alarms: list[int]) -> None:
        self.control, self.allow_missing, self.alarms = control, allow_missing, alarms
        self.dirty = ""  # why this worker can no longer offer an empty directory
        self.null = os.open(os.devnull, os.O_RDONLY)
        self.watch = select.poll()
        self.watch.register(0, 0)  # no event but a hang-up
        for handle in alarms:
            self.watch.register(handle, select.POLLIN)

    def check(self) -> None:
        """Raises ``Lost`` when the pool has hung up or its process is gone, or this worker is used up."""
        if self.dirty:
            raise Lost(self.dirty)
        if self.watch.poll(0):
            raise Lost("the pool is gone")

    def run_alone(self, job: dict[str, Any]) -> dict[str, Any]:
        """One job in a child of its own, with all its limits; always a result."""
        try:
            limits = {key: job[key] for key in ("cpu_s", "memory_mb", "disk_mb")}
            return _Run(self, json.dumps([job]).encode(), 1, limits, stdin=job.get("stdin")).alone(job)
        except OSError as error:
            return {"status": "harness_error", "error": f"could not run the job: {error}"}

    def run_shared(self, jobs: bytes, count: int, memory_mb: int, group: int, forward: Forward) -> Shared:
        """Many jobs (JSON text of a list) in one child that reports in groups; ``forward`` gets what is plainly ok."""
        try:
            limits = {"cpu_s": SHARED_CPU_S, "memory_mb": memory_mb, "disk_mb": 1}
            return _Run(self, jobs, count, limits, group=group, forward=forward).shared()
        except OSError:
            return Shared()

    def ask(self, order: dict[str, Any], descriptors: list[int]) -> tuple[dict[str, Any], list[int]]:
        """One order to the fork server, and its answer. Raises ``Lost``."""
        try:
            socket.send_fds(self.control, [json.dumps(order).encode()], descriptors)
            answer, handles, _, _ = socket.recv_fds(self.control, _CHUNK, 1)
        except OSError as error:
            raise Lost(str(error)) from None
        if not answer:
            raise Lost("the fork server is gone")
        found: dict[str, Any] = json.loads(answer)
        if "failed" in found:
            for handle in handles:
                os.close(handle)
            raise OSError(found["failed"])
        return found, handles


class _Run:
    """The life of one child."""

    def __init__(
        self,
        nursery: Nursery,
        jobs: bytes,
        count: int,
        limits: dict[str, Any],
        *,
        stdin: str | None = None,
        group: int = 0,
        forward: Forward | None = None,
    ) -> None:
        self.nursery, self.count, self.forward = nursery, count, forward
        self.nonce = secrets.token_hex(16).encode()
        self.readers: list[int] = []
        opened: list[int] = []
        try:
            text = _memory_file(b'{"nonce":"%b","jobs":%b}' % (self.nonce, jobs), opened)
            source = nursery.null if stdin is None else _memory_file(stdin.encode("utf-8", "surrogateescape"), opened)
            writers = []
            for _ in range(3):
                reader, writer = os.pipe()
                self.readers.append(reader)
                opened.append(writer)
                writers.append(writer)
            order = {"do": "fork", "group": group, "allow_missing": nursery.allow_missing, **limits}
            channel, out, err = writers
            answer, self.handles = nursery.ask(order, [text, channel, source, out, err])
        except OSError:
            for reader in self.readers:
                os.close(reader)
            raise
        finally:
            for descriptor in opened:
                os.close(descriptor)
        self.pid = answer["pid"]
        self.seen_as = protocol.pid_of(self.handles[0]) if self.handles else 0
        self.lost = 0.0  # of its time before the clock started
        self.channel, self.out, self.err = self.readers
        self.began = time.monotonic()
        self.started = False
        self.frames = bytearray()
        self.tampered = False
        self.printed = {self.out: bytearray(), self.err: bytearray()}
        self.verdict: dict[str, Any] | None = None
        self.seen = Shared()
        for reader in self.readers:
            os.set_blocking(reader, False)
        self.poller = select.poll()
        for descriptor in self.readers + self.handles:
            self.poller.register(descriptor, select.POLLIN)
        self.poller.register(0, 0)
        for handle in nursery.alarms:
            self.poller.register(handle, select.POLLIN)
        self.open = set(self.readers)

    def shared(self) -> Shared:
        try:
            deadline = self.began + START_S
            settled = -1
            while self.seen.reached < self.count and not self.tampered and not self.seen.stopped:
                if self._step(deadline, 1 << 20):
                    break
                if self.started and self.seen.reached > settled:
                    settled = self.seen.reached
                    deadline = time.monotonic() + SHARED_WALL_S
                elif time.monotonic() >= deadline:
                    break
        finally:
            self._end()
        self._read_channel()
        for reader in self.readers:
            os.close(reader)
        return self.seen

    def alone(self, job: dict[str, Any]) -> dict[str, Any]:
        limit = job["output_bytes"]
        script = job.get("stdin") is not None
        deadline, why = self.began + START_S, ""
        timed = False
        try:
            while not why:
                gone = self._step(deadline, limit)
                if self.started and not timed:
                    timed, self.began = True, time.monotonic()
                    self.lost = protocol.waited(self.seen_as)
                    deadline = self.began + job["wall_s"]
                if sum(map(len, self.printed.values())) > limit:
                    why = "output_limit"
                elif self.tampered or gone or (self.verdict and not script):
                    break
                elif time.monotonic() >= deadline:
                    deadline = self._stretched(job["wall_s"]) if timed else deadline
                    if time.monotonic() >= deadline:
                        why = "timeout" if timed else "harness_error"
            wall = time.monotonic() - self.began
        finally:
            death = self._end()
        self._drain(limit)
        result = self._judge(job, death, why, script)
        result.update(stdout=_text(self.printed[self.out], limit), stderr=_text(self.printed[self.err], limit))
        result.update(cpu_s=death.get("cpu_s", 0.0), wall_s=wall)
        return result

    def _stretched(self, wall_s: float) -> float:
        """When the job's wall time is over, not counting the time for which the machine had no processor for it."""
        lost = protocol.waited(self.seen_as) - self.lost
        return self.began + min(wall_s + lost, wall_s * protocol.STRETCH)

    def _judge(self, job: dict[str, Any], death: dict[str, Any], why: str, script: bool) -> dict[str, Any]:
        if why == "harness_error":
            return {"status": why, "error": f"the child was not ready after {START_S:.0f} s"}
        if why == "timeout":
            return {"status": why, "error": f"more than {job['wall_s']:g} s of wall time"}
        if why == "output_limit" or sum(map(len, self.printed.values())) > job["output_bytes"]:
            return {"status": "output_limit", "error": f"more than {job['output_bytes']} bytes of output"}
        if self.tampered:
            return {"status": "killed", "error": "the program wrote to the verdict channel"}
        if self.verdict is not None:
            return {k: v for k, v in self.verdict.items() if k in ("status", "value", "error") and v is not None}
        return _death(job, death, script, self.started)

    def _step(self, deadline: float, limit: int) -> bool:
        """Wait for something to happen, and take it in. True when the child is gone."""
        remaining = max(0.0, deadline - time.monotonic())
        for descriptor, _ in self.poller.poll(remaining * 1000 + 1):
            if descriptor in self.handles:
                return True
            if descriptor == self.channel:
                self._read_channel()
            elif descriptor in self.printed:
                self._read_output(descriptor, limit)
            else:
                raise Lost("the pool is gone")
        return not self.handles and self.channel not in self.open

    def _read_output(self, descriptor: int, limit: int) -> bool:
        """Take what is there; False at the end. Keeps one byte more than the limit, to know that it was passed."""
        buffer = self.printed[descriptor]
        data = _read(descriptor)
        if data == b"":
            self._forget(descriptor)
        if not data:
            return False
        buffer += data[: max(0, limit + 1 - len(buffer))]
        return True

    def _read_channel(self) -> None:
        """Take in whole frames: the nonce, four bytes of length, JSON. Anything else on the channel is tampering."""
        prefix = len(self.nonce)
        while self.channel in self.open and not self.tampered and (data := _read(self.channel)) is not None:
            if data == b"":
                self._forget(self.channel)
            self.frames += data
            while len(self.frames) >= prefix + protocol.HEADER.size and not self.tampered:
                (size,) = protocol.HEADER.unpack_from(self.frames, prefix)
                end = prefix + protocol.HEADER.size + size
                if not self.frames.startswith(self.nonce):
                    self.tampered = True
                elif size > MAX_VALUE:
                    error = f"a value of {size} bytes; the limit is {MAX_VALUE}"
                    self._settle({"status": "output_limit", "error": error})
                    self._forget(self.channel)
                    return
                elif len(self.frames) < end:
                    break
                else:
                    self._take(bytes(self.frames[prefix + protocol.HEADER.size : end]))
                    del self.frames[:end]

    def _take(self, body: bytes) -> None:
        """One frame that begins as it should. A program that found the nonce may say which value it wants to return, once;
        it may not say that we failed, nor anything else that its own runner would not."""
        if body[:1] == child.PLAIN and self.forward is not None:
            (count,) = protocol.HEADER.unpack_from(body, 1)
            self.tampered |= not self.started or self.seen.reached + count > self.count
            if not self.tampered:
                self.forward(self.seen.reached, count, body[1 + protocol.HEADER.size :])
                self.seen.reached += count
            return
        try:
            message = json.loads(body)
            if "started" in message:
                self.tampered |= self.started
                self.started = True
                return
            for answer in message["answers"]:
                texts = [answer.get(key) for key in ("value", "error", "stdout", "stderr")]
                if (
                    answer.pop("index") != self.seen.reached
                    or answer["status"] not in (_FROM_CHILD if self.started else ("harness_error",))
                    or not all(text is None or isinstance(text, str) for text in texts)
                    or not self._settle(answer)
                ):
                    self.tampered = True
                    return
            self.seen.stopped = bool(message.get("stopped", False))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            self.tampered = True

    def _settle(self, answer: dict[str, Any]) -> bool:
        """The next job's verdict. False when there is no such job."""
        if self.seen.reached >= self.count:
            return False
        if self.forward is None:
            self.verdict = answer
        elif answer["status"] == "ok":
            self.forward(self.seen.reached, 1, json.dumps([answer]).encode())
        else:
            self.seen.unsettled[self.seen.reached] = answer["status"]
        self.seen.reached += 1
        return True

    def _forget(self, descriptor: int) -> None:
        if descriptor in self.open:
            self.open.discard(descriptor)
            self.poller.unregister(descriptor)

    def _end(self) -> dict[str, Any]:
        """The child is dead and waited for after this, and its directory empty."""
        try:
            death = self.nursery.ask({"do": "reap", "pid": self.pid}, [])[0]
            self.nursery.dirty = death["dirty"]
            return death
        finally:
            for handle in self.handles:
                self.poller.unregister(handle)
                os.close(handle)
            self.handles = []

    def _drain(self, limit: int) -> None:
        self._read_channel()
        for descriptor in (self.out, self.err):
            while descriptor in self.open and self._read_output(descriptor, limit):
                pass
        for reader in self.readers:
            os.close(reader)


def _death(job: dict[str, Any], death: dict[str, Any], script: bool, started: bool) -> dict[str, Any]:
    """What it means that the child ended without a verdict."""
    status = death["status"]
    code, number = os.waitstatus_to_exitcode(status), 0
    if code < 0:
        number = -code
    if not started:
        return {"status": "harness_error", "error": f"the child died before it began ({code})"}
    if number == signal.SIGXCPU or (number == signal.SIGKILL and death["cpu_s"] >= job["cpu_s"]):
        return {"status": "timeout", "error": f"more than {job['cpu_s']:g} s of CPU time"}
    if number == signal.SIGXFSZ:
        return {"status": "output_limit", "error": f"a file larger than {job['disk_mb']} MB"}
    if number:
        return {"status": "killed", "error": f"killed by {signal.Signals(number).name}"}
    if script and code == 0:
        return {"status": "ok"}
    return {"status": "killed" if code == 0 else "exception", "error": f"exited with status {code} before it was done"}


def _memory_file(data: bytes, opened: list[int]) -> int:
    """A descriptor, at position 0, of a file in memory that holds ``data``; added to ``opened``."""
    if sys.platform == "linux":
        descriptor = os.memfd_create("job")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    opened.append(descriptor)
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _read(descriptor: int) -> bytes | None:
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None


def _text(data: bytearray, limit: int) -> str:
    return bytes(data[:limit]).decode("utf-8", "replace")
