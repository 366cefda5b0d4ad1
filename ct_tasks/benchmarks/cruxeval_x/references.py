"""Which reference programs of CRUXEval-X are sound: a model is never scored on one that fails by itself.

``references.json`` is written by ``python -m ct_tasks containers check``: for each language the data's hash, how many
references passed every run, and those that did not, with the reason. It counts only for data of that hash.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ct_tasks.execution.languages.runner import run_programs

IMPOSSIBLE = '"certainly not this"'
FILE = Path(__file__).with_name("references.json")


@cache
def known() -> dict[str, Any]:
    """The committed list."""
    return dict(json.loads(FILE.read_text())) if FILE.is_file() else {}


def digest(programs: Sequence[str]) -> str:
    """Hash of a language's reference programs, in order."""
    return hashlib.sha256("\0".join(programs).encode("utf-8", "surrogatepass")).hexdigest()


def bad(language: str, programs: Sequence[str]) -> dict[str, str]:
    """Item id to reason, for the references of these programs that do not pass; empty for data of another hash."""
    entry = known().get(language, {})
    return dict(entry.get("bad", {})) if entry.get("sha256") == digest(programs) else {}


def table(languages: Sequence[str]) -> list[str]:
    """Lines of a Markdown table: for each language how many references are good, bad and flaky."""
    lines = ["| language | references | good | bad | flaky | runs of each | data (SHA-256) |", "|---|---:|---:|---:|---:|---:|---|"]
    for name in languages:
        entry = known().get(name)
        if entry is None:
            lines.append(f"| {name} | not checked | – | – | – | – | – |")
            continue
        kinds = [reason.partition(":")[0] for reason in entry["bad"].values()]
        lines.append(f"| {name} | {entry['of']} | {entry['good']} | {kinds.count('bad')} | {kinds.count('flaky')} | {entry['repeats']} | {entry['sha256'][:12]} |")
    return lines


def check(languages: Sequence[str], *, repeats: int, limit: int | None, out: Path | None) -> int:
    """Run every reference ``repeats`` times and write the list. Returns the exit code."""
    from ct_tasks.benchmarks.cruxeval_x.task import CruxEvalX
    from ct_tasks.options import TaskOptions

    found = dict(known())
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
            "sha256": digest(programs),
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
        (out or FILE).write_text(json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    return 0
