"""ct_micro: held-out programs of the small world (``programs.py``), bundled, to evaluate models trained on its other side.

``micro.jsonl`` is made by ``python -m ct_tasks.benchmarks.micro.build``, which runs every program. The prompt is the
program and the call alone: a model of a million parameters has been trained on nothing but this task, so it needs no
instruction, and reading one would cost it most of its context.
"""

from __future__ import annotations

from pathlib import Path

from ct_tasks.benchmarks import data
from ct_tasks.benchmarks.base import Generation, Item, Source
from ct_tasks.benchmarks.output import OutputBenchmark
from ct_tasks.options import TaskOptions

FILE = Path(__file__).with_name("micro.jsonl")
MAX_TOKENS = 256


def prompt(code: str, call: str) -> str:
    """The user turn: numbered lines and the call, as the ``contra`` paradigm shows them."""
    lines = "\n".join(f"[LINENO {i}]    {line}" for i, line in enumerate(code.split("\n")))
    return f"[PYTHON]\n{lines}\n[/PYTHON]\nThe call: {call}"


class Micro(OutputBenchmark):
    """What does the call return? Items of one level are drawn alike, so each program is its own group."""

    name = "ct_micro"

    def __init__(self) -> None:
        super().__init__()
        rows = FILE.read_text(encoding="utf-8").count("\n")
        self.source = Source(local=data.BUNDLED, rows=rows, licence="the project's own")
        self._items: list[Item] = []

    def load(self) -> list[Item]:
        if not self._items:
            self._items = [
                Item(row["id"], {k: row[k] for k in ("code", "entry", "call", "output")})
                for row in data.read_file(FILE)
            ]
        return self._items

    def bare(self, options: TaskOptions) -> bool:
        """Whether the small world's own prompt is used: zero-shot ConTra. Any other way of asking is that of all tasks."""
        return self.paradigm(options).name == "contra" and not options.shots

    def prompt(self, item: Item, options: TaskOptions, *, chat: bool) -> str:
        if not self.bare(options):
            return super().prompt(item, options, chat=chat)
        text = prompt(item.data["code"], item.data["call"])
        return text if chat else text + "\n"

    def generation(self, options: TaskOptions) -> Generation:
        made = super().generation(options)
        if not self.bare(options):
            return made
        return Generation(made.until, options.max_gen_toks or MAX_TOKENS, made.temperature, made.top_p)
