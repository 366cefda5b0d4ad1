"""Speed of the execution filter: warm sandboxed workers against one fresh ``python -c`` a call, on the same programs.

    python benchmarks/execution_filter.py --functions 40 --out results/execution_filter.md

Programs and inputs come from the rows of LeetCodeDataset in CT_DATA_DIR. The peer runs each call once in a process of its own,
two at a time, with a timeout and nothing else: no sandbox, no memory limit, no check that the value is the same again. The
filter runs each call three times (once plainly, twice traced under other hash seeds); its plain runs are also timed alone.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ct_tasks.benchmarks import data
from ct_tasks.benchmarks.base import Source
from ct_train.data.execute import ExecuteSettings, Runner
from ct_train.data.inputs import fill, make_sources
from ct_train.data.static_filter import filter_rows

ROWS = Source(local="leetcode/LeetCodeDataset-v0.2.0-train.jsonl.gz", rows=0, licence="MIT")


def fresh_process(program: str, call: str, timeout_s: float) -> bool:
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", f"{program}\nprint(repr({call}))"],
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=int, default=40)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    path = data.local_file(ROWS)
    if path is None:
        sys.exit(f"CT_DATA_DIR has no {ROWS.local}")
    kept = filter_rows(data.read_file(path)[: 2 * args.functions], 5).kept[: args.functions]
    rows = fill(kept, make_sources(["dataset", "mutate"], 0, None, Path()), 15, 600).kept
    pairs = [(row, given["call"]) for row in rows for given in row["inputs"]]
    cores = len(os.sched_getaffinity(0))
    settings = ExecuteSettings()
    with Runner(settings) as runner:
        runner.filter(rows[:2])  # workers start
        began = time.monotonic()
        runner._plain(pairs)
        plain = time.monotonic() - began
        began = time.monotonic()
        out = runner.filter(rows)
        whole = time.monotonic() - began
    began = time.monotonic()
    with ThreadPoolExecutor(cores) as threads:
        ran = sum(threads.map(lambda pair: fresh_process(pair[0]["program"], pair[1], 2 * settings.timeout_s), pairs))
    peer = time.monotonic() - began
    count = len(pairs)
    lines = [
        "# Execution filter: warm sandboxed workers against one process a call",
        "",
        f"`python benchmarks/execution_filter.py --functions {args.functions}`, {cores} cores, Python {platform.python_version()}, "
        f"{datetime.date.today()}, load average at the end {os.getloadavg()[0]:.1f} (the machine was shared).",
        "",
        f"{len(rows)} functions, {count} calls; the filter kept {len(out.kept)}, the peer's process ended well for {ran}.",
        "",
        "| | runs a call | seconds | calls/s | against the peer |",
        "|---|---|---|---|---|",
        f"| one `python -I -S -c` a call, {cores} at a time | 1 | {peer:.1f} | {count / peer:.0f} | 1.0 |",
        f"| the filter's plain runs alone | 1 | {plain:.1f} | {count / plain:.0f} | {peer / plain:.1f} |",
        f"| the filter: one plain and two traced runs, compared | 3 | {whole:.1f} | {count / whole:.0f} | {peer / whole:.1f} |",
        "",
    ]
    print("\n".join(lines))
    if args.out:
        args.out.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
