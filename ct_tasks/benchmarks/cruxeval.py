"""CRUXEval (Gu et al. 2024): 800 short functions named ``f``, each with one call; output and input prediction."""

from __future__ import annotations

from typing import ClassVar

from ct_tasks.benchmarks import data, official
from ct_tasks.benchmarks.base import Item, Source
from ct_tasks.benchmarks.input import InputBenchmark
from ct_tasks.benchmarks.output import OutputBenchmark

SOURCE = Source(
    local="cruxeval/test.jsonl",
    rows=800,
    hub="cruxeval-org/cruxeval",
    split="test",
    licence="MIT",
    sha256="055901f5e2c0742a71f347e09b25987253a70de777fa5ef9892873d7777950e6",
)
_rows = data.memo(lambda: data.load_rows(SOURCE, columns=("code", "input", "output", "id"), name="CRUXEval"))


def load() -> list[Item]:
    """The 800 items in official order."""
    return [
        Item(row["id"], {"code": row["code"], "entry": "f", "call": f"f({row['input']})", "output": row["output"]})
        for row in _rows()
    ]


def item_id(row_id: str) -> str:
    """``sample_7`` for ``sample_7`` and for ``7``."""
    return row_id if row_id.startswith("sample_") else f"sample_{row_id}"


class CruxEvalO(OutputBenchmark):
    """What does the call return?"""

    name = "ct_cruxeval_o"
    source = SOURCE
    rules: ClassVar[official.Rules | None] = official.Rules(side="output", all_false_when="none_right")

    def load(self) -> list[Item]:
        return load()

    def item_id(self, row_id: str) -> str:
        return item_id(row_id)


class CruxEvalI(InputBenchmark):
    """With which arguments does the call return this value?"""

    name = "ct_cruxeval_i"
    source = SOURCE
    rules: ClassVar[official.Rules | None] = official.Rules(side="input", all_false_when="none_right")

    def load(self) -> list[Item]:
        return load()

    def item_id(self, row_id: str) -> str:
        return item_id(row_id)
