"""Soak of the Python pool: many mixed jobs, one in ten hostile; is every result there and right, and is memory flat?

    python benchmarks/python_pool_soak.py --jobs 20000 --out results/python_pool_soak.md

Honest jobs: CRUXEval's programs, scripts on real standard input, programs that raise. Hostile ones: the attack corpus of
the tests, with short limits. After each slice of the jobs the memory, descriptors and processes of the scorer and of all
workers are written down. Exit status 1 if a result is lost or wrong, or memory has grown by more than ``--growth`` MB
between the end of the second slice and the end of the last.
"""

from __future__ import annotations

import argparse
import collections
import datetime
import json
import os
import platform
import random
import sys
import tempfile
import time
from pathlib import Path

from ct_tasks.contra.literals import parse, same
from ct_tasks.execution.jobs import Job, Limits, Result
from ct_tasks.execution.pool import PythonPool

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "execution"))
from attacks import ATTACKS  # noqa: E402 - the corpus lives with the tests

SHORT = Limits(cpu_s=1, wall_s=0.5, memory_mb=128, output_bytes=20_000, disk_mb=4)
Case = tuple[Job, str, str | None]  # a job, what kind it is, and the right value or output


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = Path(os.environ.get("CT_DATA_DIR", "data")) / "cruxeval" / "test.jsonl"
    parser.add_argument("--data", type=Path, default=data, help="CRUXEval's test.jsonl (default: below $CT_DATA_DIR)")
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--slices", type=int, default=10)
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--backend", choices=("local", "docker"), default="local")
    parser.add_argument("--growth", type=float, default=8.0, help="MB of growth that still counts as flat")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="write the report here too (Markdown)")
    args = parser.parse_args()
    cases = _cases(args)
    lines = [
        "| jobs | seconds | lost | wrong | scorer MB | workers MB | descriptors | processes |",
        "|---|---|---|---|---|---|---|---|",
    ]
    statuses: collections.Counter[str] = collections.Counter()
    memory: list[float] = []
    problems = 0
    began = time.monotonic()
    with PythonPool(args.workers, args.backend) as pool:
        size = args.jobs // args.slices
        for start in range(0, args.jobs, size):
            part = cases[start : start + size]
            results = pool.run([job for job, _, _ in part])
            lost = sum(r is None or r.status == "harness_error" for r in results) + len(part) - len(results)
            wrong = sum(not _as_it_should(case, r) for case, r in zip(part, results, strict=True))
            statuses.update(f"{kind}: {r.status}" for (_, kind, _), r in zip(part, results, strict=True))
            problems += lost + wrong
            own, workers, descriptors, processes = _usage(pool)
            memory.append(own + workers)
            seconds = time.monotonic() - began
            row = f"| {start + len(part)} | {seconds:.0f} | {lost} | {wrong} "
            row += f"| {own:.1f} | {workers:.1f} | {descriptors} | {processes} |"
            lines.append(row)
            print(row, file=sys.stderr, flush=True)
    growth = memory[-1] - memory[min(1, len(memory) - 1)]
    report = "\n".join([
        "# Soak of the Python pool",
        "",
        f"Command: `python benchmarks/python_pool_soak.py {' '.join(sys.argv[1:])}`  ",
        f"Machine: {os.cpu_count()} cores, Linux {platform.release()}, Python {platform.python_version()}. "
        f"Date: {datetime.date.today()}.  ",
        f"{args.jobs} jobs, {len(ATTACKS)} kinds of attack in one of ten of them, {args.workers} workers, "
        f"backend {args.backend}. Workers' memory: resident sizes of supervisors and fork servers on this machine "
        "(for Docker: of the clients).",
        "",
        *lines,
        "",
        f"Memory from the end of the second slice to the end: {growth:+.1f} MB.",
        "",
        *(f"- {kind}: {count}" for kind, count in sorted(statuses.items())),
        "",
    ])  # fmt: skip
    print(report)
    if args.out:
        args.out.write_text(report)
    return int(problems > 0 or growth > args.growth)


def _cases(args: argparse.Namespace) -> list[Case]:
    rows = [json.loads(line) for line in args.data.read_text().splitlines()]
    places = {
        "@SECRET_FILE@": str(args.data),
        "@SECRET_NAME@": args.data.name,
        "@SCORER@": str(os.getpid()),
        "@MARK@": "ct-soak",
    }
    places |= {"@PORT@": "9", "@UNIX@": "/run/ct-soak", "@ABSTRACT@": "ct-soak", "@ANYTHING@": "gained"}
    choice = random.Random(args.seed)
    cases: list[Case] = []
    for i in range(args.jobs):
        if i % 10 == 7:
            attack = choice.choice(ATTACKS)
            code = attack.code
            for name, value in places.items():
                code = code.replace(name, value)
            cases.append((Job(code, expr=attack.expr or None, stdin=attack.stdin, limits=SHORT), "hostile", None))
        elif i % 40 == 3:
            cases.append((Job("print(int(input()) * 2)", stdin=f"{i}\n"), "script", f"{i * 2}\n"))
        elif i % 40 == 5:
            cases.append((Job(f"def f():\n    raise KeyError({i})", expr="f()"), "raises", f"KeyError: {i}"))
        else:
            row = choice.choice(rows)
            cases.append((Job(row["code"], expr=f"f({row['input']})"), "program", row["output"]))
    return cases


def _as_it_should(case: Case, result: Result) -> bool:
    _, kind, expected = case
    if kind == "hostile":
        return "gained" not in (result.value or "")
    if kind == "script":
        return result.status == "ok" and result.stdout == expected
    if kind == "raises":
        return result.status == "exception" and result.error == expected
    return result.status == "ok" and same(parse(result.value or ""), parse(expected or ""))


def _usage(pool: PythonPool) -> tuple[float, float, int, int]:
    """Resident MB of this process and of everything below it, open descriptors here, and processes below."""
    parents: dict[int, int] = {}
    sizes: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        try:
            pid, stat = int(entry.name), (entry / "stat").read_text().rpartition(")")[2].split()
        except (ValueError, OSError):
            continue
        parents[pid], sizes[pid] = int(stat[1]), int(stat[21]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    below = {os.getpid()}
    while more := {p for p, parent in parents.items() if parent in below} - below:
        below |= more
    left = [name for name in os.listdir(tempfile.gettempdir()) if "ct-soak" in name]
    assert not left, f"files left behind: {left}"
    workers = sum(sizes[p] for p in below if p != os.getpid())
    return sizes[os.getpid()], workers, len(os.listdir("/proc/self/fd")), len(below) - 1


if __name__ == "__main__":
    sys.exit(main())
