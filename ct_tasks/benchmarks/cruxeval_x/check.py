"""Runs CRUXEval-X's reference programs and writes which of them are sound (``references.json``)."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ct_tasks.benchmarks.cruxeval_x import references
from ct_tasks.benchmarks.cruxeval_x.task import CruxEvalX
from ct_tasks.execution.languages.runner import run_programs
from ct_tasks.options import TaskOptions

IMPOSSIBLE = '"certainly not this"'


def check(languages: Sequence[str], *, repeats: int, limit: int | None, out: Path | None) -> int:
    """Run every reference ``repeats`` times and write the list. Returns the exit code."""
    found = dict(references.known())
    for language in languages:
        items = CruxEvalX(language, "output").items(TaskOptions())
        programs = [str(item.data["code"]) for item in items]
        part = programs[:limit]
        start = time.monotonic()

        def show(done: int, total: int, language: str = language) -> None:
            print(f"\r{language}: {done}/{total}   ", end="", file=sys.stderr, flush=True)

        results = run_programs(language, part, runs=repeats, progress=show)
        # A check that a wrong value passes too is no check (in Perl, a function that returns a list fills both its arguments).
        task = CruxEvalX(language, "output")
        wrong = [parts.program(IMPOSSIBLE) if (parts := task.parts(item)) else "" for item in items[: len(part)]]
        vacuous = run_programs(language, wrong, retry=False)
        reasons: dict[str, str] = {}
        for item, program, result in zip(items[: len(part)], wrong, vacuous, strict=True):
            if program and result.status == "ok":
                reasons[item.id] = "bad: its check passes with a wrong value too"
        for item, result in zip(items[: len(part)], results, strict=True):
            if result.status != "ok" and item.id not in reasons:
                kind = "flaky" if result.value not in (None, "0") else "bad"
                reasons[item.id] = f"{kind}: {result.status}: {' '.join(result.error.split())[:160]}"
        seconds = time.monotonic() - start
        found[language] = {
            "sha256": references.digest(programs),
            "checked": len(part),
            "of": len(programs),
            "repeats": repeats,
            "good": len(part) - len(reasons),
            "seconds": round(seconds, 1),
            "bad": reasons,
        }
        print(
            f"\r{language}: {len(part) - len(reasons)} of {len(part)} good, {len(reasons)} bad or flaky, {seconds:.0f} s"
            + " " * 20
        )
        (out or references.FILE).write_text(json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    return 0
