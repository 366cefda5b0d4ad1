"""ct_micro: held-out programs of the small world (``programs.py``), bundled, to evaluate models trained on its other side.

``micro.jsonl`` is made by ``python -m ct_tasks.benchmarks.micro.build``, which runs every program. The prompt is the
program and the call alone: a model of a million parameters has been trained on nothing but this task, so it needs no
instruction, and reading one would cost it most of its context.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from ct_tasks.benchmarks import data
from ct_tasks.benchmarks.base import Generation, Item, Source
from ct_tasks.benchmarks.output import OutputBenchmark
from ct_tasks.errors import ConfigError
from ct_tasks.options import TaskOptions
from ct_tasks.paradigms.base import Layout

FILE = Path(__file__).with_name("micro.jsonl")
MAX_TOKENS = 256


def prompt(code: str, call: str) -> str:
    """The user turn: numbered lines and the call, as the ``contra`` paradigm shows them."""
    lines = "\n".join(f"[LINENO {i}]    {line}" for i, line in enumerate(code.split("\n")))
    return f"[PYTHON]\n{lines}\n[/PYTHON]\nThe call: {call}"


class Micro(OutputBenchmark):
    """What does the call return? Only ConTra; items of one level are drawn alike, so each program is its own group."""

    name = "ct_micro"
    paradigms: ClassVar[tuple[str, ...]] = ("contra",)  # type: ignore[misc]

    def __init__(self) -> None:
        super().__init__()
        rows = FILE.read_text(encoding="utf-8").count("\n")
        self.source = Source(local="(bundled)", rows=rows, licence="the project's own")
        self._items: list[Item] = []

    def load(self) -> list[Item]:
        if not self._items:
            self._items = [
                Item(row["id"], {k: row[k] for k in ("code", "entry", "call", "output")})
                for row in data.read_file(FILE)
            ]
        return self._items

    def prompt(self, item: Item, options: TaskOptions, *, chat: bool) -> str:
        self.layout(options, chat=chat)
        text = prompt(item.data["code"], item.data["call"])
        return text if chat else text + "\n"

    def layout(self, options: TaskOptions, *, chat: bool) -> Layout:
        """Raises ``ConfigError`` for worked examples, which the small world's prompt has no place for."""
        if options.shots:
            raise ConfigError(f"{self.name} has no worked examples; leave shots at 0, not {options.shots}")
        return super().layout(options, chat=chat)

    def generation(self, options: TaskOptions) -> Generation:
        made = super().generation(options)
        return Generation(made.until, options.max_gen_toks or MAX_TOKENS, made.temperature, made.top_p)
