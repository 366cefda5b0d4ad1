"""Inputs without a model: the dataset's example calls, varied by type and by what their values have in common.

What holds in all examples of a function is kept in its variations: a sorted list stays sorted, distinct elements stay
distinct, a matrix stays rectangular, an integer that equals the length of another argument follows it, equally long lists stay
equally long, numbers stay in the observed range (a little widened, its sign kept), strings in the observed alphabet.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ct_tasks.contra.literals import LiteralError
from ct_train.data.calls import Function, render
from ct_train.data.steps import Outcome

VERSION = 1
_TRIES = 40  # proposals for each call wanted: some are duplicates
_MAX_LENGTH = 12


class MutatedInputs:
    """Variations of the examples; values from the annotations alone where a function has no readable example."""

    name = "mutate"

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def settings(self) -> Mapping[str, Any]:
        return {"rules": VERSION, "seed": self.seed}

    def propose(self, functions: Sequence[Function], wanted: Sequence[int], out: Outcome) -> list[Iterator[str]]:
        return [self._variations(f, n) for f, n in zip(functions, wanted, strict=True)]

    def _variations(self, function: Function, wanted: int) -> Iterator[str]:
        rng = random.Random(f"{self.seed}:{function.id}")
        seeds = list(function.examples) or [
            tuple(from_hint(hint, rng) for hint in function.parameters.values()) for _ in range(4)
        ]
        shape = Shape.of(seeds)
        for _ in range(_TRIES * wanted):
            start = rng.choice(seeds)
            try:
                yield render(function.entry, shape.vary(start, rng))
            except LiteralError:
                continue  # too deep or too long to write down


@dataclass
class Kind:
    """What the values at one place (an argument, or the elements of one) have in common in all examples."""

    types: set[type] = field(default_factory=set)
    numbers: list[float] = field(default_factory=list)
    alphabet: set[str] = field(default_factory=set)
    values: list[object] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    ordered: bool = True
    distinct: bool = True
    rectangular: bool = True
    element: Kind | None = None

    def see(self, value: object) -> None:
        self.types.add(type(value))
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            self.numbers.append(value)
        elif isinstance(value, str):
            self.alphabet.update(value)
            self.lengths.append(len(value))
        elif isinstance(value, (list, tuple)):
            self._see_list(value)
        if len(self.values) < 200 and value not in self.values:
            self.values.append(value)

    def _see_list(self, items: Sequence[Any]) -> None:
        self.lengths.append(len(items))
        plain = all(isinstance(v, (int, float, str)) for v in items)
        if len(items) > 1:
            self.ordered = self.ordered and plain and _sorted(items)
            self.distinct = self.distinct and len({repr(v) for v in items}) == len(items)
        self.element = self.element or Kind()
        for item in items:
            self.element.see(item)
        sizes = {len(v) for v in items if isinstance(v, (list, str))}
        self.rectangular = self.rectangular and len(sizes) <= 1 and all(isinstance(v, (list, str)) for v in items)

    def vary(self, value: object, rng: random.Random) -> object:
        if isinstance(value, bool):
            return rng.random() < 0.5
        if isinstance(value, int):
            return self._number(value, rng)
        if isinstance(value, float):
            return round(value + rng.uniform(-1, 1) * (abs(value) / 2 + 0.5), 2)
        if isinstance(value, str):
            return self._text(value, rng)
        if isinstance(value, (list, tuple)):
            return type(value)(self._list(list(value), rng))
        return value

    def _number(self, value: int, rng: random.Random) -> int:
        low, high = int(min(self.numbers)), int(max(self.numbers))
        if rng.random() < 0.4:
            new = value + rng.choice((-2, -1, 1, 2))
        else:
            spread = max(2, min(high - low, 100) // 2)
            new = rng.randint(low, high) if high - low <= 1000 else value + rng.randint(-spread, spread)
        if low >= 0 and high <= 1 and len(self.numbers) > 3:
            return min(max(new, 0), 1)  # a flag or a binary digit
        floor = low if low in (0, 1) else (1 if low > 0 else low - 2)
        return min(max(new, floor), high + max(3, (high - low) // 2))

    def _text(self, value: str, rng: random.Random) -> str:
        letters = sorted(self.alphabet) or ["a", "b"]
        chars = list(value)
        fixed = len(set(self.lengths)) == 1 and len(self.lengths) > 2
        for _ in range(rng.randint(1, 3)):
            edit = rng.randrange(2 if fixed else 4)
            at = rng.randrange(len(chars)) if chars else 0
            if edit == 0 and chars:
                chars[at] = rng.choice(letters)
            elif edit == 1 and len(chars) > 1:
                other = rng.randrange(len(chars))
                chars[at], chars[other] = chars[other], chars[at]
            elif edit == 2 and len(chars) > max(min(self.lengths) - 1, 1):
                del chars[at]
            elif not fixed and len(chars) < _MAX_LENGTH * 2:
                chars.insert(at, rng.choice(letters))
        return "".join(chars)

    def _list(self, items: list[Any], rng: random.Random) -> list[Any]:
        if self.element is None or not self.element.types:
            return items
        fixed = len(set(self.lengths)) == 1 and len(self.lengths) > 2
        for _ in range(rng.randint(1, 3)):
            edit = rng.randrange(3 if fixed else 5)
            at = rng.randrange(len(items)) if items else 0
            if edit in (0, 1) and items:
                items[at] = self._element(items[at], items, rng)
            elif edit == 2 and len(items) > 1:
                other = rng.randrange(len(items))
                items[at], items[other] = items[other], items[at]
            elif edit == 3 and len(items) > max(min(self.lengths) - 1, 1):
                del items[at]
            elif not fixed and len(items) < _MAX_LENGTH and (items or self.element.values):
                items.insert(at, self._element(rng.choice(items or self.element.values), items, rng))
        if self.distinct:
            items = [v for i, v in enumerate(items) if v not in items[:i]]
        if (
            self.ordered
            and self.lengths
            and max(self.lengths) > 1
            and all(isinstance(v, (int, float, str)) for v in items)
        ):
            items.sort()
        return items

    def _element(self, old: Any, items: list[Any], rng: random.Random) -> Any:
        assert self.element is not None
        if isinstance(old, str) and rng.random() < 0.5 and self.element.values:
            return rng.choice(self.element.values)
        new = self.element.vary(old, rng)
        if self.rectangular and isinstance(new, (list, str)) and items and len(new) != len(old):
            return old[::-1]
        return new


@dataclass
class Shape:
    """The kinds of all arguments, and the lengths that depend on each other."""

    kinds: list[Kind]
    counts: list[tuple[int, int]]  # argument i is the length of argument j in every example
    twins: list[tuple[int, int]]  # arguments i and j are equally long lists or strings in every example

    @classmethod
    def of(cls, seeds: Sequence[tuple[object, ...]]) -> Shape:
        width = min(map(len, seeds))
        kinds = [Kind() for _ in range(width)]
        for seed in seeds:
            for kind, value in zip(kinds, seed, strict=False):
                kind.see(value)

        def all_hold(test: Callable[[Any, Any], bool], i: int, j: int) -> bool:
            return all(test(seed[i], seed[j]) for seed in seeds)

        pairs = [(i, j) for i in range(width) for j in range(width) if i != j]
        counts = [(i, j) for i, j in pairs if all_hold(_is_length, i, j)]
        twins = [(i, j) for i, j in pairs if i < j and all_hold(_equally_long, i, j) and len(seeds) > 1]
        return cls(kinds, counts, twins)

    def vary(self, seed: tuple[object, ...], rng: random.Random) -> list[object]:
        values: list[Any] = list(seed[: len(self.kinds)])
        places = [i for i in range(len(values)) if i not in {a for a, _ in self.counts}] or list(range(len(values)))
        for i in rng.sample(places, rng.randint(1, len(places))):
            values[i] = self.kinds[i].vary(_copy(values[i]), rng)
        for i, j in self.twins:
            shorter = min(len(values[i]), len(values[j]))
            values[i], values[j] = values[i][:shorter], values[j][:shorter]
        for i, j in self.counts:
            values[i] = len(values[j])
        return values


def _is_length(count: object, items: object) -> bool:
    return type(count) is int and isinstance(items, (list, str)) and len(items) == count


def _equally_long(a: object, b: object) -> bool:
    return isinstance(a, (list, str)) and isinstance(b, (list, str)) and len(a) == len(b)


def _sorted(items: Sequence[Any]) -> bool:
    try:
        return all(a <= b for a, b in itertools.pairwise(items))
    except TypeError:
        return False


def _copy(value: Any) -> Any:
    return [_copy(v) for v in value] if isinstance(value, list) else value


def from_hint(hint: str, rng: random.Random) -> object:
    """A small value of an annotated type; an integer where the annotation is not understood."""
    head, _, inner = hint.strip().strip("\"'").partition("[")
    match head:
        case "str":
            return "".join(rng.choice("abcde") for _ in range(rng.randint(1, 8)))
        case "bool":
            return rng.random() < 0.5
        case "float":
            return round(rng.uniform(-10, 10), 2)
        case "List" | "list":
            return [from_hint(inner.removesuffix("]"), rng) for _ in range(rng.randint(1, 6))]
        case "Optional":
            return from_hint(inner.removesuffix("]"), rng)
    return rng.randint(0, 20)
