"""The static site: a leaderboard and a trace explorer that open from a file, load data on demand and ask nobody for anything.

Browsers refuse to fetch files beside a page opened from disk, but do load scripts; so data lies in small ``.js`` files that
call ``CT.data(name, value)``. Model output is only ever set as text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.base import Item
from ct_tasks.contra.trace import Truth
from ct_tasks.reports import tables
from ct_tasks.reports.read import Run, Sample, read_samples

PAGE = 250  # samples a data file
TEXT = 40_000  # characters of one prompt or reply that the explorer keeps


def write_site(runs: Sequence[Run], table: Sequence[dict[str, Any]], problems: list[str], out: Path) -> None:
    """Write ``index.html`` and its data below ``out``."""
    (out / "data").mkdir(parents=True, exist_ok=True)
    static = resources.files("ct_tasks.reports").joinpath("static")
    for name in ("index.html", "app.js", "style.css"):
        (out / name).write_text(static.joinpath(name).read_text())
    listed = []
    for number, run in enumerate(runs):
        sets = []
        for task, result in run.tasks.items():
            if result.samples is not None:
                sets.append(_write_samples(out, f"r{number}", task, result.samples, problems))
        listed.append(
            {
                "id": f"r{number}",
                "name": run.name,
                "date": run.date,
                "seconds": run.seconds,
                "options": run.options,
                "sets": sets,
            }
        )
    _script(out / "data" / "index.js", "index", {
        "runs": listed, "rows": list(table), "paper": tables.PAPER, "problems": problems,
    })  # fmt: skip


def _write_samples(out: Path, run: str, task: str, path: Path, problems: list[str]) -> dict[str, Any]:
    index: list[list[Any]] = []
    page: list[dict[str, Any]] = []
    pages = 0
    truths = _Truths(task)
    for sample in read_samples(path, problems):
        verdict = sample.verdicts[0] if sample.verdicts else {}
        row = _row(sample, truths)
        index.append(
            [sample.id, verdict.get("status", ""), verdict.get("rcs"), _first_wrong(verdict), bool(verdict.get("hack"))]
        )
        page.append(row)
        if len(page) == PAGE:
            _script(out / "data" / f"{run}-{task}-{pages}.js", f"{run}-{task}-{pages}", page)
            page, pages = [], pages + 1
    if page:
        _script(out / "data" / f"{run}-{task}-{pages}.js", f"{run}-{task}-{pages}", page)
    _script(out / "data" / f"{run}-{task}-index.js", f"{run}-{task}-index", index)
    return {"task": task, "n": len(index), "page": PAGE}


def _row(sample: Sample, truths: _Truths) -> dict[str, Any]:
    return {
        "id": sample.id, "group": sample.group, "prompt": sample.prompt[:TEXT], "target": sample.target[:TEXT],
        "replies": [r[:TEXT] for r in sample.replies], "verdicts": sample.verdicts, "program": truths.lines(sample.id),
    }  # fmt: skip


def _first_wrong(verdict: dict[str, Any]) -> int | None:
    trace = (verdict.get("detail") or {}).get("trace")
    return trace.get("first_wrong") if isinstance(trace, dict) else None


class _Truths:
    """The numbered program of an item, for tasks of ours whose items hold one; None otherwise."""

    def __init__(self, task: str) -> None:
        self.items: dict[str, Item] = {}
        if task in registry.TASKS and registry.get(task).domain == "output":
            from ct_tasks.errors import DataError
            from ct_tasks.options import TaskOptions

            try:
                self.items = {i.id: i for i in registry.get(task).items(TaskOptions())}
            except DataError:
                self.items = {}  # the samples still show; only the numbered program is missing

    def lines(self, identity: str) -> list[str] | None:
        item = self.items.get(identity)
        if item is None or "code" not in item.data:
            return None
        from ct_tasks.contra.program import normalise
        from ct_tasks.errors import TraceError

        try:
            return list(normalise(str(item.data["code"]), item.data.get("entry")).lines)
        except TraceError:
            return None


def _script(path: Path, name: str, value: Any) -> None:
    # "<" never stands in the file, so no text of a model can end the script element that loads it.
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=_plain).replace("<", "\\u003c")
    path.write_text(f"CT.data({json.dumps(name)},{text});\n")


def _plain(value: Any) -> Any:
    return value.to_json() if isinstance(value, Truth) else str(value)
