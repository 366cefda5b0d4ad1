"""The static site: a leaderboard, plots and a trace explorer that open from a file, load data on demand and ask nobody for
anything. Model output is only ever set as text."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from ct_tasks.reports.constructs import KINDS
from ct_tasks.reports.glossary import word
from ct_tasks.reports.paper import HEADING, PAPER
from ct_tasks.reports.read import Run
from ct_tasks.reports.samples import script, write_samples
from ct_tasks.reports.shapes import Filled
from ct_tasks.reports.tables import Summaries
from ct_tasks.score import STATUSES

FILES = (
    "index.html", "style.css", "app.js", "statistics.js", "board.js", "charts.js", "long.js", "compare.js", "atlas.js", "viewer.js", "explorer.js",
)  # fmt: skip


def write_site(
    runs: Sequence[Run],
    table: Sequence[dict[str, Any]],
    summaries: Summaries,
    shaped: Sequence[Filled],
    plots: Sequence[dict[str, str]],
    problems: list[str],
    out: Path,
) -> None:
    """Write ``index.html`` and its data below ``out``. A data folder that an earlier report left there is emptied."""
    data = out / "data"
    data.mkdir(parents=True, exist_ok=True)
    for old in data.glob("*.js"):
        old.unlink()
    static = resources.files("ct_tasks.reports").joinpath("static")
    for name in FILES:
        (out / name).write_text(static.joinpath(name).read_text())
    listed = []
    for number, run in enumerate(runs):
        sets = [
            write_samples(data, f"r{number}-{place}", run, task, result.samples, problems)
            for place, (task, result) in enumerate(run.tasks.items())
            if result.samples is not None
        ]
        listed.append(
            {
                "id": f"r{number}",
                "key": run.key,
                "name": run.name,
                "sets": sets,
            }
        )
    rows = [_row(r) for r in table]
    names = dict.fromkeys(m for r in rows for m in r["metrics"])
    words = {m: [known.share, known.up, known.text] for m in (*names, *STATUSES) if (known := word(m))}
    script(data / "index.js", "index", {
        "runs": listed, "rows": rows, "higher": _higher(table), "words": words, "statuses": STATUSES, "kinds": KINDS, "problems": problems,
        "plots": list(plots), "paper": {"heading": HEADING, "rows": [[p.table, p.model, p.row, p.metric, p.value, p.section] for p in PAPER]},
        "shaped": [{"number": f.shape.number, "title": f.shape.title, "columns": f.columns, "rows": f.rows, "ranks": [f.rank(c) for c in range(len(f.columns))]} for f in shaped],
    })  # fmt: skip
    # Loaded when they are asked for: what dated problems say month by month, and where first errors fall.
    monthly = {
        f"{key} {task}": {m: {k: [_short(x) for x in v] for k, v in row.items()} for m, row in found.monthly.items()}
        for (key, task), found in summaries.items()
        if found.monthly
    }
    script(data / "months.js", "months", monthly)
    atlas = {f"{key} {task}": found.wrong_at for (key, task), found in summaries.items() if found.traces}
    script(data / "atlas.js", "atlas", atlas)


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """A leaderboard row without what the page does not show, numbers to six digits: the index is loaded before anything."""
    kept = {
        k: v for k, v in row.items() if k not in ("stderr", "higher", "date", "family", "model") and v not in (None, {}, "")
    }
    for name in ("value", "low", "high", "spread"):
        if name in kept:
            kept[name] = _short(kept[name])
    for name in ("metrics", "shares"):
        kept[name] = {k: _short(v) for k, v in row[name].items()}
    if row["clustered"]:
        kept["clustered"] = [_short(v) for v in row["clustered"]]
    return kept


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def _higher(table: Sequence[dict[str, Any]]) -> dict[str, bool]:
    """Which metrics have a better direction, as the tasks declare it; thinking depth has none."""
    found: dict[str, bool] = {}
    for row in table:
        found.update(row["higher"])
    return {k: v for k, v in found.items() if isinstance(v, bool) and k != "tokens_out"}
