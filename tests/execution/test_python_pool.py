"""The Python pool's contract: one result per job, in order, with the right status; a batch never changes a verdict."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ct_tasks.contra import literals
from ct_tasks.errors import ConfigError, HarnessError, UnknownNameError
from ct_tasks.execution.jobs import Job, Limits
from ct_tasks.execution.pool import PythonPool, shared_pool

SHORT = Limits(cpu_s=1, wall_s=1.5, memory_mb=128, output_bytes=1000, disk_mb=1)


@pytest.fixture(scope="module")
def pool() -> Iterator[PythonPool]:
    with PythonPool(2) as made:
        yield made


def square(n: int) -> Job:
    return Job("def f(x):\n    return x * x", expr=f"f({n})", id=str(n))


STATUSES = {
    "value": (Job("x = 41", expr="x + 1"), "ok", "42"),
    "no expression": (Job("x = 1"), "ok", None),
    "exception": (Job("1 / 0", expr="1"), "exception", None),
    "exception in the expression": (Job("x = []", expr="x[0]"), "exception", None),
    "syntax error": (Job("def f(:", expr="1"), "exception", None),
    "expression is a statement": (Job("x = 1", expr="x = 2"), "exception", None),
    "sys.exit": (Job("import sys\nsys.exit(0)", expr="1"), "exception", None),
    "KeyboardInterrupt": (Job("raise KeyboardInterrupt", expr="1"), "exception", None),
    "value without literal": (Job("x = lambda: 0", expr="x"), "exception", None),
    "os._exit": (Job("import os\nos._exit(0)", expr="1"), "killed", None),
    "exit code": (Job("import os\nos._exit(3)", expr="1"), "exception", None),
    "wall time": (Job("import time\ntime.sleep(60)", limits=SHORT), "timeout", None),
    "CPU time": (Job("while True:\n    pass", limits=Limits(cpu_s=1, wall_s=30)), "timeout", None),
    "memory": (Job("x = bytearray(1 << 30)", limits=SHORT), "memory", None),
    "output": (Job("print('x' * 2000)", limits=SHORT), "output_limit", None),
    "large file": (Job("import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\nopen('x', 'wb').write(bytes(1 << 21))", limits=SHORT), "output_limit", None),
    "segmentation fault": (Job("import ctypes\nctypes.string_at(0)", expr="1"), "killed", None),
    "script": (Job("print(input()[::-1])", stdin="abc\n"), "ok", None),
    "script that exits with 0": (Job("import sys\nprint('abc')\nsys.exit()", stdin=""), "ok", None),
    "script that exits hard with 0": (Job("import os\nprint('abc', flush=True)\nos._exit(0)", stdin=""), "ok", None),
    "script that exits with 1": (Job("import sys\nsys.exit(1)", stdin=""), "exception", None),
    "script without its input": (Job("input()", stdin=""), "exception", None),
}  # fmt: skip


@pytest.mark.parametrize("name", STATUSES)
@pytest.mark.parametrize("company", [0, 2], ids=["alone", "in a batch"])
def test_status(pool: PythonPool, name: str, company: int) -> None:
    job, status, value = STATUSES[name]
    results = pool.run([*map(square, range(company)), job])
    assert (results[-1].status, results[-1].value) == (status, value), results[-1]
    assert (results[-1].error == "") == (status == "ok")
    assert [r.value for r in results[:-1]] == ["0", "1"][:company]


def test_order_ids_and_progress(pool: PythonPool) -> None:
    seen: list[tuple[int, int]] = []
    results = pool.run([square(n) for n in range(700)], progress=lambda done, total: seen.append((done, total)))
    assert [(r.id, r.value) for r in results] == [(str(n), str(n * n)) for n in range(700)]
    assert seen[-1] == (700, 700)
    assert seen == sorted(seen)
    assert pool.run([]) == []


def test_values_come_back_typed(pool: PythonPool) -> None:
    texts = ["True", "1.0", "float('nan')", "(1,)", "{1: [2, {3}]}", "b'x'", "'\\ud800'", "-0.0", "frozenset()"]
    values = [r.value for r in pool.run([Job("", expr=t) for t in texts])]
    assert all(v and literals.same(literals.parse(v), literals.parse(t)) for v, t in zip(values, texts, strict=True))
    counted, named = pool.run([
        Job("from collections import Counter", expr="Counter('aab')"),
        Job("import collections\nP = collections.namedtuple('P', 'x y')", expr="P(1, 2)"),
    ])  # fmt: skip
    assert (counted.value, named.value) == ("{'a': 2, 'b': 1}", "(1, 2)")


def test_script_is_a_real_process(pool: PythonPool) -> None:
    code = """
import atexit, dataclasses, sys, threading
@dataclasses.dataclass
class P:
    x: int
atexit.register(print, "last")
threading.Thread(target=lambda: print("thread")).start()
data = sys.stdin.buffer.read()
print(len(data), open(0).fileno(), __name__, sys.argv, P(1))
print("error", file=sys.stderr)
"""
    big = "x" * 3_000_000
    (result,) = pool.run([Job(code, stdin=big)])
    assert result.status == "ok", result
    lines = result.stdout.split("\n")
    assert sorted(lines) == sorted(["3000000 0 __main__ ['program.py'] P(x=1)", "thread", "last", ""])
    assert lines[-2] == "last"
    assert result.stderr == "error\n"
    (traced,) = pool.run([Job("def g():\n    raise KeyError(7)\ng()", stdin="")])
    assert "KeyError: 7" in traced.stderr
    assert traced.error == "KeyError: 7"


def test_output_is_kept_apart_and_capped(pool: PythonPool) -> None:
    jobs = [Job(f"import sys\nprint('out', {n})\nprint('err', file=sys.stderr)\nx = {n}", expr="x") for n in range(3)]
    jobs += [Job(f"print('shared', {n})", expr=str(n)) for n in range(3)]
    results = pool.run(jobs)
    assert [r.stdout for r in results] == [f"out {n}\n" for n in range(3)] + [f"shared {n}\n" for n in range(3)]
    assert [r.stderr for r in results] == ["err\n"] * 3 + [""] * 3
    (flood,) = pool.run([Job("while True:\n    print('é' * 10)", limits=SHORT)])
    assert len(flood.stdout.encode()) <= 1000 + 4


def test_a_batch_changes_no_verdict(pool: PythonPool, data_dir: Path) -> None:
    rows = [json.loads(line) for line in (data_dir / "cruxeval" / "test.jsonl").read_text().splitlines()][:120]
    jobs = [Job(row["code"], expr=f"f({row['input']})") for row in rows]
    # Programs that go wrong in every way, between the good ones.
    bad = [Job("def f():\n    " + body, expr="f()", limits=SHORT) for body in (
        "raise ValueError(1)", "return f()", "return [0] * 10 ** 10", "return g", "print('x' * 5000)", "return 'a'.encode('idna')",
    )]  # fmt: skip
    mixed = [job for i, row in enumerate(jobs) for job in ([row, bad[i % len(bad)]] if i % 10 == 0 else [row])]
    together = pool.run(mixed)
    apart = [pool.run([job])[0] for job in mixed]
    assert [(r.status, r.value, r.error, r.stdout) for r in together] == [
        (r.status, r.value, r.error, r.stdout) for r in apart
    ]
    good = [r for r, job in zip(together, mixed, strict=True) if job not in bad]
    assert all(
        r.value and literals.same(literals.parse(r.value), literals.parse(row["output"]))
        for r, row in zip(good, rows, strict=True)
    )


def test_hooks(pool: PythonPool) -> None:
    def trace(source: str, call: str) -> Job:
        return Job("", hook="ct_tasks.contra.tracer:trace_hook", payload={"source": source, "call": call})

    results = pool.run(
        [trace("def f(x):\n    y = x + 1\n    return y", f"f({n})") for n in range(5)]
        + [trace("def f():\n    return 1 / 0", "f()")]
    )
    assert [json.loads(r.value or "")["truth"]["returned"] for r in results[:5]] == ["1", "2", "3", "4", "5"]
    assert json.loads(results[5].value or "")["error"] == "ProgramRaised"
    with pytest.raises(HarnessError, match="no_such_module"):
        pool.run([Job("", hook="no_such_module:f")])
    (missing,) = pool.run([Job("", hook="ct_tasks.contra.tracer:no_such_hook")])
    assert missing.status == "exception"
    assert "no_such_hook" in missing.error


def test_clock_starts_with_the_child(pool: PythonPool) -> None:
    """Forty jobs of 0.2 s wait for up to 4 s in the queue; none is late, because waiting is not running."""
    job = Job("import time\ntime.sleep(0.2)", limits=Limits(cpu_s=1, wall_s=1.0))
    assert {r.status for r in pool.run([job] * 40)} == {"ok"}


def test_a_busy_machine_takes_nothing_from_a_job(pool: PythonPool) -> None:
    """With three processes to a core a job needs three times its CPU time, which is beyond its wall limit."""
    code = "import time\ndef f():\n    while time.process_time() < 0.6:\n        pass\n    return 1"
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3 * (os.cpu_count() or 1))]
    try:
        works = pool.run([Job(code, expr="f()", limits=Limits(cpu_s=3, wall_s=0.8))] * 2)
        sleeps = pool.run([Job("import time\ntime.sleep(600)", limits=Limits(cpu_s=3, wall_s=0.8))] * 2)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert [r.status for r in works] == ["ok", "ok"], works
    assert [r.status for r in sleeps] == ["timeout", "timeout"], sleeps


def test_a_byte_order_mark_is_no_part_of_a_program(pool: PythonPool) -> None:
    function, script = pool.run([Job("\ufeffdef f():\n    return 1", expr="f()"), Job("\ufeffprint(2)", stdin="")])
    assert (function.value, script.stdout) == ("1", "2\n")


def test_many_threads_share_one_pool(pool: PythonPool) -> None:
    found: dict[int, list[str | None]] = {}

    def use(k: int) -> None:
        found[k] = [r.value for r in pool.run([square(k * 100 + n) for n in range(50)])]

    threads = [threading.Thread(target=use, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {k: [str((k * 100 + n) ** 2) for n in range(50)] for k in range(6)}
    assert len(pool._idle) <= 4 * pool.workers


def test_a_dead_worker_is_replaced(pool: PythonPool) -> None:
    pool.run([square(1)])
    for worker in pool._idle:
        worker.process.kill()
        worker.process.wait()
    assert [r.value for r in pool.run([square(n) for n in range(300)])] == [str(n * n) for n in range(300)]


def test_a_job_that_the_machinery_cannot_run_is_no_wrong_answer() -> None:
    over = threading.Event()
    with PythonPool(1) as pool:

        def keep_killing() -> None:
            while not over.wait(0.1):
                for worker in list(pool._busy):
                    worker.process.kill()

        killer = threading.Thread(target=keep_killing)
        killer.start()
        (result,) = pool.run([Job("import time\ntime.sleep(1)", expr="1", id="x")])
        over.set()
        killer.join()
        assert (result.status, result.value, result.id) == ("harness_error", None, "x")
        assert "died twice" in result.error
        assert pool.run([square(3)])[0].value == "9"


def test_closed_and_misnamed() -> None:
    pool = PythonPool(1)
    pool.close()
    pool.close()
    with pytest.raises(ConfigError, match="closed"):
        pool.run([square(1)])
    with pytest.raises(UnknownNameError, match="did you mean docker"):
        PythonPool(backend="dokcer")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="did you mean network"):
        PythonPool(allow_missing=("netwrok",))


def test_shared_pool_is_one_and_survives_a_fork() -> None:
    pool = shared_pool()
    assert shared_pool() is pool
    assert pool.run([square(5)])[0].value == "25"
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        values = [r.value for r in shared_pool().run([square(6)])]
        shared_pool().close()
        os.write(writer, json.dumps(values).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        assert json.loads(stream.read()) == ["36"]
    assert os.waitpid(child, 0)[1] == 0
    assert pool.run([square(7)])[0].value == "49"
    pool.close()
    assert shared_pool() is not pool


def test_no_environment_and_no_descriptor_is_inherited(pool: PythonPool) -> None:
    code = "import os\ndef fds():\n    found = []\n    for n in range(64):\n        try:\n            os.fstat(n)\n            found.append(n)\n        except OSError:\n            pass\n    return found"
    keys, fds = pool.run([Job("import os", expr="sorted(os.environ)"), Job(code, expr="fds()")])
    assert keys.value == "['HOME', 'LANG', 'LC_ALL', 'PATH', 'TMPDIR', 'TZ']"
    assert fds.value == "[0, 1, 2, 3]"


def test_an_interrupted_run_leaves_a_working_pool() -> None:
    class StopError(Exception):
        pass

    def stop(done: int, total: int) -> None:
        raise StopError

    with PythonPool(1) as pool:
        with pytest.raises(StopError):
            pool.run([square(n) for n in range(2000)], progress=stop)
        assert pool.run([square(3)])[0].value == "9"


def test_the_hash_seed_is_the_same_in_all_workers_and_can_be_chosen() -> None:
    values = set()
    for seed in (0, 0, 7):
        with PythonPool(2, hash_seed=seed) as pool:
            found = {r.value for r in pool.run([Job("", expr="hash('a')", id=str(i)) for i in range(12)])}
            assert len(found) == 1
            values |= found
    assert len(values) == 2
