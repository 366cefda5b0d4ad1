"""List the tasks: size, paradigms, where the data comes from and whether it is reachable without the network.

python -m ct_tasks list
python -m ct_tasks list --json
python -m ct_tasks list --defaults     # every default that changes a score, as a Markdown table
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.data import reachable
from ct_tasks.options import TaskOptions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    parser.add_argument(
        "--defaults", action="store_true", help="every default that changes a score, as a Markdown table"
    )


def main(args: argparse.Namespace) -> int:
    if args.defaults:
        print("\n".join(defaults()))
        return 0
    rows = [_row(name) for name in registry.TASKS]
    if args.json:
        print(json.dumps({"tasks": rows, "groups": registry.GROUPS}, indent=2))
        return 0
    width = max(len(r["task"]) for r in rows)
    for row in rows:
        print(f"{row['task']:<{width}}  {row['rows']:>5} rows  {row['domain']:<12}  data: {row['data']}")
    for name, members in registry.GROUPS.items():
        print(f"{name:<{width}}  {len(members):>5} tasks")
    return 0


def defaults() -> list[str]:
    """Lines of a Markdown table: for each task and answer format the shots, stop strings, room, temperature and limit.

    Tasks that agree in everything share a line; the nineteen languages are written as ``<lang>``.
    """
    found: dict[tuple[str, ...], list[str]] = {}
    for name in registry.TASKS:
        benchmark = registry.get(name)
        first = getattr(benchmark, "default_paradigm", benchmark.paradigms[0])
        for paradigm in benchmark.paradigms:
            asked = benchmark.generation(TaskOptions(paradigm=paradigm))
            until = " ".join(f"`{json.dumps(text)}`" for text in asked.until).replace("|", "\\|") or "none"
            cells = (
                paradigm + (" (default)" if paradigm == first else ""),
                str(benchmark.default_shots),
                until,
                str(asked.max_gen_toks),
                f"{asked.temperature:g}",
                benchmark.scoring_limit,
            )
            shown = f"{name.rpartition('_')[0]}_<lang>" if benchmark.domain == "multilingual" else name
            tasks = found.setdefault(cells, [])
            if shown not in tasks:
                tasks.append(shown)
    lines = [
        "| tasks | answer format | shots | stop strings (none with a chat template) | tokens | temperature | limit of scoring |",
        "|---|---|---:|---|---:|---:|---|",
    ]
    return lines + [f"| {' '.join(f'`{t}`' for t in tasks)} | {' | '.join(cells)} |" for cells, tasks in found.items()]


def _row(name: str) -> dict[str, Any]:
    benchmark = registry.get(name)
    return {
        "task": name,
        "rows": benchmark.source.rows,
        "domain": benchmark.domain,
        "paradigms": list(benchmark.paradigms),
        "data": reachable(benchmark.source),
        "hub": benchmark.source.hub,
        "local": benchmark.source.local,
        "licence": benchmark.source.licence,
        "version": benchmark.version,
    }
