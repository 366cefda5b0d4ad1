"""List the tasks: size, paradigms, where the data comes from and whether it is reachable without the network.

python -m ct_tasks list
python -m ct_tasks list --json
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.data import reachable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="machine-readable output")


def main(args: argparse.Namespace) -> int:
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
