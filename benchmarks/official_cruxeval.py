"""Scoring speed beside the official CRUXEval scorer, in one run on the same published generations.

    CT_DATA_DIR=... python benchmarks/official_cruxeval.py --official /path/to/cruxeval/evaluation --out results/official_cruxeval.json

Ours: from the answers' text to the strict and the official verdict of all of them. Theirs: ``evaluate_score`` with its own
process pool, on as many items as ``--official-items`` says (all by default), scaled to all by count.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from pathlib import Path

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.base import Answer
from ct_tasks.options import TaskOptions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--official", type=Path, required=True, help="folder with the official utils_general.py")
    parser.add_argument("--file", default="codellama-7b_temp0.2_output.json.gz")
    parser.add_argument("--official-items", type=int, default=800)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    path = Path(os.environ["CT_DATA_DIR"]) / "published_generations" / "cruxeval" / options.file
    with gzip.open(path) as packed:
        generations = json.load(packed)["raw_generations"]
    task = registry.get("ct_cruxeval_o")
    settings = TaskOptions()
    items = {i.id: i for i in task.items(settings)}
    answers = [Answer(items[k], text, extracted=True) for k in items for text in generations[k]]
    task.score(answers[:10], settings)  # the pool is warm, as it is in a run
    start = time.perf_counter()
    scores = task.score(answers, settings)
    ours = time.perf_counter() - start
    sys.path.insert(0, str(options.official))
    from utils_general import evaluate_score  # type: ignore[import-not-found]

    some = list(items)[: options.official_items]
    jobs = [(generations[k], (items[k].data["code"], items[k].data["call"][2:-1], items[k].data["output"]), "output") for k in some]
    start = time.perf_counter()
    with ProcessPoolExecutor() as executor:
        theirs_verdicts = list(executor.map(evaluate_score, jobs))
    count = sum(len(generations[k]) for k in some)
    theirs = (time.perf_counter() - start) * len(answers) / count
    flat = [v for row in theirs_verdicts for v in row]
    same = sum(s.acc_official == v for s, v in zip(scores, flat, strict=False))
    figures = {
        "command": "python benchmarks/official_cruxeval.py", "date": date.today().isoformat(), "machine": f"{os.cpu_count()} cores, {platform.machine()}",
        "python": platform.python_version(), "generations": len(answers), "ours_s": round(ours, 3), "official_s": round(theirs, 1),
        "official_generations_run": count, "ratio": round(theirs / ours, 1), "same_verdicts": f"{same} of {len(flat)}",
    }  # fmt: skip
    print(json.dumps(figures, indent=1))
    if options.out:
        options.out.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
