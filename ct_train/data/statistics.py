"""Step 6, statistics: how complex the programs are, beside the benchmarks' own (paper, appendix C), as table and plot.

Per function: inputs, lines (of the normalised function), blocks (of the chosen segmentation), cyclomatic complexity (radon,
of everything in the function), depth of nested loops (comprehensions count as loops). Per sample: trace length, the lines
executed in the program with every loop unrolled and every call followed, over at most ``calls`` inputs a function.
"""

from __future__ import annotations

import ast
import io
import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from radon.visitors import ComplexityVisitor

from ct_tasks.contra.program import normalise, segment
from ct_tasks.errors import ConfigError, DataError, TraceError
from ct_tasks.execution.jobs import Job, Limits
from ct_tasks.execution.pool import PythonPool
from ct_train.data import programs
from ct_train.data.programs import Reference
from ct_train.data.similarity import grouped
from ct_train.data.steps import Outcome, Row, Step, read_rows, whole

VERSION = 1
MEASURES = {
    "inputs": "inputs a function",
    "lines": "lines",
    "blocks": "blocks",
    "complexity": "cyclomatic complexity",
    "loop_depth": "loop depth",
    "trace": "trace length (lines executed)",
}
_LOOPS = (ast.For, ast.While, ast.comprehension)


def statistics_step(
    folder: Path,
    segmentation: str,
    benchmarks: Sequence[str],
    workers: int | None,
    calls: int = 15,
    compare: Mapping[str, Path] | None = None,
) -> None:
    """``6_statistics.jsonl`` (a row a function), ``statistics.json``, ``statistics.md`` and ``statistics.png``.

    ``compare``: other training sets, name to file. Raises ``DataError`` for a file that is not there or a row that does not
    say its program and call.
    """
    others = {name: _others(name, path) for name, path in (compare or {}).items()}
    halves = {half: folder / f"{half}.jsonl" for half in ("sft", "grpo")}
    references = programs.load(benchmarks)
    key = {"rules": VERSION, "segmentation": segmentation, "benchmarks": list(benchmarks), "calls": calls}
    key |= {"compare": list(others)} if others else {}
    step = Step(folder, "6_statistics", key, [*halves.values(), *(compare or {}).values()], batch=40, note="functions")
    units: list[tuple[str, Reference]] = []
    for half, path in halves.items():
        for rows in grouped(read_rows(path)):
            first = rows[0]
            calls_of = tuple(row["call"] for row in rows)
            units.append((half, Reference(first["id"], first["program"], first["entry"], calls_of)))
    units += [(name, r) for name, group in others.items() for r in group]
    units += [(name, r) for name, group in references.items() for r in group if r.calls]
    with PythonPool(workers) as pool:
        step.run(units, lambda batch: _measure(batch, segmentation, calls, pool))
    rows = read_rows(step.output)

    def make() -> dict[str, str | bytes]:
        summary = summarise(rows)
        text = json.dumps(summary, indent=1) + "\n"
        return {"statistics.json": text, "statistics.md": table(summary), "statistics.png": plot(rows)}

    whole(folder, "6_tables", {"rules": VERSION}, [step.output], make)


def _others(name: str, path: Path) -> list[Reference]:
    """Another training set's functions, each once, with its inputs."""
    if name in ("all", "sft", "grpo", *programs.KNOWN):
        raise ConfigError(f"compare: {name} is the name of a set that is there already; choose another")
    if not path.is_file():
        raise DataError(f"compare: no rows of {name} at {path}")
    found: dict[tuple[str, str | None], list[str]] = {}
    for number, row in enumerate(read_rows(path), 1):
        if not {"program", "call"} <= row.keys():
            raise DataError(f"{path}:{number} needs program and call; it has {sorted(row)[:12]}")
        found.setdefault((row["program"], row.get("entry")), []).append(row["call"])
    return [Reference(f"{name}:{n}", *place, tuple(calls)) for n, (place, calls) in enumerate(found.items())]


def _measure(units: Sequence[tuple[str, Reference]], segmentation: str, calls: int, pool: PythonPool) -> Outcome:
    out = Outcome()
    jobs = [
        Job(
            code="",
            hook="ct_train.data.child:count_group",
            payload={"source": r.program, "prelude": r.prelude, "calls": r.calls[:calls]},
            limits=Limits(20.0, 40.0, 1024),
        )
        for _, r in units
    ]
    for (group, reference), result in zip(units, pool.run(jobs), strict=True):
        lengths = json.loads(result.value)["lines"] if result.status == "ok" and result.value else []
        known = [n for n in lengths if n is not None]
        try:
            facts = measures(reference.program, reference.entry, segmentation)
        except TraceError as error:
            out.drop({"set": group, "id": reference.name}, "not_a_function", str(error))
            continue
        out.kept.append({"set": group, "id": reference.name, "inputs": len(reference.calls), **facts, "trace": known})
    return out


def measures(source: str, entry: str | None, segmentation: str) -> dict[str, int]:
    """The figures of one function. Raises ``TraceError`` where there is none."""
    program = normalise(source, entry)
    function = program.function
    complexity = ComplexityVisitor.from_ast(ast.Module(body=list(function.body), type_ignores=[])).total_complexity
    return {
        "lines": len(program.lines),
        "blocks": len(segment(program, segmentation)),
        "complexity": int(complexity),
        "loop_depth": _loop_depth(function),
    }


def _loop_depth(node: ast.AST) -> int:
    inner = max((_loop_depth(child) for child in ast.iter_child_nodes(node)), default=0)
    own = isinstance(node, _LOOPS[:2]) or bool(getattr(node, "generators", None))
    return inner + own


def summarise(rows: Sequence[Row]) -> dict[str, Any]:
    """Set to measure to mean, median and 90th percentile; ``all`` is both halves together."""
    sets: dict[str, list[Row]] = {"all": [r for r in rows if r["set"] in ("sft", "grpo")]}
    for row in rows:
        sets.setdefault(row["set"], []).append(row)
    summary: dict[str, Any] = {}
    for name, members in sets.items():
        values = {m: [v for r in members for v in (r[m] if m == "trace" else [r[m]])] for m in MEASURES}
        summary[name] = {
            "functions": len(members),
            "samples": sum(r["inputs"] for r in members),
            **{m: _figures(v) for m, v in values.items()},
        }
    return summary


def _figures(values: Sequence[int]) -> dict[str, float]:
    if not values:
        return {"mean": 0.0, "median": 0.0, "p90": 0.0}
    ordered = sorted(values)
    return {
        "mean": round(statistics.fmean(ordered), 2),
        "median": float(statistics.median(ordered)),
        "p90": float(ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))]),
    }


def table(summary: dict[str, Any]) -> str:
    """The summary as a Markdown table: mean (median, 90th percentile)."""
    names = {"all": "LeetCodeReasoning", "sft": "its SFT half", "grpo": "its GRPO half"}
    head = ["set", "functions", "samples", *MEASURES.values()]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name, facts in summary.items():
        cells = [names.get(name, name), str(facts["functions"]), str(facts["samples"])]
        cells += [f"{facts[m]['mean']:.2f} ({facts[m]['median']:g}, {facts[m]['p90']:g})" for m in MEASURES]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", "Mean (median, 90th percentile).", ""])


def plot(rows: Sequence[Row]) -> bytes:
    """A PNG: one panel a measure, one box a set (whiskers: 5th to 95th percentile; the trace length on a logarithmic axis)."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise ConfigError("the plot needs matplotlib: pip install 'codethinker-eval[train]'") from None
    mpl.use("agg")
    from matplotlib import pyplot

    sets = list(dict.fromkeys(r["set"] for r in rows))
    figure, axes = pyplot.subplots(2, 3, figsize=(12, 6.5), layout="constrained")
    for axis, (measure, title) in zip(axes.flat, MEASURES.items(), strict=True):
        data = [
            [v for r in rows if r["set"] == s for v in (r[measure] if measure == "trace" else [r[measure]])]
            for s in sets
        ]
        axis.boxplot(data, whis=(5, 95), showfliers=False, showmeans=True, tick_labels=sets)
        axis.set_title(title)
        axis.tick_params(axis="x", labelrotation=20)
        if measure == "trace":
            axis.set_yscale("log")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    pyplot.close(figure)
    return buffer.getvalue()
