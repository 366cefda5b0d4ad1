"""The programs of an edition, run: drafts go through the sandbox, and those that are fit for questions are kept."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ct_tasks.benchmarks.fresh import editions
from ct_tasks.benchmarks.fresh.dials import Dials
from ct_tasks.benchmarks.fresh.programs import Draft, stream
from ct_tasks.errors import ConfigError, DataError, HarnessError
from ct_tasks.execution.jobs import Job, Limits, Result
from ct_tasks.options import TaskOptions

Run = Callable[[Sequence[Job]], list[Result]]
LIMITS = Limits(cpu_s=5.0, wall_s=60.0)
MAX_OUTPUT = 300  # characters of a returned value
MAX_TRIPS = 400  # rounds of all loops of a run together
MAX_ITEMS = 20_000
_EMPTY = {list: "[]", str: "''", dict: "{}", int: "0"}
_RARE = 0.02  # a question that fewer drafts than this allow is not to be had with these dials


@dataclass(frozen=True, slots=True)
class Set:
    """Which programs: a seed and its dials. ``label`` names them in ids: the edition, or ``seed-N``, with dials that were set."""

    seed: int
    dials: Dials
    label: str

    @classmethod
    def of(cls, options: TaskOptions) -> Set:
        """Raises ``ConfigError`` for options that contradict each other or name no edition."""
        dials = Dials.read(options.fresh_dials)
        if options.fresh_seed is None:
            edition = options.fresh_edition or editions.LATEST
            seed, label = editions.seed_of(edition), edition
        else:
            seed, label = options.fresh_seed, f"seed-{options.fresh_seed}"
            if options.fresh_edition is not None:
                raise ConfigError("fresh_edition and fresh_seed both choose the programs; give one of them")
            if type(seed) is not int or seed < 0 or editions.is_reserved(seed):
                raise ConfigError(f"fresh_seed is a whole number from 0 that belongs to no edition, got {seed!r}")
        changed = [
            f"{name}={value[0]}-{value[1]}"
            for name in dials.__slots__
            if (value := getattr(dials, name)) != getattr(Dials(), name)
        ]
        return cls(seed, dials, "+".join([label, *changed]))


def size(options: TaskOptions) -> int:
    """How many items a task has. Raises ``ConfigError``."""
    count = editions.SIZE if options.fresh_items is None else options.fresh_items
    if type(count) is not int or not 1 <= count <= MAX_ITEMS:
        raise ConfigError(f"fresh_items is a whole number from 1 to {MAX_ITEMS}, got {options.fresh_items!r}")
    return count


@dataclass(frozen=True, slots=True)
class Seen:
    """A program that ran: its draft and what ``observe`` reported."""

    draft: Draft
    output: str
    trips: tuple[tuple[int, int], ...]
    branches: tuple[tuple[int, tuple[int | None, ...]], ...]
    raised: int | None
    depth: int
    plain: str | None

    @property
    def rounds(self) -> int:
        """Rounds of all loops together."""
        return sum(count for _, count in self.trips)


class Pool:
    """The programs of one set that are fit, in the order of their numbers; more are made when more are asked for."""

    def __init__(self, which: Set) -> None:
        self.which = which
        self.seen: list[Seen] = []
        self._drafts = stream(which.seed, which.dials)
        self._drawn = 0

    def take(self, count: int, fits: Callable[[Seen], bool], run: Run) -> list[Seen]:
        """The first ``count`` programs for which ``fits``. Raises ``DataError`` where these dials give (next to) none."""
        while len(found := [seen for seen in self.seen if fits(seen)][:count]) < count:
            if self._drawn > 500 and len(found) < _RARE * self._drawn:
                raise DataError(
                    f"ct_fresh {self.which.label}: {self._drawn} programs give {len(found)} for this task; these dials leave too "
                    "little to ask about. Allow more blocks, or ask for fewer items."
                )
            share = max(_RARE, len(found) / self._drawn) if self._drawn else 0.8
            self.grow(min(2000, 16 + math.ceil((count - len(found)) / share)), run)
        return found

    def grow(self, drafts: int, run: Run) -> None:
        """Run so many further drafts."""
        batch = [next(self._drafts) for _ in range(drafts)]
        self._drawn += drafts
        self.seen += [seen for seen in observed(batch, run) if seen is not None and fit(seen)]


def observed(batch: Sequence[Draft], run: Run) -> Iterator[Seen | None]:
    """Each draft run in the sandbox; None for one that raises. Raises ``HarnessError`` when the sandbox itself fails."""
    jobs = [
        Job("", hook="ct_tasks.benchmarks.fresh.observe:observe", limits=LIMITS,
            payload={"source": d.code, "call": d.call, "plain": _plain(d.call)}) for d in batch
    ]  # fmt: skip
    for draft, result in zip(batch, run(jobs), strict=True):
        if result.status == "harness_error":
            raise HarnessError(f"the sandbox failed while running a generated program: {result.error}")
        found: dict[str, Any] = json.loads(result.value) if result.status == "ok" and result.value else {}
        if "output" not in found:
            yield None
            continue
        branches = tuple((line, tuple(taken)) for line, taken in found["branches"])
        trips = tuple((line, count) for line, count in found["trips"])
        yield Seen(draft, found["output"], trips, branches, found["raised"], found["depth"], found["plain"])


def _plain(call: str) -> str:
    """The same call with empty arguments."""
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    values = [_EMPTY[type(ast.literal_eval(arg))] for arg in node.args]
    return f"{ast.unparse(node.func)}({', '.join(values)})"


def fit(seen: Seen) -> bool:
    """Whether a program that ran is one to ask about: a value that can be written down, and a run that can be followed."""
    return len(seen.output) <= MAX_OUTPUT and seen.rounds <= MAX_TRIPS


_pools: dict[Set, Pool] = {}


def programs(options: TaskOptions, fits: Callable[[Seen], bool], run: Run) -> list[Seen]:
    """The programs that these options choose, for a task that can ask about those that ``fits``."""
    which = Set.of(options)
    return _pools.setdefault(which, Pool(which)).take(size(options), fits, run)
