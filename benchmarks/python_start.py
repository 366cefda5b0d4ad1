"""What the autoload costs at every start of Python: ``python -c pass`` with it and with its opt-out, in turn.

    python benchmarks/python_start.py --out results/python_start.json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from datetime import date
from pathlib import Path


def start(**extra: str) -> float:
    begin = time.perf_counter()
    subprocess.run([sys.executable, *extra.pop("flags", "").split(), "-c", "pass"], check=True, env={**os.environ, **extra})
    return 1000 * (time.perf_counter() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    pairs = [(start(), start(flags="-S")) for _ in range(options.runs)]
    importing = subprocess.run([sys.executable, "-X", "importtime", "-c", "pass"], capture_output=True, text=True, check=True).stderr
    ours = [int(line.split("|")[1]) for line in importing.splitlines() if line.split("|")[-1].strip() == "ct_tasks._autoload"]
    package = [int(line.split("|")[1]) for line in importing.splitlines() if line.split("|")[-1].strip() == "ct_tasks"]
    figures = {
        "command": "python benchmarks/python_start.py", "date": date.today().isoformat(), "machine": f"{os.cpu_count()} cores, {platform.machine()}",
        "python_c_pass_ms": round(statistics.median(a for a, _ in pairs), 2), "without_site_ms": round(statistics.median(b for _, b in pairs), 2),
        "autoload_import_ms": round((sum(ours) + sum(package)) / 1000, 3),
    }  # fmt: skip
    print(json.dumps(figures, indent=1))
    if options.out:
        options.out.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
