"""ct_mini: small programs of our own, bundled with the package, so that everything can be tried without any download.

``programs/*.txt`` hold the sources and calls; ``mini.jsonl`` is made from them by ``python -m ct_tasks.benchmarks.mini.build``,
which runs every call. No output was typed by hand, and a test runs them all again.
"""

from __future__ import annotations

from pathlib import Path

from ct_tasks.benchmarks import data
from ct_tasks.benchmarks.base import Item, Source
from ct_tasks.benchmarks.output import OutputBenchmark

FILE = Path(__file__).with_name("mini.jsonl")


class Mini(OutputBenchmark):
    """What does the call return? Items of one program share its name as their group."""

    name = "ct_mini"

    def __init__(self) -> None:
        super().__init__()
        rows = FILE.read_text(encoding="utf-8").count("\n")
        self.source = Source(local=data.BUNDLED, rows=rows, licence="the project's own")
        self._items: list[Item] = []

    def load(self) -> list[Item]:
        if not self._items:
            self._items = [
                Item(row["id"], {k: row[k] for k in ("code", "entry", "call", "output")}, group=row["group"])
                for row in data.read_file(FILE)
            ]
        return self._items

    def topics(self) -> dict[str, str]:
        """Item id → topic (the file that holds the program)."""
        return {row["id"]: row["topic"] for row in data.read_file(FILE)}

