"""Frames between the pool, its supervisors and their children: four bytes of length, then JSON."""

from __future__ import annotations

import json
import os
import select
import struct
import time
from typing import Any, Final

HEADER: Final = struct.Struct(">I")
MAX_FRAME: Final = 1 << 30
STRETCH: Final = 10  # how many times a job's wall time a busy machine may make of it


class Closed(Exception):
    """The other end is gone, or silent for too long."""


def waited(pid: int) -> float:
    """Seconds that a process has been ready to run and had no processor: what a busy machine takes from it, of the thread
    that lost most. 0 where the kernel does not tell."""
    lost = 0
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat", "rb") as file:
                lost = max(lost, int(file.read().split()[1]))
    except (OSError, ValueError, IndexError):  # it ended meanwhile, or there is no such file
        return lost / 1e9
    return lost / 1e9


def pid_of(handle: int) -> int:
    """The process that a process handle stands for, by the number that it has here; 0 where the kernel does not tell."""
    try:
        with open(f"/proc/self/fdinfo/{handle}", "rb") as file:
            return next((int(line[4:]) for line in file if line.startswith(b"Pid:")), 0)
    except (OSError, ValueError):
        return 0


def encode(message: Any) -> bytes:
    """One frame. Lone surrogates survive, because JSON escapes them."""
    return frame(json.dumps(message, separators=(",", ":")).encode("ascii"))


def frame(body: bytes) -> bytes:
    """``body`` with its length before it."""
    return HEADER.pack(len(body)) + body


def send(descriptor: int, message: Any) -> None:
    """Write one frame. Raises ``Closed`` when nobody reads."""
    send_bytes(descriptor, encode(message))


def send_bytes(descriptor: int, data: bytes) -> None:
    """Write all of ``data``. Raises ``Closed`` when nobody reads."""
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(descriptor, view) :]
    except OSError as error:
        raise Closed(str(error)) from None


def receive(descriptor: int, timeout: float | None = None) -> Any:
    """Read one frame, within ``timeout`` seconds. Raises ``Closed`` at the end of the stream, at the timeout, or when
    what came is not a frame."""
    try:
        return json.loads(receive_bytes(descriptor, timeout))
    except (ValueError, RecursionError) as error:
        raise Closed(f"not a frame: {error}") from None


def receive_bytes(descriptor: int, timeout: float | None = None) -> bytes:
    """The body of one frame, as it is. Raises ``Closed`` like ``receive``."""
    deadline = None if timeout is None else time.monotonic() + timeout
    (size,) = HEADER.unpack(_exactly(descriptor, HEADER.size, deadline))
    if size > MAX_FRAME:
        raise Closed(f"a frame of {size} bytes")
    return _exactly(descriptor, size, deadline)


def _exactly(descriptor: int, size: int, deadline: float | None) -> bytes:
    parts: list[bytes] = []
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    try:
        while size:
            if deadline is not None and not poller.poll(max(0.0, deadline - time.monotonic()) * 1000):
                raise Closed("no answer in time")
            part = os.read(descriptor, min(size, 1 << 20))
            if not part:
                raise Closed("end of stream")
            parts.append(part)
            size -= len(part)
    except OSError as error:
        raise Closed(str(error)) from None
    return b"".join(parts)
