"""CRUXEval-X programs: batched as the product runs them, against one program at a time as the official runner does.

    CT_DATA_DIR=... python benchmarks/cruxeval_x.py --programs 50 --out results/cruxeval_x_speed.json

Each language's first reference programs through the same image: ours (``run_programs``, batch compilers, all cores), and one
``docker run`` a program with no batch. Verdicts must agree.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from datetime import date
from pathlib import Path

from ct_tasks.benchmarks import registry
from ct_tasks.execution.languages import NAMES
from ct_tasks.execution.languages.runner import run_programs
from ct_tasks.options import TaskOptions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", default=list(NAMES))
    parser.add_argument("--programs", type=int, default=50)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = {}
    for name in options.languages:
        items = registry.get(f"ct_cruxeval_x_{name}").items(TaskOptions())[: options.programs]
        programs = [str(i.data["code"]) for i in items]
        start = time.perf_counter()
        batched = [r.status for r in run_programs(name, programs)]
        ours = time.perf_counter() - start
        start = time.perf_counter()
        single = [run_programs(name, [p], batch=False, workers=1)[0].status for p in programs]
        theirs = time.perf_counter() - start
        rows[name] = {"programs": len(programs), "batched_s": round(ours, 2), "one_at_a_time_s": round(theirs, 2), "ratio": round(theirs / ours, 1), "same_verdicts": batched == single}
        print(name, rows[name], flush=True)
    total = {k: round(sum(r[k] for r in rows.values()), 1) for k in ("batched_s", "one_at_a_time_s")}
    figures = {
        "command": f"python benchmarks/cruxeval_x.py --programs {options.programs}", "date": date.today().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}", "total": {**total, "ratio": round(total["one_at_a_time_s"] / total["batched_s"], 1)}, "languages": rows,
    }  # fmt: skip
    print(json.dumps(figures["total"]))
    if options.out:
        options.out.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
