"""CRUXEval-X answers: scored as the product scores them, against one program at a time as the official runner does.

    CT_DATA_DIR=... python benchmarks/cruxeval_x.py --programs 50 --out results/cruxeval_x_speed.json

Each language's first problems get an answer each, half of them the gold value, half the gold value of another problem.
Ours: ``score`` (an answer whose text is the gold text is right without a run; batch compilers; all cores). Theirs: every
program built and run alone, one after the other, in a container of the same image that is already up. ``programs`` is the
same with every answer run (no comparison with the gold text). Verdicts must agree. The verdicts kept by earlier runs are
not looked at.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from datetime import date
from pathlib import Path

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.base import Answer
from ct_tasks.benchmarks.cruxeval_x.rows import take_apart
from ct_tasks.execution.languages import NAMES
from ct_tasks.execution.languages.runner import run_programs
from ct_tasks.options import TaskOptions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", default=list(NAMES))
    parser.add_argument("--programs", type=int, default=50)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as fresh:
        os.environ["CT_CACHE_DIR"] = fresh
        measure(options)


def measure(options: argparse.Namespace) -> None:
    rows = {}
    for name in options.languages:
        task = registry.get(f"ct_cruxeval_x_{name}")
        bad = task.bad_references(TaskOptions())
        items = [i for i in task.items(TaskOptions()) if i.id not in bad][: options.programs]
        parts = [p for i in items if (p := take_apart(str(i.data["code"]), str(i.data["check"])))]
        values = [p.gold if n % 2 == 0 else parts[n - 1].gold for n, p in enumerate(parts)]
        programs = [p.program(v) for p, v in zip(parts, values, strict=True)]
        run_programs(name, programs[:1])  # the image's files are in memory for both
        start = time.perf_counter()
        scored = [s.acc_official for s in task.score([Answer(i, v, extracted=True) for i, v in zip(items, values, strict=True)], TaskOptions())]
        ours = time.perf_counter() - start
        start = time.perf_counter()
        batched = [r.status == "ok" for r in run_programs(name, programs)]
        programs_s = time.perf_counter() - start
        start = time.perf_counter()
        single = [r.status == "ok" for r in run_programs(name, programs, batch=False, workers=1)]
        theirs = time.perf_counter() - start
        rows[name] = {
            "answers": len(programs), "right": sum(single), "scored_s": round(ours, 2), "programs_s": round(programs_s, 2), "one_at_a_time_s": round(theirs, 2),
            "ratio": round(theirs / ours, 1), "ratio_programs": round(theirs / programs_s, 1), "same_verdicts": scored == single == batched,
        }  # fmt: skip
        print(name, rows[name], flush=True)
    total = {k: round(sum(r[k] for r in rows.values()), 1) for k in ("scored_s", "programs_s", "one_at_a_time_s")}
    figures = {
        "command": f"python benchmarks/cruxeval_x.py --programs {options.programs}", "date": date.today().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}", "total": {**total, "ratio": round(total["one_at_a_time_s"] / total["scored_s"], 1)}, "languages": rows,
    }  # fmt: skip
    print(json.dumps(figures["total"]))
    if options.out:
        options.out.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
