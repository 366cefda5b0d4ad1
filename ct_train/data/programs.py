"""The programs of the benchmarks: what training data must not resemble, and what its statistics are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ct_tasks.errors import UnknownNameError

KNOWN = ("cruxeval", "livecodebench", "reval")


@dataclass(frozen=True)
class Reference:
    """One benchmark program. ``calls`` are its samples for output prediction (none for REval's classes)."""

    name: str
    program: str
    entry: str | None
    calls: tuple[str, ...]
    prelude: str = ""


def load(names: Sequence[str] = KNOWN) -> dict[str, list[Reference]]:
    """The programs of each benchmark, each once. Raises ``DataError`` where a benchmark's data is not to be had."""
    found = {}
    for name in names:
        if name not in KNOWN:
            raise UnknownNameError("benchmark", name, KNOWN)
        found[name] = _LOADERS[name]()
    return found


def _cruxeval() -> list[Reference]:
    from ct_tasks.benchmarks import cruxeval

    return _grouped("cruxeval", [(i.id, i.data["code"], i.data["entry"], i.data["call"]) for i in cruxeval.load()])


def _livecodebench() -> list[Reference]:
    from ct_tasks.benchmarks.lcb_execution import PRELUDE, LcbO

    rows = [(i.id, i.data["code"], i.data["entry"], i.data["call"]) for i in LcbO().load()]
    return _grouped("livecodebench", rows, PRELUDE)


def _reval() -> list[Reference]:
    from ct_tasks.benchmarks.reval import dataset
    from ct_tasks.benchmarks.reval.fo import RevalFO

    functions = [(i.id, i.data["code"], i.data["entry"], i.data["call"]) for i in RevalFO().load()]
    classes = [Reference(f"reval:{r['task_id']}", r["code"], None, ()) for r in dataset.rows()[dataset.FUNCTIONS :]]
    return [*_grouped("reval", functions), *classes]


def _grouped(benchmark: str, rows: Sequence[tuple[str, str, str, str]], prelude: str = "") -> list[Reference]:
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for name, code, entry, call in rows:
        groups.setdefault((code, entry), []).append((name, call))
    return [
        Reference(f"{benchmark}:{members[0][0]}", code, entry, tuple(call for _, call in members), prelude)
        for (code, entry), members in groups.items()
    ]


_LOADERS = {"cruxeval": _cruxeval, "livecodebench": _livecodebench, "reval": _reval}
