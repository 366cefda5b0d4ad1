"""How hard a generated program is: six dials, each a number or a range that is drawn from for every program."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ct_tasks.errors import ConfigError, UnknownNameError

Range = tuple[int, int]
_WIDEST: dict[str, Range] = {
    "blocks": (1, 10), "state": (0, 8), "trips": (1, 40), "depth": (0, 8), "dead": (0, 8), "digits": (1, 6),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Setting:
    """The dials of one program. ``blocks``: pieces of work in the entry function, one after the other (each a loop, a branch,
    a ``try`` ...). ``state``: variables set up before them, beside the parameters. ``trips``: elements of an argument and
    bound of a counted loop. ``depth``: longest chain of the program's own functions below the entry function, as written
    (0: no helper). ``dead``: variables that are assigned and never used. ``digits``: decimal digits of the numbers."""

    blocks: int
    state: int
    trips: int
    depth: int
    dead: int
    digits: int


@dataclass(frozen=True, slots=True)
class Dials:
    """The default mix: every program draws each dial anew, uniformly from its range (ends included)."""

    blocks: Range = (2, 4)
    state: Range = (0, 2)
    trips: Range = (3, 6)
    depth: Range = (0, 2)
    dead: Range = (0, 2)
    digits: Range = (1, 2)

    @classmethod
    def read(cls, given: object) -> Dials:
        """From ``{"blocks": 4, "trips": [3, 8]}``; dials that are not named keep their default range. Raises ``UnknownNameError``
        for another dial and ``ConfigError`` for a value that is no number or range within bounds."""
        if given is None:
            return cls()
        if not isinstance(given, Mapping):
            raise ConfigError(f'fresh_dials must be a mapping like {{"blocks": 4, "trips": [3, 8]}}, got {given!r}')
        return cls(**{name: _range(name, value) for name, value in given.items()})

    def draw(self, rng: random.Random) -> Setting:
        """The dials of one program."""
        return Setting(**{f.name: rng.randint(*getattr(self, f.name)) for f in dataclasses.fields(self)})


def _range(name: str, value: Any) -> Range:
    if name not in _WIDEST:
        raise UnknownNameError("dial of ct_fresh", str(name), _WIDEST)
    pair = [value, value] if isinstance(value, int) else value
    whole = isinstance(pair, (list, tuple)) and len(pair) == 2 and all(type(v) is int for v in pair)
    low, high = _WIDEST[name]
    if not whole or not low <= pair[0] <= pair[1] <= high:
        raise ConfigError(f"fresh_dials: {name} is a whole number or [least, most] from {low} to {high}, got {value!r}")
    return pair[0], pair[1]
