"""Tables shaped like the paper's 1-6, 8, 9 and 12, filled with the runs at hand.

A run's ``stage`` (``--metadata '{"stage": ...}'``) says which row it is: ``base``, ``sft`` and ``grpo`` for the stages of
training, ``half=code`` and ``half=tests`` for Table 5, ``alpha=0.5`` for Table 6, ``group=16`` for Table 8, ``ratio=4:4`` for Figure 5; any other stage is a row of the
ablation (Table 2). A table without a run is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ct_tasks.benchmarks import registry
from ct_tasks.reports.latex import escape
from ct_tasks.reports.tables import cell

Row = dict[str, Any]
MAIN = {"CRUXEval-O": ("ct_cruxeval_o",), "LCB-O": ("ct_lcb_o",), "REval-FO": ("ct_reval_fo",)}
OTHER = {
    "CRUXEval-X": ("cruxeval_x",), "CRUXEval-I": ("ct_cruxeval_i",),
    **{f"REval-{t.removeprefix('ct_reval_').upper()}": (t,) for t in registry.GROUPS["codethinker_reval"] if t != "ct_reval_fo"},
    "GSM8K": ("ct_gsm8k",), "GSM-Hard": ("ct_gsm_hard",), "MATH": ("ct_math",), "MATH500": ("ct_math500",), "AIME24": ("ct_aime24",),
    "HumanEval": ("ct_humaneval",), "HumanEval+": ("ct_humaneval_plus",), "MBPP": ("ct_mbpp",), "MBPP+": ("ct_mbpp_plus",), "LCB-CG": ("ct_lcb_cg",),
}  # fmt: skip
LANGUAGES = {t.removeprefix("ct_cruxeval_x_"): (t,) for t in registry.GROUPS["codethinker_cruxeval_x"]}
STAGES = ("base", "sft", "grpo")
_NAMED = re.compile(r"(half|alpha|group|ratio)=(.+)")


@dataclass(frozen=True)
class Shape:
    """``chosen`` says which runs are rows; ``delta``: gains over the model's base run stand beside the values; ``needs``: a
    run whose stage begins so, without which the others make no table."""

    number: str
    title: str
    columns: Mapping[str, Sequence[str]]
    chosen: Callable[[str], bool]
    delta: bool = False
    average: bool = True
    needs: str = ""


@dataclass
class Filled:
    """A shape with its rows: name, a value (percent) a column, and gains over the base run where they are shown."""

    shape: Shape
    columns: list[str]
    rows: list[tuple[str, list[float | None], list[float | None]]] = field(default_factory=list)

    def rank(self, column: int) -> dict[int, int]:
        """Row number to 1 (best) or 2 (second best); ties share, and one value alone is not ranked."""
        values = [row[1][column] for row in self.rows]
        best = sorted({v for v in values if v is not None}, reverse=True)
        return {i: best.index(v) + 1 for i, v in enumerate(values) if v is not None and len(best) > 1 and v in best[:2]}


def _named(kind: str) -> Callable[[str], bool]:
    return lambda stage: stage.startswith(f"{kind}=")


def _ablation(stage: str) -> bool:
    return stage == "grpo" or (stage not in STAGES and bool(stage) and not _NAMED.fullmatch(stage))


SHAPES = (
    Shape("1", "Comparison on output prediction", MAIN, lambda stage: not _NAMED.fullmatch(stage)),
    Shape("2", "Ablation", MAIN, _ablation),
    Shape("3", "Before and after training", MAIN, lambda stage: stage in STAGES, delta=True),
    Shape("4", "Other domains", OTHER, lambda stage: stage in ("", "base", "grpo"), delta=True, average=False),
    Shape("5", "Half of the code or of the unit tests", MAIN, lambda stage: stage == "grpo" or stage.startswith("half="), needs="half="),
    Shape("6", "Weight of the process reward (alpha)", MAIN, _named("alpha")),
    Shape("8", "Group size", MAIN, _named("group")),
    Shape("9", "Comparison on each model", MAIN, lambda stage: stage in ("", *STAGES)),
    Shape("12", "CRUXEval-X by language", LANGUAGES, lambda stage: stage in ("", "base", "grpo"), delta=True),
)


def fill(shape: Shape, table: Sequence[Row]) -> Filled | None:
    """The shape with the rows it applies to; None without one, or without a stage to tell rows apart by (2, 3, 5, 6 and 8)."""
    cells = {(r["run"], _task(r["task"])): r["value"] for r in table}
    runs = {r["run"]: r for r in table if shape.chosen(r["stage"])}
    if shape.needs and not any(r["stage"].startswith(shape.needs) for r in runs.values()):
        return None
    columns = {c: ts for c, ts in shape.columns.items() if any(all((run, t) in cells for t in ts) for run in runs)}
    if not columns:
        return None
    out = Filled(shape, [*columns, *(["Average"] if shape.average and len(columns) > 1 else [])])
    base: dict[tuple[str, str], list[float | None]] = {}
    values: dict[str, list[float | None]] = {}
    for run, row in sorted(runs.items(), key=lambda item: _order(item[1], shape)):
        found = [_mean([cells.get((run, t)) for t in tasks]) for tasks in columns.values()]
        if all(v is None for v in found):
            continue
        if len(out.columns) > len(columns):
            found.append(None if None in found else sum(v for v in found if v is not None) / len(found))
        values[run] = found
        if row["stage"] == "base":
            base[row["family"], row["paradigm"]] = found
    for run, found in values.items():
        reference = base.get((runs[run]["family"], runs[run]["paradigm"])) if shape.delta else None
        same = reference is None or reference is found
        gains = [
            None if same or v is None or b is None else v - b for v, b in zip(found, reference or found, strict=True)
        ]
        out.rows.append((run, found, gains))
    return out if out.rows else None


def _task(name: str) -> str:
    """The average over CRUXEval-X's languages counts as that benchmark where it has as many languages as the paper's."""
    match = re.fullmatch(r"cruxeval_x \((\d+) languages\)", name)
    return "cruxeval_x" if match and int(match[1]) >= 17 else name


def _order(row: Row, shape: Shape) -> tuple[Any, ...]:
    stage = row["stage"]
    match = _NAMED.fullmatch(stage)
    number = float(match[2]) if match and re.fullmatch(r"[0-9.]+", match[2]) else 0.0
    place = STAGES.index(stage) if stage in STAGES and shape.number != "2" else (0 if stage == "grpo" else 9)
    return (row["family"] if shape.number in ("3", "4", "9", "12") else "", number, place, row["run"])


def _mean(values: Sequence[float | None]) -> float | None:
    """In percent; None unless every task of the column was run."""
    known = [v for v in values if v is not None]
    return 100 * sum(known) / len(known) if known and len(known) == len(values) else None


def filled(table: Sequence[Row]) -> list[Filled]:
    """All shapes that the runs fill."""
    return [f for f in (fill(shape, table) for shape in SHAPES) if f]


def markdown(tables: Sequence[Filled]) -> str:
    """One section a table: best bold, second best underlined, gains in brackets."""
    lines = []
    for table in tables:
        lines += [f"## As Table {table.shape.number}: {table.shape.title}", ""]
        lines += ["| run | " + " | ".join(table.columns) + " |", "|---|" + "---:|" * len(table.columns)]
        lines += [
            f"| {cell(name)} | " + " | ".join(cells) + " |" for name, cells in _cells(table, "**{}**", "<u>{}</u>", "–")
        ]
        lines.append("")
    return "\n".join(lines)


def latex(tables: Sequence[Filled]) -> str:
    """The same as booktabs tables."""
    parts = []
    for table in tables:
        body = [
            " & ".join([escape(name), *cells]) + r" \\"
            for name, cells in _cells(table, r"\textbf{{{}}}", r"\underline{{{}}}", "--")
        ]
        parts += [
            f"% As Table {table.shape.number}: {table.shape.title}. Needs \\usepackage{{booktabs}}", r"\begin{tabular}{l" + "r" * len(table.columns) + "}", r"\toprule",
            " & ".join(["Model", *map(escape, table.columns)]) + r" \\", r"\midrule", *body, r"\bottomrule", r"\end{tabular}", "",
        ]  # fmt: skip
    return "\n".join(parts)


def _cells(table: Filled, best: str, second: str, none: str) -> list[tuple[str, list[str]]]:
    marks = [table.rank(c) for c in range(len(table.columns))]
    out = []
    for number, (name, values, gains) in enumerate(table.rows):
        shown = []
        for column, (value, gain) in enumerate(zip(values, gains, strict=True)):
            text = (
                none
                if value is None
                else {1: best, 2: second}.get(marks[column].get(number, 0), "{}").format(f"{value:.2f}")
            )
            shown.append(text + (f" ({gain:+.2f})" if gain is not None else ""))
        out.append((name, shown))
    return out
