"""Names that tell runs apart: the shortest part of the model's path that no other model has, stage, paradigm, and the options
in which runs of the same name differ. Two runs with nothing to tell them apart are both shown, numbered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from ct_tasks.reports.identity import GENERIC, Identity, is_local

TAIL = 3  # more parts than this before the tail of a path are shortened to the first, which tells it apart


def models(identities: Iterable[Identity]) -> dict[tuple[str, str], str]:
    """``(source, adapter)`` to a short name; different models get different names."""
    wanted = list(dict.fromkeys((i.source, i.adapter) for i in identities))
    short = shorten([path for pair in wanted for path in pair if path])
    return {(s, a): f"{short[s]} + {short[a]}" if a else short[s] for s, a in wanted}


def shorten(paths: Sequence[str]) -> dict[str, str]:
    """Each path's last part that is not generic, with what follows; longer where two would be the same. Names of the hub stay."""
    parts = {p: [x for x in PurePath(p).parts if x != "/"] or [p] if is_local(p) else [p] for p in paths}
    least = {p: _least(ps) for p, ps in parts.items()}
    taken = dict(least)

    def label(path: str, count: int) -> str:
        return "/".join(parts[path][-count:])

    while True:
        named: dict[str, list[str]] = {}
        for path, count in taken.items():
            named.setdefault(label(path, count), []).append(path)
        longer = [p for same in named.values() if len(same) > 1 for p in same if taken[p] < len(parts[p])]
        if not longer:
            break
        for path in longer:
            taken[path] += 1
    full = {p: label(p, n) if sum(label(p, n) == label(q, m) for q, m in taken.items()) == 1 else p for p, n in taken.items()}
    brief = {
        p: f"{parts[p][-n]}/…/{label(p, least[p])}" if n - least[p] > TAIL and full[p] != p else full[p]
        for p, n in taken.items()
    }
    return brief if len(set(brief.values())) == len(brief) else full


def _least(parts: Sequence[str]) -> int:
    for count, part in enumerate(reversed(parts), 1):
        if not GENERIC.fullmatch(part):
            return count
    return len(parts)


def named(runs: Sequence[Any]) -> tuple[list[Any], list[str]]:
    """The runs (``Run``, oldest first) with ``model`` and ``label`` set, and a sentence for those that had to be numbered.

    Runs that are the same in everything and share no task are parts of one evaluation and share their name.
    """
    short = models(r.identity for r in runs)
    groups: dict[str, list[int]] = {}
    out = list(runs)
    for number, run in enumerate(runs):
        who = run.identity
        model = short[who.source, who.adapter]
        stage = "" if who.stage in re.split(r"[^a-z0-9]+", model.lower()) else who.stage
        label = " · ".join(part for part in (model, stage, who.paradigm) if part)
        out[number] = replace(run, model=model, label=label)
        groups.setdefault(label, []).append(number)
    problems: list[str] = []
    for members in groups.values():
        _tell(out, members, [out[n].identity.settings for n in members])
        for same in _same(out, members):
            for clash in _clashes(out, same):
                _tell(out, clash, [out[n].identity.circumstances for n in clash])
                for left in _same(out, clash):
                    problems += [_number(out, still) for still in _clashes(out, left)]
    return out, problems


def _tell(runs: list[Any], members: Sequence[int], facts: Sequence[Mapping[str, str]]) -> None:
    """Append to each label the facts in which the members differ."""
    keys = dict.fromkeys(k for f in facts for k in f)
    differ = [k for k in keys if len({f.get(k) for f in facts}) > 1]
    for number, fact in zip(members, facts, strict=True):
        told = [f"{k}={fact[k]}" for k in differ if k in fact]
        if told:
            runs[number] = replace(runs[number], label=f"{runs[number].label} · {', '.join(told)}")


def _same(runs: Sequence[Any], members: Sequence[int]) -> list[list[int]]:
    found: dict[str, list[int]] = {}
    for number in members:
        found.setdefault(runs[number].label, []).append(number)
    return list(found.values())


def _clashes(runs: Sequence[Any], members: Sequence[int]) -> list[list[int]]:
    """Members that share a task, directly or through others; those that share none are no clash."""
    found: list[tuple[set[str], list[int]]] = []
    for number in members:
        tasks, numbers = set(runs[number].tasks), [number]
        apart = []
        for others, theirs in found:
            if others & tasks:
                tasks, numbers = tasks | others, theirs + numbers
            else:
                apart.append((others, theirs))
        found = [*apart, (tasks, numbers)]
    return [sorted(numbers) for _, numbers in found if len(numbers) > 1]


def _number(runs: list[Any], members: Sequence[int]) -> str:
    name = runs[members[0]].label
    for place, number in enumerate(members, 1):
        runs[number] = replace(runs[number], label=f"{name} #{place}")
    files = "; ".join(f"#{place} {runs[number].path}" for place, number in enumerate(members, 1))
    return (
        f"{len(members)} runs are all called {name} and nothing that was recorded tells them apart, so they are numbered, "
        f"oldest first: {files} (give them a stage: --metadata '{{\"stage\": ...}}')"
    )
