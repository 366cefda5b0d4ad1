"""Plots of the results as SVG and PNG: the paper's Figures 3, 4 and 5, and what its text asks but does not draw.

Each function returns a figure or None where the runs do not hold what it shows. The files are the same for the same runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ct_tasks.reports.rollouts import Training
from ct_tasks.reports.shapes import LANGUAGES, MAIN, STAGES
from ct_tasks.reports.statistics import wilson
from ct_tasks.reports.summary import BINS, Counts
from ct_tasks.reports.tables import Summaries

Row = dict[str, Any]
MOST = 8  # runs in one plot: more lines cannot be told apart
COLOURS = ("#0550ae", "#bc4c00", "#116329", "#8250df", "#a40e26", "#1b7c83", "#57606a", "#953800")
MARKS = "osD^vPX*"


def write(table: Sequence[Row], summaries: Summaries, trainings: Sequence[Training], out: Path) -> list[dict[str, str]]:
    """Draw what the runs allow into ``out/plots``; returns name, title and a description of each for the page."""
    made = []
    for name, title, draw in _all(table, summaries, trainings):
        figure = draw()
        if figure is None:
            continue
        (out / "plots").mkdir(parents=True, exist_ok=True)
        figure.savefig(out / "plots" / f"{name}.svg", metadata={"Date": None, "Creator": None})
        figure.savefig(out / "plots" / f"{name}.png", dpi=120, metadata={"Software": None})
        made.append({"name": name, "title": title, "text": figure.get_label()})
    return made


def _all(
    table: Sequence[Row], summaries: Summaries, trainings: Sequence[Training]
) -> list[tuple[str, str, Callable[[], Any]]]:
    by = {(r["key"], r["task"]): r for r in table}
    return [
        ("stages", "Reasoning consistency and thinking depth over the stages of training (as Figure 3)", lambda: stages(table)),
        ("rollouts", "Mean and standard deviation of the reward in each step of training (as Figure 4)", lambda: rewards(trainings)),
        ("ratio", "Accuracy by the ratio of regular to dynamic beam sampling (as Figure 5)", lambda: ratio(table)),
        ("complexity", "Accuracy by cyclomatic complexity of the program", lambda: counts(by, summaries, "complexity", "cyclomatic complexity")),
        ("blocks", "Accuracy by number of blocks of the program", lambda: counts(by, summaries, "blocks", "blocks")),
        ("months", "Accuracy by month of the contest: a fall after a model's cutoff speaks for contamination before it", lambda: counts(by, summaries, "months", "month")),
        ("first-error", "Where in the trace the first error falls", lambda: first_error(by, summaries)),
        ("languages", "Accuracy by language", lambda: languages(table)),
    ]  # fmt: skip


def _figure(width: float, height: float, panels: int = 1) -> tuple[Any, list[Any]]:
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams.update({"svg.hashsalt": "codethinker", "svg.fonttype": "none", "font.size": 9})
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = [figure.add_subplot(1, panels, i + 1) for i in range(panels)]
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(axis="y", color="#e6e9ec")
        axis.set_axisbelow(True)
    return figure, axes


def _name(text: str) -> str:
    """A label: names may hold what matplotlib takes for mathematics, and may be long."""
    text = "".join(c if c.isprintable() else " " for c in text).replace("$", r"\$")
    return text if len(text) <= 60 else text[:29] + "…" + text[-30:]


def _last(family: str) -> str:
    """A family's name: of a path the last part that names something."""
    return family if family.count("/") < 2 else next((p for p in reversed(family.split("/")) if p not in ("", "*")), family)


def _finish(figure: Any, axes: Sequence[Any], text: str) -> Any:
    handles, labels = axes[0].get_legend_handles_labels()
    if labels:
        figure.legend(
            handles, labels, loc="outside lower center", ncols=1 if max(map(len, labels)) > 30 else 2, frameon=False
        )
    figure.set_label(text)
    return figure


def stages(table: Sequence[Row]) -> Any | None:
    """RCS and output tokens by stage, the mean over the main tasks that every stage of the model has."""
    wanted = {t for ts in MAIN.values() for t in ts}
    found: dict[tuple[str, str], dict[str, dict[str, Mapping[str, float]]]] = {}
    for r in table:
        if r["stage"] in STAGES:
            found.setdefault((r["family"], r["paradigm"]), {}).setdefault(r["stage"], {})[r["task"]] = r["metrics"]
    lines = []
    for (family, paradigm), by_stage in found.items():
        shared = set.intersection(*(set(ts) for ts in by_stage.values()))
        tasks = sorted(shared & wanted or shared)
        if len(by_stage) > 1 and tasks:
            lines.append((f"{_last(family)} · {paradigm}", by_stage, tasks))
    if not lines:
        return None
    figure, axes = _figure(8, 3.6, 2)
    told = []
    for number, (name, by_stage, tasks) in enumerate(lines[:MOST]):
        order = [s for s in STAGES if s in by_stage]
        for axis, metric, scale in ((axes[0], "rcs", 100), (axes[1], "tokens_out", 1)):
            points = [(s, [by_stage[s][t][metric] for t in tasks if metric in by_stage[s][t]]) for s in order]
            shown = [(s, scale * sum(v) / len(v)) for s, v in points if v]
            axis.plot(
                [STAGES.index(s) for s, _ in shown],
                [v for _, v in shown],
                color=COLOURS[number],
                marker=MARKS[number],
                label=_name(name),
            )
            told.append(f"{name}, {metric}: " + ", ".join(f"{s} {v:.1f}" for s, v in shown))
    for axis, label in zip(axes, ("RCS, %", "tokens of a reply"), strict=True):
        axis.set_xticks(range(len(STAGES)), STAGES)
        axis.set_ylabel(label)
        axis.set_ylim(bottom=0)
    return _finish(figure, axes, "; ".join(told))


def rewards(trainings: Sequence[Training]) -> Any | None:
    """Mean and standard deviation of the reward a step, a line a training run."""
    shown = [t for t in trainings if t.steps]
    if not shown:
        return None
    figure, axes = _figure(8, 3.6, 2)
    told = []
    for number, run in enumerate(shown[:MOST]):
        steps = [s.step for s in run.steps]
        axes[0].plot(steps, [s.mean for s in run.steps], color=COLOURS[number], label=_name(run.name))
        axes[1].plot(steps, [s.std for s in run.steps], color=COLOURS[number])
        told.append(
            f"{run.name}: reward {run.steps[0].mean:.3f} in step {steps[0]}, {run.steps[-1].mean:.3f} in step {steps[-1]}"
        )
    for axis, label in zip(axes, ("mean reward", "standard deviation"), strict=True):
        axis.set_xlabel("step")
        axis.xaxis.get_major_locator().set_params(integer=True)
        axis.set_ylabel(label)
    return _finish(figure, axes, "; ".join(told))


def ratio(table: Sequence[Row]) -> Any | None:
    """Accuracy by regular : DBS, from runs whose stage is ``ratio=R:D``."""
    points: dict[str, dict[str, list[float]]] = {}
    for r in table:
        match = re.fullmatch(r"ratio=(\d+):(\d+)", r["stage"])
        if match and r["value"] is not None:
            points.setdefault(r["model"], {}).setdefault(f"{match[1]}:{match[2]}", []).append(r["value"])
    order = sorted({p for v in points.values() for p in v}, key=lambda p: [-int(x) for x in p.split(":")])
    if len(order) < 2:
        return None
    figure, axes = _figure(6, 3.6)
    for number, (model, values) in enumerate(list(points.items())[:MOST]):
        shown = [(order.index(p), 100 * sum(values[p]) / len(values[p])) for p in order if p in values]
        axes[0].plot(*zip(*shown, strict=True), color=COLOURS[number], marker=MARKS[number], label=_name(model))
    axes[0].set_xticks(range(len(order)), order)
    axes[0].set_xlabel("regular : dynamic beam sampling")
    axes[0].set_ylabel("accuracy, %")
    return _finish(figure, axes, f"ratios {', '.join(order)}")


def counts(by: Mapping[tuple[str, str], Row], summaries: Summaries, what: str, label: str) -> Any | None:
    """Accuracy with Wilson's interval by a property of the item, all tasks of a run together, thin ends joined."""
    merged: dict[str, Counts] = {}
    for place, summary in summaries.items():
        for key, (right, n) in getattr(summary, what).items():
            before = merged.setdefault(by[place]["run"], {}).get(key, (0.0, 0)) if place in by else (0.0, 0)
            if place in by:
                merged[by[place]["run"]][key] = before[0] + right, before[1] + n
    merged = {run: found for run, found in merged.items() if len(found) > 1}
    if not merged:
        return None
    bins = _bins(merged)
    figure, axes = _figure(7, 3.8)
    for number, (run, found) in enumerate(list(merged.items())[:MOST]):
        points = []
        for position, (_, keys) in enumerate(bins):
            right, n = sum(found[k][0] for k in keys if k in found), sum(found[k][1] for k in keys if k in found)
            if n:
                low, high = wilson(right, n) or (0.0, 1.0)
                points.append(
                    (position + 0.06 * number, 100 * right / n, 100 * (right / n - low), 100 * (high - right / n))
                )
        x, y, below, above = zip(*points, strict=True)
        axes[0].errorbar(
            x,
            y,
            (tuple(max(0.0, b) for b in below), tuple(max(0.0, a) for a in above)),
            color=COLOURS[number],
            marker=MARKS[number],
            capsize=2,
            label=_name(run),
        )
    sizes = [max(sum(found[k][1] for k in keys if k in found) for found in merged.values()) for _, keys in bins]
    axes[0].set_xticks(range(len(bins)), [f"{name}\nn={n}" for (name, _), n in zip(bins, sizes, strict=True)])
    axes[0].set_xlabel(label)
    axes[0].set_ylabel("accuracy, %")
    axes[0].set_ylim(0, 100)
    return _finish(
        figure, axes, f"{len(merged)} runs, {label} {bins[0][0]} to {bins[-1][0]}; bars: Wilson's 95 % intervals"
    )


def _bins(merged: Mapping[str, Counts], most: int = 9) -> list[tuple[str, list[Any]]]:
    """At most ``most`` bins of neighbouring keys with about the same number of samples."""
    sizes: dict[Any, int] = {}
    for found in merged.values():
        for key, (_, n) in found.items():
            sizes[key] = max(sizes.get(key, 0), n)
    share = sum(sizes.values()) / most
    bins: list[list[Any]] = []
    held = 0.0
    for key in sorted(sizes):
        if bins and (held + sizes[key] <= share * 1.2 or held < share / 2):
            bins[-1].append(key)
            held += sizes[key]
        else:
            bins.append([key])
            held = sizes[key]
    return [(str(b[0]) if len(b) == 1 else f"{b[0]}–{b[-1]}", b) for b in bins]


def first_error(by: Mapping[tuple[str, str], Row], summaries: Summaries) -> Any | None:
    """Share of traces whose first wrong block lies in each tenth of the trace."""
    merged: dict[str, tuple[list[int], int]] = {}
    for place, summary in summaries.items():
        if summary.traces and place in by:
            bins, n = merged.get(by[place]["run"], ([0] * BINS, 0))
            merged[by[place]["run"]] = (
                [a + b for a, b in zip(bins, summary.first_wrong, strict=True)],
                n + summary.traces,
            )
    if not merged:
        return None
    figure, axes = _figure(7, 3.8)
    told = []
    for number, (run, (bins, n)) in enumerate(list(merged.items())[:MOST]):
        shares = [100 * b / n for b in bins]
        axes[0].step(range(BINS), shares, where="mid", color=COLOURS[number], label=_name(run))
        told.append(f"{run}: {100 - sum(shares):.0f} % of {n} traces have no wrong block")
    axes[0].set_xticks(range(BINS), [f"{10 * i}–{10 * i + 10}" for i in range(BINS)])
    axes[0].set_xlabel("where the first wrong block lies, % of the trace's blocks")
    axes[0].set_ylabel("traces, %")
    axes[0].set_ylim(bottom=0)
    return _finish(figure, axes, "; ".join(told))


def languages(table: Sequence[Row]) -> Any | None:
    """Runs down, languages across."""
    found: dict[str, dict[str, float]] = {}
    for r in table:
        match = re.fullmatch(r"ct_cruxeval_(x|xi)_(\w+)", r["task"])
        if match and match[2] in LANGUAGES and r["value"] is not None:
            found.setdefault(r["run"] + (" (input)" if match[1] == "xi" else ""), {})[match[2]] = 100 * r["value"]
    columns = [c for c in LANGUAGES if any(c in row for row in found.values())]
    if not columns:
        return None
    runs = list(found.items())[:40]
    names = [_name(run) for run, _ in runs]
    figure, axes = _figure(1 + 0.08 * max(map(len, names)) + 0.45 * len(columns), 1.6 + 0.32 * len(runs))
    axes[0].grid(visible=False)
    values = [[row.get(c, float("nan")) for c in columns] for _, row in runs]
    axes[0].imshow(values, cmap="Blues", vmin=0, vmax=100, aspect="auto")
    for y, line in enumerate(values):
        for x, value in enumerate(line):
            if value == value:
                axes[0].text(
                    x, y, f"{value:.0f}", ha="center", va="center", color="white" if value > 60 else "black", fontsize=8
                )
    axes[0].set_xticks(range(len(columns)), columns)
    axes[0].set_yticks(range(len(runs)), names)
    return _finish(figure, axes, f"{len(runs)} runs, {len(columns)} languages, accuracy in %")
