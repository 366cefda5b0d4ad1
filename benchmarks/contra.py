"""Speed of the ConTra core: tracing, parsing, scoring, on one core.

    CT_DATA_DIR=... python benchmarks/contra.py --out results/contra_speed.json

Tracing: every CRUXEval program in this process (they are trusted), against a plain run of the same calls side by side.
Parsing: bytes a second on texts of 10 MB. Scoring: rollouts a second on CRUXEval traces padded to about 1,000 tokens
(four characters a token), all right and with the first block wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

from ct_tasks.contra.scoring import score_trace
from ct_tasks.contra.trace import render
from ct_tasks.contra.tracer import trace_call

THOUGHT = "The loop visits each value in turn and updates the running result, so the variable changes step by step. "


def cpu_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def plain_run(rows: list[dict[str, str]]) -> None:
    for row in rows:
        namespace: dict[str, object] = {}
        exec(compile(row["code"], "<program>", "exec"), namespace)
        eval(f"f({row['input']})", namespace)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write the figures there as JSON")
    options = parser.parse_args()
    data = Path(os.environ["CT_DATA_DIR"]) / "cruxeval" / "test.jsonl"
    rows = [json.loads(line) for line in data.open()]
    traced: list[float] = []
    plain: list[float] = []
    for _ in range(3):
        plain.append(cpu_seconds(lambda: plain_run(rows)))
        traced.append(cpu_seconds(lambda: [trace_call(r["code"], f"f({r['input']})") for r in rows]))
    truths = [trace_call(r["code"], f"f({r['input']})") for r in rows]
    pad = [THOUGHT * max(1, (4000 - len(render(t))) // len(THOUGHT) // len(t.blocks)) for t in truths]
    right = [render(t, [p] * len(t.blocks)) for t, p in zip(truths, pad, strict=True)]
    wrong = [text.replace("[LOCALS]\n{", "[LOCALS]\n{'__': 0, ", 1) for text in right]
    score = {
        name: round(
            len(texts)
            / cpu_seconds(lambda texts=texts: [score_trace(x, t) for x, t in zip(texts, truths, strict=True)])
        )  # type: ignore[misc]
        for name, texts in (("right", right), ("first block wrong", wrong))
    }
    bombs = {
        "open brackets": "[" * 10_000_000,
        "thoughts": right[0].replace(THOUGHT, THOUGHT * 90_000, 1),
        "code lines": "[TRACE]\n[CODE]\n" + "[LINENO 0]    x\n" * 625_000,
    }
    figures = {
        "command": "python benchmarks/contra.py",
        "date": date.today().isoformat(),
        "python": platform.python_version(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}",
        "trace_800_cruxeval_cpu_s": round(min(traced), 3),
        "plain_800_cruxeval_cpu_s": round(min(plain), 3),
        "trace_cost_factor": round(min(t / p for t, p in zip(traced, plain, strict=True)), 2),
        "mean_rollout_chars": round(sum(map(len, right)) / len(right)),
        "rollouts_scored_per_s": score,
        "ten_megabyte_texts_cpu_s": {
            name: round(cpu_seconds(lambda text=text: score_trace(text, truths[0])), 2) for name, text in bombs.items()
        },  # type: ignore[misc]
    }
    print(json.dumps(figures, indent=2))
    if options.out:
        options.out.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
