"""Are ct_fresh's programs what they claim to be? Makes many and checks all of them; no model is asked.

    python benchmarks/fresh_programs.py --programs 5000 --out results/fresh_programs.md

Counts duplicates (also up to names), programs whose run differs between three hash seeds, gold traces that do not score RCS 1,
and runs on which a plain line tracer (``tests/benchmarks/fresh/fresh_plain.py``) disagrees. Times are CPU seconds of all
processes together beside wall-clock seconds.
"""

from __future__ import annotations

import argparse
import ast
import os
import platform
import sys
import time
from collections import Counter
from pathlib import Path

from ct_tasks.benchmarks.fresh import pool
from ct_tasks.benchmarks.fresh.dials import Dials
from ct_tasks.benchmarks.fresh.fingerprint import fingerprint
from ct_tasks.contra import literals
from ct_tasks.contra.scoring import score_trace
from ct_tasks.contra.trace import Truth, render
from ct_tasks.execution.pool import PythonPool
from ct_tasks.execution.tracing import Call, trace_all

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "benchmarks" / "fresh"))
import fresh_plain


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--programs", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()

    wall, cpu = time.monotonic(), _cpu()
    with PythonPool(2) as workers:
        made = pool.Pool(pool.Set(args.seed, Dials(), "check"))
        runs = made.take(args.programs, lambda s: True, workers.run)
        calls = [Call(s.draft.code, s.draft.call, s.draft.entry) for s in runs]
        truths = trace_all(calls, run=workers.run)
    spent = time.monotonic() - wall, _cpu() - cpu

    different = 0
    for hash_seed in (1, 2):
        with PythonPool(2, hash_seed=hash_seed) as workers:
            again = pool.observed([s.draft for s in runs], workers.run)
            different += sum(a != b for a, b in zip(runs, again, strict=True))
    wrong = Counter()
    for seen, truth in zip(runs, truths, strict=True):
        wrong["traces that do not score RCS 1 and reward 4"] += not _perfect(truth)
        wrong["runs on which the plain tracer disagrees"] += not _agrees(seen, truth)
    rows = {
        "programs": len(runs),
        "drafts that raise, or whose value or run is too long": made._drawn - len(made.seen),
        "duplicates": len(runs) - len({s.draft.code for s in runs}),
        "duplicates up to names": len(runs) - len({fingerprint(s.draft.code) for s in runs}),
        "runs that differ under another hash seed (0, 1, 2)": different,
        **wrong,
        "programs in which something raises and is caught": sum(s.raised is not None for s in runs),
        "lines of a program, mean": round(sum(s.draft.code.count("\n") + 1 for s in runs) / len(runs), 1),
        "rounds of all loops, mean": round(sum(s.rounds for s in runs) / len(runs), 1),
        "blocks of a trace, mean": round(sum(len(t.blocks) for t in truths if isinstance(t, Truth)) / len(runs), 1),
        "different values returned": len({s.output for s in runs}),
        "seconds to generate, run and trace: CPU, all processes": round(spent[1], 1),
        "seconds to generate, run and trace: wall clock, two workers": round(spent[0], 1),
    }
    lines = ["# ct_fresh: its programs, checked", "", f"`python benchmarks/fresh_programs.py --programs {args.programs}`, "]
    lines[-1] += f"Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}, load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores."
    lines += ["", "| what | count |", "|---|---:|", *(f"| {name} | {value:,} |" for name, value in rows.items())]
    text = "\n".join(lines) + "\n"
    print(text)
    if args.out:
        args.out.write_text(text)


def _perfect(truth: object) -> bool:
    if not isinstance(truth, Truth):
        return False
    score = score_trace(render(truth), truth)
    return score.rcs == 1 and score.reward == 4


def _agrees(seen: pool.Seen, truth: object) -> bool:
    code, entry = seen.draft.code, seen.draft.entry
    value, events, first, raised = fresh_plain.run(code, seen.draft.call, entry)
    start = next(n.lineno for n in ast.parse(code).body if isinstance(n, ast.FunctionDef) and n.name == entry)
    same = (
        literals.same(literals.parse(seen.output), value)
        and raised == seen.raised
        and dict(seen.trips) == fresh_plain.rounds(code, events)
        and {line: list(taken) for line, taken in seen.branches} == fresh_plain.branches(code, events)
    )
    for block in truth.blocks if isinstance(truth, Truth) else ():
        values = fresh_plain.state_after(events[first], start + block.start, start + block.stop - 1)
        same = same and all(literals.same(values[name], true) for name, true in block.locals.items())
    return same


def _cpu() -> float:
    """CPU seconds of this process and of the children that have ended."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    main()
