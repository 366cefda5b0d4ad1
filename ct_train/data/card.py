"""The data card: counts at each step beside the paper's, every reason for dropping, and what the files are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ct_tasks.errors import DataError
from ct_train.data.steps import read_rows, write_text

PAPER = {
    "functions after the static filter": 1673,
    "pairs of function and input": 25095,
    "samples after the execution filter": 10132,
    "samples after the similarity filter": 9142,
    "functions after the similarity filter": 651,
    "inputs a function": 14.04,
}
_FILES = {
    "sft.jsonl, grpo.jsonl": "the two halves; a row a sample (id: its function; nearest, similarity: to benchmarks)",
    "N_name.jsonl, N_name.dropped.jsonl": "what each step kept, and what it dropped with the reason",
    "statistics.json, .md, .png": "complexity beside the benchmarks' own",
    "timings.jsonl": "wall time and peak memory of each step (the only file that differs between runs)",
}


def counts(folder: Path) -> dict[str, float]:
    """Our figures for the lines of ``PAPER``. Raises ``DataError`` where a step is missing."""
    steps = {name: _done(folder, name) for name in ("1_static", "2_inputs", "3_executed", "4_similar")}
    samples = steps["4_similar"]["kept"]
    functions = steps["4_similar"]["counts"].get("functions kept", 0)
    return {
        "functions after the static filter": steps["1_static"]["kept"],
        "pairs of function and input": steps["2_inputs"]["counts"].get("pairs", 0),
        "samples after the execution filter": steps["3_executed"]["kept"],
        "samples after the similarity filter": samples,
        "functions after the similarity filter": functions,
        "inputs a function": round(samples / functions, 2) if functions else 0.0,
    }


def _done(folder: Path, name: str) -> dict[str, Any]:
    path = folder / f"{name}.done.json"
    if not path.is_file():
        raise DataError(f"{path} is not there; run step {name} first")
    return dict(json.loads(path.read_text()))


def write_card(folder: Path, source: Mapping[str, Any]) -> None:
    """``card.md`` and ``card.json``, from the ``done`` files of all steps. ``source`` says what the rows were."""
    ours = counts(folder)
    steps = [_done(folder, n) for n in ("1_static", "2_inputs", "3_executed", "4_similar")]
    halves = {}
    for half in ("sft", "grpo"):
        rows = read_rows(folder / f"{half}.jsonl")
        halves[half] = {"functions": len({r["id"] for r in rows}), "samples": len(rows)}
        halves[half]["origins"] = dict(sorted(Counter(r["origin"] for r in rows).items()))  # type: ignore[assignment]
    data = {"source": dict(source), "counts": ours, "paper": PAPER, "halves": halves, "steps": steps}
    write_text(folder / "card.json", json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    lines = ["# LeetCodeReasoning", "", f"Made from {source['name']} ({source['rows']} rows, {source['licence']}).", ""]
    lines += ["| | here | paper |", "|---|---|---|"]
    lines += [f"| {name} | {ours[name]:,} | {PAPER[name]:,} |" for name in PAPER]
    lines += ["", "| half | functions | samples | origin of the inputs |", "|---|---|---|---|"]
    for half, facts in halves.items():
        origins: Any = facts["origins"]
        text = ", ".join(f"{k} {v:,}" for k, v in origins.items())
        lines.append(f"| {half} | {facts['functions']:,} | {facts['samples']:,} | {text} |")
    for step in steps:
        lines += ["", f"## {step['step']}", "", f"{step['kept']:,} kept, {step['dropped']:,} dropped.", ""]
        lines += [f"- dropped, {reason}: {count:,}" for reason, count in step["reasons"].items()]
        lines += [f"- {name}: {count:,}" for name, count in step["counts"].items()]
        lines += ["", f"Settings: `{json.dumps(step['settings'], ensure_ascii=False)}`"]
    lines += ["", "## Files", "", *(f"- `{name}`: {text}" for name, text in _FILES.items())]
    statistics = folder / "statistics.md"
    if statistics.is_file():
        lines += ["", "## Statistics", "", statistics.read_text().rstrip("\n")]
    write_text(folder / "card.md", "\n".join([*lines, ""]))
