"""Our own functions on what models wrote, in child processes, each item with a hard deadline.

For work that runs no model-written code but may still hang or blow up on it (parsing a degenerate text, symbolic
algebra): a signal cannot stop C code and does not reach a worker thread, a kill does. Children are plain subprocesses
(no fork of a process that holds a GPU or threads), speak JSON lines, and end when the parent does, however it ends.
"""

from __future__ import annotations

import importlib
import json
import os
import queue
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ct_tasks.errors import HarnessError

WINDOW = 16  # items on their way to a child at once, so that it never waits for the parent
ROOM = 60_000  # bytes of items that may wait for a busy child: they fit into its pipe, so that writing them never blocks
START_S = 300.0  # wall time; only a child that never speaks waits for so long
PATIENCE = 30.0  # wall time that a deadline may stretch to: a busy machine is slow, and a child that sleeps must end


@dataclass(frozen=True, slots=True)
class Outcome:
    """``value`` is what the function returned; otherwise ``error`` says why there is none."""

    value: Any = None
    error: str = ""
    timed_out: bool = False


class DeadlinePool:
    """``map`` calls ``function`` (``"package.module:name"``, JSON-able in and out) on every item, on all cores.

    ``deadline_s`` is CPU time for one item, kept by the kernel in the child (``ITIMER_PROF``, which reaches C code too), so
    that a busy machine costs no item its result. ``wall_s`` (default: thirty times that) ends a child that waits instead of
    working. A child that misses a deadline, or dies, is replaced; its item gets an ``Outcome`` with an error and the
    others are not touched. Raises ``HarnessError`` when children cannot even start.
    """

    def __init__(
        self, function: str, *, workers: int | None = None, deadline_s: float = 10.0, wall_s: float | None = None
    ) -> None:
        self.function, self.deadline_s = function, deadline_s
        self.wall_s = PATIENCE * deadline_s if wall_s is None else wall_s
        self.workers = workers or os.cpu_count() or 1
        self._children: list[_Child] = []
        self._lock = threading.Lock()

    def map(self, items: Sequence[Any]) -> list[Outcome]:
        """Outcomes in the order of ``items``."""
        outcomes: list[Outcome] = [Outcome(error="not run")] * len(items)
        todo: queue.SimpleQueue[int] = queue.SimpleQueue()
        for index in range(len(items)):
            todo.put(index)
        failures: list[HarnessError] = []
        with self._lock:
            wanted = min(self.workers, max(1, len(items) // 4))
            while len(self._children) < wanted:
                self._children.append(_Child(self.function, self.deadline_s))
            threads = [
                threading.Thread(target=self._serve, args=(slot, items, todo, outcomes, failures), daemon=True)
                for slot in range(wanted)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        if failures:
            raise failures[0]
        return outcomes

    def _serve(
        self,
        slot: int,
        items: Sequence[Any],
        todo: queue.SimpleQueue[int],
        outcomes: list[Outcome],
        failures: list[HarnessError],
    ) -> None:
        sent: list[tuple[int, int]] = []  # index and bytes of the items that the child has not answered
        try:
            while True:
                child = self._children[slot]
                try:
                    while len(sent) < WINDOW and (index := _take(todo)) is not None:
                        text = json.dumps(items[index]).encode() + b"\n"
                        if sent and sum(size for _, size in sent) + len(text) > ROOM:
                            todo.put(index)
                            break
                        sent.append((index, len(text)))
                        child.send(text)
                    if not sent:
                        return
                    outcomes[sent[0][0]] = child.receive(self.wall_s)
                    sent.pop(0)
                except (_Silent, OSError) as error:
                    code = child.kill()
                    if sent:
                        outcomes[sent.pop(0)[0]] = self._late(code, isinstance(error, _Silent) and error.alive)
                    for index, _ in sent:  # these never started
                        todo.put(index)
                    sent.clear()
                    self._children[slot] = _Child(self.function, self.deadline_s)
        except HarnessError as error:
            failures.append(error)

    def _late(self, code: int, silent: bool) -> Outcome:
        if code == -signal.SIGPROF:
            return Outcome(error=f"no result within {self.deadline_s:g} s of CPU time", timed_out=True)
        if silent:
            return Outcome(error=f"no result within {self.wall_s:g} s", timed_out=True)
        return Outcome(error=f"the child ended with code {code}")

    def close(self) -> None:
        """End all children and wait for them."""
        with self._lock:
            for child in self._children:
                child.kill()
            self._children.clear()

    def __enter__(self) -> DeadlinePool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _take(todo: queue.SimpleQueue[int]) -> int | None:
    try:
        return todo.get_nowait()
    except queue.Empty:
        return None


class _Silent(Exception):
    def __init__(self, alive: bool) -> None:
        super().__init__()
        self.alive = alive


class _Child:
    def __init__(self, function: str, deadline_s: float) -> None:
        env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        command = [sys.executable, "-m", "ct_tasks.execution.deadline", function, str(deadline_s)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        self.buffer = b""
        self.lines: list[bytes] = []
        try:
            self._line(START_S)
        except _Silent:
            code = self.kill()
            raise HarnessError(f"a scoring process for {function} did not start (exit code {code})") from None

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def receive(self, wall_s: float) -> Outcome:
        reply = json.loads(self._line(wall_s))
        return Outcome(value=reply["value"]) if "value" in reply else Outcome(error=reply["error"])

    def _line(self, wall_s: float) -> bytes:
        assert self.process.stdout is not None
        end = time.monotonic() + wall_s
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self.buffer:
                left = end - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise _Silent(alive=self.process.poll() is None)
                part = os.read(self.process.stdout.fileno(), 1 << 20)
                if not part:
                    raise _Silent(alive=False)
                self.buffer += part
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line

    def kill(self) -> int:
        """Kill, wait, close; the exit code."""
        if self.process.poll() is None:
            self.process.kill()
        code = self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:  # closing flushes what the dead child did not read
                    continue
        return code


def _main(name: str, deadline_s: float) -> None:
    module, attribute = name.split(":")
    function = getattr(importlib.import_module(module), attribute)
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever prints must not speak on our channel
    replies.write(b"ready\n")
    for line in sys.stdin.buffer:
        signal.setitimer(signal.ITIMER_PROF, deadline_s)  # nobody handles its signal, so that it ends this process
        try:
            reply = {"value": function(json.loads(line))}
        except Exception as error:  # noqa: BLE001 - hides any fault of the function on this item; reported as its error
            reply = {"error": f"{type(error).__name__}: {error}"[:500]}
        text = json.dumps(reply).encode() + b"\n"
        signal.setitimer(signal.ITIMER_PROF, 0)
        replies.write(text)


if __name__ == "__main__":
    _main(sys.argv[1], float(sys.argv[2]))
