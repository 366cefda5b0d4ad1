"""Synthesis: from the samples of one half to training rows, ConTra first (paper D.2), then the baselines' formats."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ct_tasks.benchmarks.fresh import editions
from ct_tasks.contra.trace import Truth
from ct_tasks.errors import ConfigError, UnknownNameError
from ct_tasks.execution.pool import PythonPool
from ct_tasks.options import SEGMENTATIONS
from ct_train import limits
from ct_train.data.llm import LlmSettings
from ct_train.data.steps import LazyRows, Outcome, Row, Step, read_rows, write_text
from ct_train.synth import formats, record, reject, teachers

VERSION = 1


@dataclass(frozen=True)
class SynthSettings:
    """Settings of ``python -m ct_train synth``. ``data``: rows of ``ct_train data`` (a half). ``teacher``: ``rules`` or
    ``llm``; ``whole``: the model copies the trace (paper) instead of giving the THOUGHTs as JSON. ``tries``: texts drawn for a
    sample at most; with ``all_tries`` all of them are drawn and the best is kept, else the first good one ends it."""

    out: str = ""
    data: str = ""
    teacher: str = "rules"
    tries: int = 4
    all_tries: bool = False
    whole: bool = True
    max_thought_chars: int = 8000
    max_chars: int = 16000
    segmentation: str = "statement"
    baselines: tuple[str, ...] = formats.BASELINES
    limit: int | None = None
    workers: int | None = None
    batch: int = 100
    llm: LlmSettings = field(default_factory=LlmSettings)

    def check_places(self) -> None:
        """Raises ``ConfigError`` where it is not said what to read and where to write."""
        if not self.out or not self.data:
            raise ConfigError(
                "set out (a folder) and data (rows of `python -m ct_train data`, e.g. runs/lcr/sft.jsonl)"
            )

    def check(self) -> None:
        """Raises ``ConfigError`` for what could not be followed."""
        if self.teacher not in teachers.KNOWN:
            raise UnknownNameError("teacher", self.teacher, teachers.KNOWN)
        if self.segmentation not in SEGMENTATIONS:
            raise UnknownNameError("segmentation", self.segmentation, SEGMENTATIONS)
        for name in self.baselines:
            if name not in formats.BASELINES:
                raise UnknownNameError("baseline", name, formats.BASELINES)
        counts = ("tries", "batch", "max_thought_chars", "max_chars", "limit", "workers")
        limits.check(self, dict.fromkeys(counts, limits.COUNT))
        self.llm.check()


def run(settings: SynthSettings, teacher: teachers.Teacher | None = None) -> dict[str, dict[str, Any]]:
    """``contra.jsonl`` and one file a baseline, each with its dropped rows, and a card; the summaries by file."""
    settings.check()
    settings.check_places()
    folder = Path(settings.out)
    teacher = teacher or teachers.make(
        settings.teacher, settings.llm, folder / "contra.replies.jsonl", settings.tries, settings.whole
    )
    rows = [_named(row, i) for i, row in enumerate(read_rows(Path(settings.data))[: settings.limit])]
    editions.refuse(rows, settings.data)
    key = {
        "rules": VERSION,
        "teacher": {teacher.name: dict(teacher.settings())},
        "tries": settings.tries,
        "all_tries": settings.all_tries,
        "max_thought_chars": settings.max_thought_chars,
        "max_chars": settings.max_chars,
    }
    traces = Step(folder, "traces", _trace_key(settings), [Path(settings.data)], settings.batch, "samples")
    with PythonPool(settings.workers) as pool:
        traces.run(rows, lambda batch: traced(batch, settings.segmentation, pool))
    units = LazyRows(traces.output)
    maker = Maker(settings, teacher)
    step = Step(folder, "contra", key, [traces.output], settings.batch, "samples")
    summaries = {"contra": step.run(units, maker.contra)}
    for name in settings.baselines:
        facts = {"rules": VERSION, "format": name, "max_chars": settings.max_chars}
        step = Step(folder, name, facts, [traces.output], settings.batch, "samples")
        summaries[name] = step.run(units, functools.partial(maker.baseline, name))
    summaries = {"traces": json.loads(traces.done.read_text()), **summaries}
    write_card(folder, settings, summaries)
    return summaries


def _named(row: Row, number: int) -> Row:
    return {"id": str(number), "output": None, "entry": None, **row, "sample": row.get("sample", f"row/{number}")}


def _trace_key(settings: SynthSettings) -> dict[str, Any]:
    return {"rules": VERSION, "segmentation": settings.segmentation, "limit": settings.limit}


def traced(rows: Sequence[Row], segmentation: str, pool: PythonPool) -> Outcome:
    """Samples with their true trace and the record of each line; neighbours of one program share a child."""
    groups = [list(g) for _, g in itertools.groupby(rows, key=lambda r: (r["program"], r["entry"]))]

    def ask(members: Sequence[Sequence[Row]]) -> list[list[Any] | None]:
        jobs = [record.job(g[0]["program"], g[0]["entry"], [r["call"] for r in g], segmentation) for g in members]
        return [None if (found := record.read(result)) is None else list(found) for result in pool.run(jobs)]

    replies = [r for group, found in zip(groups, ask(groups), strict=True) for r in found or [None] * len(group)]
    lone = [i for i, reply in enumerate(replies) if reply is None]
    for i, found in zip(lone, ask([[rows[i]] for i in lone]), strict=True):
        replies[i] = found[0] if found else {"error": "TraceError", "message": "too long or too large to trace"}
    out = Outcome()
    for row, reply in zip(rows, replies, strict=True):
        if reply is not None and "truth" in reply:
            out.kept.append({**row, "truth": reply["truth"], "record": reply["record"]})
        else:
            out.drop(_short(row), "no_trace", str((reply or {}).get("message", ""))[:200])
    return out


class Maker:
    """Rows of each kind from traced samples."""

    def __init__(self, settings: SynthSettings, teacher: teachers.Teacher) -> None:
        self.settings, self.teacher = settings, teacher

    def contra(self, rows: Sequence[Row]) -> Outcome:
        """ConTra rows of one batch: proposals, rejection, the best kept."""
        out = Outcome()
        truths = [Truth.from_json(r["truth"]) for r in rows]
        records = [record.from_json(r["record"]) for r in rows]
        drawn: list[list[reject.Judged]] = [[] for _ in rows]
        for attempt in range(min(self.settings.tries, self.teacher.tries)):
            open_ = [i for i, d in enumerate(drawn) if self.settings.all_tries or reject.best(d) is None]
            if not open_:
                break
            texts = self.teacher.propose([truths[i] for i in open_], [records[i] for i in open_], attempt)
            for i, (text, reply) in zip(open_, texts, strict=True):
                judged = self._judge(text, truths[i], reply)
                drawn[i].append(judged)
                out.count(f"tried: {judged.reason or 'kept'}")
        for sample, truth, judged_all in zip(rows, truths, drawn, strict=True):
            chosen = reject.best(judged_all)
            if chosen is None:
                last = judged_all[-1]
                out.drop(_short(sample), last.reason, last.detail)
                continue
            facts = {"quality": chosen.quality, "tries": len(judged_all), "blocks": len(truth.blocks)}
            out.kept.append(formats.row("contra", sample, truth, chosen.text, self.settings.segmentation, **facts))
        return out

    def _judge(self, text: str | None, truth: Truth, reply: Any) -> reject.Judged:
        judged = reject.judge(text, truth, max_thought_chars=self.settings.max_thought_chars, failure=reply)
        if not judged.reason and len(judged.text) > self.settings.max_chars:
            return reject.Judged(judged.text, "too_long", f"{len(judged.text)} characters")
        return judged

    def baseline(self, name: str, rows: Sequence[Row]) -> Outcome:
        """Rows of one batch in a baseline's format."""
        out = Outcome()
        for sample in rows:
            truth = Truth.from_json(sample["truth"])
            text = formats.completion(name, truth, record.from_json(sample["record"]))
            if text is None:
                out.drop(_short(sample), "answer_not_read", "the paradigm's extraction does not find the true value")
            elif len(text) > self.settings.max_chars:
                out.drop(_short(sample), "too_long", f"{len(text)} characters")
            else:
                out.kept.append(formats.row(name, sample, truth, text, self.settings.segmentation))
        return out


def _short(sample: Row) -> Row:
    return {"id": sample["id"], "sample": sample["sample"], "call": sample["call"]}


def write_card(folder: Path, settings: SynthSettings, summaries: dict[str, dict[str, Any]]) -> None:
    """``card.md``: rows and reasons of each file."""
    lines = ["# Training rows by paradigm", "", f"From `{Path(settings.data).name}`, teacher `{settings.teacher}`.", ""]
    lines += ["| file | rows | dropped | reasons |", "|---|---|---|---|"]
    for name, summary in summaries.items():
        reasons = ", ".join(f"{k} {v}" for k, v in summary["reasons"].items())
        lines.append(f"| {name}.jsonl | {summary['kept']:,} | {summary['dropped']:,} | {reasons} |")
    lines += ["", "## ConTra: every text that was judged", ""]
    lines += [f"- {name}: {count:,}" for name, count in summaries["contra"]["counts"].items()]
    settings_text = json.dumps(summaries["contra"]["settings"], ensure_ascii=False)
    lines += ["", f"Settings: `{settings_text}`", ""]
    write_text(folder / "card.md", "\n".join(lines))
