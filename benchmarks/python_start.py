"""What the autoload costs at every start of Python: our ``.pth`` line against an empty folder of the same kind.

    python benchmarks/python_start.py --out results/python_start.json

Both starts run ``python -S`` and then read one site folder, as ``site`` reads site-packages: one folder is empty, the other
holds our ``.pth`` file. So everything counts: reading the line, importing the package and the module. The two take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def start(folder: str, **extra: str) -> float:
    """Milliseconds from the start of a Python to its end."""
    begin = time.perf_counter()
    command = [sys.executable, "-S", "-c", f"import site; site.addsitedir({folder!r})"]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(ROOT), **extra})
    return 1000 * (time.perf_counter() - begin)


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryDirectory() as ours:
        shutil.copy(ROOT / "codethinker_eval.pth", ours)
        start(ours)
        without, with_it, off = [], [], []
        for _ in range(options.runs):
            without.append(start(empty))
            with_it.append(start(ours))
            off.append(start(ours, CT_TASKS_NO_AUTOLOAD="1"))
    figures = {
        "command": "python benchmarks/python_start.py", "date": date.today().isoformat(), "python": platform.python_version(),
        "machine": f"{os.cpu_count()} cores, {processor()}, load {os.getloadavg()[0]:.1f}", "runs": options.runs,
        "without_ms": round(statistics.median(without), 2), "with_autoload_ms": round(statistics.median(with_it), 2),
        "switched_off_ms": round(statistics.median(off), 2),
        "added_ms": round(statistics.median(a - b for a, b in zip(with_it, without, strict=True)), 2),
        "added_fastest_ms": round(min(with_it) - min(without), 2),
    }  # fmt: skip
    print(json.dumps(figures, indent=1))
    if options.out:
        options.out.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
