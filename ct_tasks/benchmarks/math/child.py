"""Comparisons in child processes with a hard deadline: sympy can parse or simplify without end, and a signal cannot stop it.

Each child reads pairs as JSON lines and answers one word a line. Its processor time is limited by the kernel for each
pair (``RLIMIT_CPU``), its memory once, and the parent kills it when it is silent for much longer; a child that died is
replaced and the pair is an ``error`` with the reason. Threads may call ``Comparer.compare`` at will: no signal is used.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import resource
import selectors
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

from ct_tasks.benchmarks.math.equal import Verdict, quick
from ct_tasks.benchmarks.math.latex import tidy
from ct_tasks.errors import HarnessError

CPU_S = 5.0
WALL_S = 300.0  # for a child that is silent; sympy works until the processor time ends it, however busy the machine
MEMORY_MB = 2048


@dataclass(frozen=True, slots=True)
class Comparison:
    """The verdict on a pair, and where it is ``error`` why; ``timed_out`` when the deadline ended it."""

    verdict: Verdict
    reason: str = ""
    timed_out: bool = False


class _Child:
    def __init__(self, cpu_s: float) -> None:
        self.cpu_s = cpu_s
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ct_tasks.benchmarks.math.child", str(cpu_s)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
        if self._line(WALL_S) != b"ready\n":
            self.kill()
            raise HarnessError("the child process that compares mathematical answers did not start; is math-verify "
                               "installed? (pip install 'codethinker-eval[math]')")

    def _line(self, wall_s: float) -> bytes:
        assert self.process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            return self.process.stdout.readline() if selector.select(wall_s) else b""

    def ask(self, gold: str, answer: str, wall_s: float) -> Comparison:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps([gold, answer]).encode() + b"\n")
            self.process.stdin.flush()
            line = self._line(wall_s)
        except BrokenPipeError:
            line = b""
        if line:
            verdict, reason = json.loads(line)
            return Comparison(verdict, reason)
        code = self.kill()
        ended = code in (-24, -9)  # SIGXCPU from the kernel, SIGKILL from us
        return Comparison("error", f"comparison stopped after {self.cpu_s:g} s of processor time" if ended
                          else f"the comparing process ended with code {code}", timed_out=ended)

    def kill(self) -> int:
        """Kill, then wait, so that no zombie stays; the exit code."""
        if self.process.poll() is None and self.process.stdout is not None:
            self.process.kill()
        code = self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):  # closing flushes what the dead child did not read
                    stream.close()
        return code


class Comparer:
    """Up to ``workers`` children, started when first needed."""

    def __init__(self, workers: int = 2, cpu_s: float = CPU_S, wall_s: float = WALL_S) -> None:
        self.workers, self.cpu_s, self.wall_s = workers, cpu_s, wall_s
        self._idle: queue.LifoQueue[_Child | None] = queue.LifoQueue()
        for _ in range(workers):
            self._idle.put(None)
        self._pid = os.getpid()

    def compare(self, gold: str, answer: str) -> Comparison:
        """Compare one pair; text-level and rational comparisons are decided here, the rest in a child."""
        if (verdict := quick(tidy(gold), tidy(answer))) is not None:
            return Comparison(verdict)
        child = self._idle.get()
        try:
            child = child or _Child(self.cpu_s)
            result = child.ask(gold, answer, self.wall_s)
            if child.process.returncode is not None:
                child = None
            return result
        finally:
            self._idle.put(child)

    def compare_all(self, pairs: Sequence[tuple[str, str]]) -> list[Comparison]:
        """Compare in parallel, order kept; a pair that occurs twice is compared once."""
        unique = list(dict.fromkeys(pairs))
        with ThreadPoolExecutor(self.workers) as threads:
            done = dict(zip(unique, threads.map(lambda pair: self.compare(*pair), unique), strict=True))
        return [done[pair] for pair in pairs]

    def close(self) -> None:
        """End all idle children."""
        for _ in range(self._idle.qsize()):
            child = self._idle.get()
            if child is not None and self._pid == os.getpid():
                child.kill()
            self._idle.put(None)


_LOCK = threading.Lock()


@cache
def _shared(pid: int) -> Comparer:
    comparer = Comparer(workers=min(4, os.cpu_count() or 1))
    atexit.register(comparer.close)
    return comparer


def shared_comparer() -> Comparer:
    """The process-wide comparer; a forked process gets its own."""
    with _LOCK:
        return _shared(os.getpid())


def _serve(cpu_s: float) -> None:
    """The child's loop. Whatever sympy raises is an ``error`` verdict with its reason, never the end of the child."""
    import warnings

    from ct_tasks.benchmarks.math.equal import same

    warnings.simplefilter("ignore")
    sys.setrecursionlimit(5000)
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    wanted = MEMORY_MB << 20
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
    import ct_tasks.benchmarks.math.symbolic  # noqa: F401  (loaded before the first pair's clock starts)

    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # sympy's parsers print; the pipe is ours alone
    replies.write(b"ready\n")
    for line in sys.stdin.buffer:
        gold, answer = json.loads(line)
        usage = resource.getrusage(resource.RUSAGE_SELF)
        soft = int(usage.ru_utime + usage.ru_stime + cpu_s) + 1
        cpu_hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (soft if cpu_hard == resource.RLIM_INFINITY else min(soft, cpu_hard), cpu_hard))
        try:
            reply = [same(gold, answer), ""]
        except Exception as error:  # noqa: BLE001  (hides any failure inside sympy's parsers and solvers; reported as error)
            reply = ["error", f"{type(error).__name__}: {error}"[:300]]
        except (RecursionError, MemoryError) as error:
            reply = ["error", type(error).__name__]
        replies.write(json.dumps(reply).encode() + b"\n")


if __name__ == "__main__":
    _serve(float(sys.argv[1]) if len(sys.argv) > 1 else CPU_S)
