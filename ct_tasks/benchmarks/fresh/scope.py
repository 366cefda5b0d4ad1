"""The variables of a program that is being written: their kinds, plausible names for new ones, and small expressions.

Kinds: ``int``, ``str``, ``ints`` and ``words`` (lists), ``counts`` (a dict of text to number), ``table`` (a dict of text to a
list of text). A set is used and sorted inside one block, so that no program depends on its order.
"""

from __future__ import annotations

import random

from ct_tasks.benchmarks.fresh.dials import Setting


def listed(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


KINDS = ("int", "str", "ints", "words", "counts")
NAMES = {
    "int": listed("total score balance level width offset best gap rank credit margin weight height load bonus"),
    "str": listed("text code label line title path note mark slug"),
    "ints": listed("prices scores sizes readings amounts ages speeds weights votes ranks"),
    "words": listed("names items tags labels cities colors animals tools fruits genres"),
    "counts": listed("stock tally counts totals points budget index usage"),
    "table": listed("groups buckets shelves teams chapters"),
}  # fmt: skip
ONE = {
    "prices": "price", "scores": "grade", "sizes": "size", "readings": "reading", "amounts": "amount", "ages": "age",
    "speeds": "speed", "weights": "kilos", "votes": "vote", "ranks": "place", "names": "name", "items": "item", "tags": "tag",
    "labels": "word", "cities": "city", "colors": "color", "animals": "animal", "tools": "tool", "fruits": "fruit",
    "genres": "genre",
}  # fmt: skip
VOCABULARY = listed(
    "amber apple arrow basil birch bolt brick cedar chalk cloud coral crane delta drum eagle elm ember falcon fern fig flint "
    "gale glove grape harp hazel heron iris ivory jade kayak kiwi lamp level lemon lime lotus maple mint moss noon oak olive "
    "onyx opal otter panda peach pear pearl pine plum quartz radar raven reed river robin rose ruby sage salt silk spark "
    "stone sun teal thyme tiger topaz tulip viola wave wheat willow wolf yarn zebra"
)
VOWELS = "'aeiou'"


class Scope:
    """Names by kind, in the order in which they came to be. ``recent`` holds names that blocks wrote last."""

    def __init__(self, rng: random.Random, setting: Setting) -> None:
        self.rng, self.setting = rng, setting
        self.kinds: dict[str, str] = {}
        self.taken: set[str] = set()
        self.recent: list[str] = []
        self.imports: list[str] = []
        self.words = rng.sample(VOCABULARY, 12)

    # Names

    def name(self, *wanted: str, kind: str = "int") -> str:
        """A name that is not taken yet: one of ``wanted``, else one that suits ``kind``."""
        free = [n for n in wanted if n not in self.taken] or [n for n in NAMES[kind] if n not in self.taken]
        if not free:
            stem = self.rng.choice(wanted or NAMES[kind])
            free = [next(f"{stem}_{i}" for i in range(2, 99) if f"{stem}_{i}" not in self.taken)]
        found = free[0] if wanted and free[0] in wanted else self.rng.choice(free)
        self.taken.add(found)
        return found

    def new(self, kind: str, *wanted: str) -> str:
        """A new variable of that kind."""
        found = self.name(*wanted, kind=kind)
        self.kinds[found] = kind
        self.wrote(found)
        return found

    def wrote(self, *names: str) -> None:
        """These were assigned or changed just now."""
        self.recent = [n for n in self.recent if n not in names] + list(names)

    def of(self, *kinds: str) -> list[str]:
        return [n for n, k in self.kinds.items() if k in kinds]

    def pick(self, *kinds: str) -> str:
        """A variable of one of these kinds, a recent one more often. Raises ``NoFitError`` when there is none."""
        found = [n for n in self.recent if self.kinds.get(n) in kinds]
        if not found:
            raise NoFitError
        return found[-1] if self.rng.random() < 0.4 else self.rng.choice(found)

    def each(self, name: str) -> str:
        """A loop variable for the elements of ``name``; a name that was used for it before is used again."""
        return ONE.get(name.partition("_")[0], "value" if self.kinds.get(name) == "ints" else "word")

    # Values

    def number(self, least: int = 1) -> int:
        """A number of the size that the dials ask for."""
        return self.rng.randint(least, max(least + 3, 10**self.setting.digits - 1))

    def small(self, low: int = 2, high: int = 5) -> int:
        return self.rng.randint(low, high)

    def modulus(self) -> int:
        """What keeps a number within its digits: an odd number just below the power of ten."""
        return (
            10**self.setting.digits - self.rng.choice((1, 3, 7))
            if self.setting.digits > 1
            else self.rng.choice((7, 9, 11, 13))
        )

    def word(self) -> str:
        return self.rng.choice(self.words)

    def letter(self) -> str:
        return self.rng.choice(self.rng.choice(self.words))

    def value(self, kind: str) -> object:
        """An argument of that kind; its size is the ``trips`` dial."""
        rng, trips = self.rng, self.setting.trips
        if kind == "int":
            return self.number(2)
        if kind == "str":
            text = "".join(rng.choice(VOCABULARY) for _ in range(1 + trips // 4))
            return text[: max(3, trips + 2)]
        if kind == "ints":
            return [self.number(0) * rng.choice((1, 1, 1, -1)) for _ in range(trips)]
        if kind == "words":
            return [rng.choice(self.words) for _ in range(trips)]
        names = rng.sample(self.words, min(trips, len(self.words)))
        return {name: self.number() for name in names}

    # Expressions

    def on_number(self, n: str) -> str:
        """A number made of the number ``n``."""
        k = self.small()
        return self.rng.choice(
            (n, f"{n} * {k}", f"{n} % {k + 1}", f"{n} + {self.number()}", f"{n} // {k}", f"abs({n} - {self.number()})")
        )

    def test(self, n: str, *, alone: bool = False) -> str:
        """A condition on the number ``n``; ``alone``: on no other variable, for code outside the entry function."""
        k = self.small(2, 4)
        others = [o for o in self.of("int") if o != n and not alone]
        choices = [f"{n} % {k} == {self.rng.randrange(k)}", f"{n} > {self.middle()}", f"{n} <= {self.middle()}"]
        choices += [f"{n} < {self.rng.choice(others)}"] if others else []
        low = self.middle()
        choices += [f"{low} <= {n} < {low + self.number()}"]
        return self.rng.choice(choices)

    def middle(self) -> int:
        """A number that splits the numbers of the arguments."""
        top = 10**self.setting.digits
        return self.rng.randint(top // 4, top * 3 // 4)

    def word_test(self, w: str) -> str:
        """A condition on the text ``w``, which is never empty."""
        letter = repr(self.letter())
        return self.rng.choice((
            f"len({w}) > {self.small(3, 5)}", f"len({w}) % 2 == {self.rng.randrange(2)}", f"{letter} in {w}",
            f"{w}[0] < {letter}", f"{w}[-1] in {VOWELS}", f"{w}.count({letter}) == {self.rng.randrange(2)}",
            f"{w} == {w}[::-1]", f"{w}.startswith({letter})",
        ))  # fmt: skip

    def on_word(self, w: str) -> str:
        """A non-empty text made of the non-empty text ``w``."""
        k = self.small(2, 3)
        return self.rng.choice((
            f"{w}[:{k}]", f"{w}[-{k}:]", f"{w}[::-1]", f"{w}.upper()", f"{w}.title()", f"{w} + {self.letter()!r}",
            f"{w}[0] + {w}[-1]", f"{w}.replace({self.letter()!r}, '-')", f"{w}[{k - 1}:] + {w}[:{k - 1}]", w,
        ))  # fmt: skip

    def from_word(self, w: str) -> str:
        """A number made of the text ``w``."""
        return self.rng.choice(
            (f"len({w})", f"{w}.count({self.letter()!r})", f"{w}.find({self.letter()!r})", f"len(set({w}))")
        )


class NoFitError(Exception):
    """This block needs a variable that the program does not have."""


def indent(lines: list[str], by: int = 1) -> list[str]:
    return ["    " * by + line for line in lines]
