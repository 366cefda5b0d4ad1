"""The explorer's data: per task of a run an index of its samples, and the samples in files of about a megabyte."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ct_tasks.contra import literals
from ct_tasks.contra.parser import parse_return
from ct_tasks.errors import CodeThinkerError
from ct_tasks.reports.constructs import KINDS
from ct_tasks.reports.items import facts, facts_of
from ct_tasks.reports.read import Run, Sample, read_samples
from ct_tasks.reports.summary import fault, first_wrong

PAGE_BYTES = 1_000_000
PAGE_SAMPLES = 250
TEXT = 40_000  # characters of one prompt or reply that the explorer keeps
EXCERPT = 120  # characters of answer and reply that the search goes over


def script(path: Path, name: str, value: Any) -> None:
    """A data file: browsers refuse to fetch files beside a page opened from disk, but do load scripts."""
    path.write_text(f"CT.data({json.dumps(name)},{_text(value)});\n")


def _text(value: Any) -> str:
    # "<" never stands in the file, so no text of a model can end the script element that loads it.
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=str).replace("<", "\\u003c")


def write_samples(folder: Path, name: str, run: Run, task: str, path: Path, problems: list[str]) -> dict[str, Any]:
    """Write ``NAME-index.js`` and ``NAME-0.js`` ...; returns what the page needs to know of the set."""
    index: list[list[Any]] = []
    page: list[str] = []
    size = pages = 0
    known = facts(task, run.options)
    for sample in read_samples(path, problems):
        lines = facts_of(sample, known, run.options).lines
        row = _text(_row(sample, lines))
        if page and (len(page) == PAGE_SAMPLES or size + len(row) > PAGE_BYTES):
            _page(folder, f"{name}-{pages}", page)
            page, size, pages = [], 0, pages + 1
        index.append(_entry(sample, pages, lines))
        page.append(f"{_text(sample.id)}:{row}")
        size += len(row)
    if page:
        _page(folder, f"{name}-{pages}", page)
    script(folder / f"{name}-index.js", f"{name}-index", index)
    lucky = sum("h" in entry[4] for entry in index)
    return {"task": task, "n": len(index), "data": name, "lucky": lucky, "traces": any(e[2] is not None for e in index)}


def _page(folder: Path, name: str, rows: list[str]) -> None:
    (folder / f"{name}.js").write_text(f"CT.data({json.dumps(name)},{{{','.join(rows)}}});\n")


def _entry(sample: Sample, page: int, lines: Sequence[str] | None) -> list[Any]:
    """``[id, statuses, rcs, first wrong block, flags, page, acc, excerpt, blocks of the true trace, faults of the first wrong
    block as places in KINDS, group or 0 where it is the id]``; flags: h right answer with a wrong trace, u wrong answer with a
    right trace. With several replies, RCS and the first wrong block are those of the first reply that has them."""
    statuses = list(dict.fromkeys(str(v.get("status") or "") for v in sample.verdicts))
    flags = "h" if any(v.get("hack") for v in sample.verdicts) else ""
    flags += "u" if any(v.get("status") == "wrong" and v.get("rcs") == 1 for v in sample.verdicts) else ""
    found = next((f for v in sample.verdicts if (f := first_wrong(v)) is not None), None)
    first, block, blocks = found or (None, {}, None)
    faults = [KINDS.index(k) for k in fault(block, lines)] if found else []
    rcs = next((v["rcs"] for v in sample.verdicts if isinstance(v.get("rcs"), (int, float))), None)
    answer = str(sample.verdicts[0].get("answer") or "") if sample.verdicts else ""
    excerpt = " ".join(f"{answer[:EXCERPT]} {sample.replies[0][:EXCERPT] if sample.replies else ''}".split())[:EXCERPT]
    group = sample.group if sample.group != sample.id else 0
    return [sample.id, statuses, rcs, first, flags, page, sample.acc, excerpt, blocks, faults, group]


def _row(sample: Sample, program: Sequence[str] | None) -> dict[str, Any]:
    return {
        "prompt": _cut(sample.prompt), "target": _cut(sample.target), "gold": _cut(gold_of(sample)), "call": sample.data.get("call"),
        "replies": [_cut(r) for r in sample.replies], "verdicts": [_verdict(v) for v in sample.verdicts], "program": program, "date": sample.date,
    }  # fmt: skip


def gold_of(sample: Sample) -> str:
    """The true answer without the frame of the gold reply: what stands between its tags, of an assertion the value."""
    text = sample.target
    for tag in ("RETURN", "ANSWER"):
        begin, end = text.rfind(f"[{tag}]"), text.rfind(f"[/{tag}]")
        if 0 <= begin < end:
            text = text[begin + len(tag) + 2 : end].strip()
            try:
                return parse_return(text).text
            except (CodeThinkerError, ValueError):
                return text
    return text


def _cut(text: str) -> str:
    return text if len(text) <= TEXT else f"{text[:TEXT]}\n[{len(text) - TEXT} more characters are in the samples file]"


def _verdict(verdict: dict[str, Any]) -> dict[str, Any]:
    """The verdict, with a table of variables for each block of its trace."""
    detail = verdict.get("detail")
    trace = detail.get("trace") if isinstance(detail, dict) else None
    cut = {k: _cut(v) if isinstance(v, str) else v for k, v in verdict.items()}
    if isinstance(ending := verdict.get("ending"), dict):
        cut["ending"] = {k: _cut(v) if isinstance(v, str) else v for k, v in ending.items()}
    if (
        not isinstance(trace, dict)
        or not isinstance(trace.get("blocks"), list)
        or not isinstance(trace.get("deltas"), list)
    ):
        return {**cut, "detail": None}
    blocks = [{**b, "vars": _variables(b)} for b in trace["blocks"] if isinstance(b, dict)]
    return {**cut, "detail": {"trace": {**trace, "blocks": blocks}}}


def _variables(block: Mapping[str, Any]) -> list[list[Any]] | None:
    """``[name, the model's value or None, the true value or None, differs]``; None where a side is no mapping of literals. Of a
    block that the model did not write, all values are missing."""
    sides: list[dict[str, str] | None] = []
    for text in (block.get("predicted"), block.get("truth")):
        if text is None:
            sides.append({})
            continue
        try:
            value = literals.parse(str(text))
            sides.append({str(k): literals.dump(v) for k, v in value.items()} if isinstance(value, dict) else None)
        except (CodeThinkerError, ValueError, RecursionError):
            sides.append(None)
    predicted, truth = sides
    if predicted is None or truth is None:
        return None
    wrong = set(block.get("wrong") or ())
    return [[n, predicted.get(n), truth.get(n), n in wrong] for n in dict.fromkeys([*truth, *predicted])]
