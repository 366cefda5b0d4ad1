"""The numbers that the paper's text gives (arXiv 2605.17958): a reference, never a result of ours.

Its tables lost their cells on the way to us, so these are those of the prose, each with the section that states it. ``metric``
``average`` is the mean over CRUXEval-O, LCB-O and REval-FO in percent; ``gain`` is in percentage points over the base model
or the row named. QC-7B is Qwen2.5-Coder-7B-Instruct.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

HEADING = "Numbers of the paper (CodeThinker, arXiv 2605.17958): reference only, not measured here"


@dataclass(frozen=True, slots=True)
class PaperNumber:
    """``table``: where the paper tabulates it (``Figure 3`` for a figure)."""

    table: str
    model: str
    row: str
    metric: str
    value: float
    section: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def _numbers(table: str, model: str, metric: str, section: str, *rows: tuple[str, float]) -> list[PaperNumber]:
    return [PaperNumber(table, model, row, metric, value, section) for row, value in rows]


PAPER: Sequence[PaperNumber] = (
    *_numbers("Table 1", "QC-7B", "average", "4.2", ("CodeThinker", 82.57), ("CodeReasoner", 79.20), ("ExecVerify", 77.41)),
    *_numbers("Table 1", "QC-7B", "lead over CodeReasoner", "4.2", ("CRUXEval-O", 3.43), ("LCB-O", 1.71), ("REval-FO", 4.95)),
    *_numbers("Table 2", "QC-7B", "average", "4.3", ("CodeThinker", 82.57), ("w/o DBS", 81.48), ("w/o DBS, RCC", 81.26), ("w/o DBS, ORM", 81.07), ("w/o DBS, CCW", 80.75), ("w/o DBS, PRM", 80.56), ("w/o RL", 72.68)),
    *_numbers("Table 3", "QC-14B", "gain", "4.4", ("CodeThinker", 8.55)),
    *_numbers("Table 3", "QC-32B", "average", "4.4", ("base", 83.51), ("CodeThinker", 92.05), ("CWM", 75.02)),
    *_numbers("Table 3", "QC-32B", "gain", "4.4", ("CodeThinker", 8.54)),
    *_numbers("Table 3", "DS-6.7B", "gain", "4.4", ("CodeThinker", 9.76)),
    *_numbers("Table 3", "Llama3-8B", "gain", "4.4", ("CodeThinker", 22.02)),
    *_numbers("Table 4", "QC-7B", "gain", "4.5", ("mathematics, average", 5.33), ("Ruby and five other languages", 6.70), ("17 programming languages", 3.11)),
    *_numbers("Table 12", "QC-7B", "gain", "I.1", ("17 programming languages", 3.11)),
    *_numbers("Figure 3", "QC-7B", "output tokens", "5.1", ("base", 693), ("SFT", 815), ("CodeThinker", 1118)),
    *_numbers("Figure 3", "QC-7B", "RCS", "5.2", ("base", 14.62), ("CodeThinker", 55.08)),
)  # fmt: skip


def markdown() -> str:
    """The reference table."""
    lines = [f"**{HEADING}.**", "", "| where | model | row | metric | value | section |", "|---|---|---|---|---:|---|"]
    lines += [f"| {p.table} | {p.model} | {p.row} | {p.metric} | {p.value:g} | {p.section} |" for p in PAPER]
    return "\n".join(lines) + "\n"
