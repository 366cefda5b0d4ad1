"""What a report needs to know of a task's items beside the samples: the program, its size, and when the problem appeared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from radon.visitors import ComplexityVisitor

from ct_tasks.benchmarks import registry
from ct_tasks.contra.program import normalise, segment
from ct_tasks.errors import CodeThinkerError, DataError
from ct_tasks.options import TaskOptions
from ct_tasks.reports.read import Sample


@dataclass(frozen=True, slots=True)
class Facts:
    """``lines`` as ConTra numbers them, ``blocks`` of the program (not of one execution), ``complexity``: cyclomatic, of the
    entry function; ``date``: the contest's, as ``YYYY-MM-DD``. None where it does not apply or cannot be told."""

    lines: tuple[str, ...] | None = None
    blocks: int | None = None
    complexity: int | None = None
    date: str | None = None


NOTHING = Facts()


def facts_of(sample: Sample, known: Mapping[str, Facts], options: Mapping[str, Any]) -> Facts:
    """What is known of a sample's item: from the task, or where its data is not here from the sample itself."""
    if sample.id in known:
        return known[sample.id]
    code, entry = sample.data.get("code"), sample.data.get("entry")
    if not isinstance(code, str):
        return Facts(date=sample.date[:10] or None)
    found = _program(code, entry if isinstance(entry, str) else None, str(options.get("segmentation") or "statement"))
    return replace(found, date=sample.date[:10] or None)


def facts(task: str, options: Mapping[str, Any]) -> Mapping[str, Facts]:
    """Facts by item id; empty for a task that is not ours, or whose data is not on this machine."""
    return _facts(task, str(options.get("segmentation") or "statement"))


@lru_cache(maxsize=64)
def _facts(task: str, segmentation: str) -> Mapping[str, Facts]:
    if task not in registry.TASKS:
        return {}
    try:
        items = registry.get(task).items(TaskOptions())
    except DataError:
        return {}  # the samples still show; only what is told of the items is missing
    return {item.id: _of(item.data, segmentation) for item in items}


def _of(data: Mapping[str, Any], segmentation: str) -> Facts:
    date = str(data.get("contest_date") or "")[:10] or None
    code = data.get("code")
    if not isinstance(code, str):
        return Facts(date=date)
    return replace(_program(code, data.get("entry"), segmentation), date=date)


@lru_cache(maxsize=20_000)
def _program(code: str, entry: str | None, segmentation: str) -> Facts:
    try:
        program = normalise(code, entry)
        blocks = len(segment(program, segmentation))
        found = ComplexityVisitor.from_ast(program.function).functions
    except (CodeThinkerError, SyntaxError, ValueError, RecursionError):
        return NOTHING  # another language, or nothing that ConTra can cut
    return Facts(tuple(program.lines), blocks, found[0].complexity if found else None)
