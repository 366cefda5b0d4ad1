"""Small random programs that really run, graded in difficulty, for a model of a million parameters.

A program is a function of one or two arguments with a few outermost statements. Level 1 has integer arithmetic, 2 adds
strings and lists, 3 ``if``, 4 ``for``, 5 ``while``; from level 3 on the newest kind is always there. Integers stay within
±50, strings and lists within six elements. Each statement comes with the thought of a perfect reasoner: the expression
with its values put in, a loop round by round.

Everything follows from the random generator that is passed in. Which side of the train/held-out split a program is on
depends on its text alone (``held_out``), variable names aside, so no seed can leak one into the other side.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ct_tasks.errors import DataError

LEVELS = (1, 2, 3, 4, 5)
MOST = 50
LONGEST = 6
INTS, STRINGS, LISTS = ("a", "b", "c", "d"), ("s", "t"), ("xs", "ys")
LETTERS = "kmpq"  # of string values; none is a variable's name
_NAME = re.compile(r"\b(?:a|b|c|d|s|t|xs|ys|x|i)\b")
_HELD_OUT_OF = 8
_MISSES = 20_000


@dataclass(frozen=True, slots=True)
class Sample:
    """A program (``code``), one call of it, and one thought a block (an outermost statement)."""

    code: str
    call: str
    thoughts: tuple[str, ...]
    level: int
    statements: int

    @property
    def held_out(self) -> bool:
        return held_out(self.code)


def held_out(code: str) -> bool:
    """Whether a program belongs to the held-out side: one in eight, by a hash of its text with variables renamed in order."""
    names: dict[str, str] = {}
    text = _NAME.sub(lambda m: names.setdefault(m.group(), f"v{len(names)}"), code)
    return hashlib.sha256(text.encode()).digest()[0] % _HELD_OUT_OF == 0


def stream(
    seed: int, *, levels: Sequence[int] = LEVELS, statements: tuple[int, int] = (1, 3), held: bool = False
) -> Iterator[Sample]:
    """Endless samples of one side of the split: training samples differ in program or call, held-out ones in program.

    Raises ``DataError`` when so small a world has no further programs.
    """
    rng = random.Random(f"micro {seed} {held}")
    seen: set[str] = set()
    misses = 0
    while misses < _MISSES:
        misses += 1
        sample = make(rng, rng.choice(levels), rng.randint(*statements))
        if sample is None or sample.held_out != held:
            continue
        key = sample.code if held else f"{sample.code} {sample.call}"
        if key not in seen:
            seen.add(key)
            misses = 0
            yield sample
    raise DataError(f"no new program in {_MISSES} draws after {len(seen)}: allow more statements or levels than {list(levels)}")


def make(rng: random.Random, level: int, statements: int) -> Sample | None:
    """One program, or None where the draw led nowhere (a value out of bounds, a loop that never ends)."""
    builder = _Builder(rng)
    kinds: list[int] = [1 if level == 1 else rng.choice(range(1, level + 1)) for _ in range(statements)]
    if level > 1 and level not in kinds:
        kinds[rng.randrange(statements)] = level
    try:
        builder.arguments(with_container=level > 1 and any(k == 2 for k in kinds))
        for kind in kinds:
            builder.statement(kind)
    except _DeadEndError:
        return None
    code = "\n".join([builder.head, *builder.lines, f"    return {builder.last}"])
    return Sample(code, builder.call, tuple(builder.thoughts), level, statements)


class _DeadEndError(Exception):
    """The draw cannot be finished."""


class _Builder:
    """Writes a function statement by statement, running each at once in ``env``."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.env: dict[str, object] = {}
        self.lines: list[str] = []
        self.thoughts: list[str] = []
        self.head = self.call = self.last = ""

    def arguments(self, *, with_container: bool) -> None:
        values: dict[str, object] = {"a": self.rng.randint(0, 6)}
        if with_container:
            if self.rng.random() < 0.5:
                values["s"] = "".join(self.rng.choice(LETTERS) for _ in range(self.rng.randint(1, 3)))
            else:
                values["xs"] = [self.rng.randint(0, 6) for _ in range(self.rng.randint(1, 3))]
        elif self.rng.random() < 0.5:
            values["b"] = self.rng.randint(0, 6)
        self.env = values.copy()
        self.head = f"def f({', '.join(values)}):"
        self.call = f"f({', '.join(map(repr, values.values()))})"

    def statement(self, kind: int) -> None:
        (self._arithmetic, self._container, self._if, self._for, self._while)[kind - 1]()

    # The pieces: each appends its lines and one thought, and leaves the values in ``env``.

    def _arithmetic(self) -> None:
        line, target, expression = self._int_assignment()
        thought = f"{self._filled(expression)} = "
        self._run(line)
        self._done([line], target, thought + repr(self.env[target]))

    def _container(self) -> None:
        texts, lists = self._names(str), self._names(list)
        name = self.rng.choice([*texts, *lists]) if texts or lists else ""
        if not name:
            self._arithmetic()
            return
        number = self._operand()
        if name in texts:
            letter = repr(self.rng.choice(LETTERS))
            other = self.rng.choice(STRINGS)
            line, target, expression = self.rng.choice([
                (f"{other} = {name} + {letter}", other, f"{name} + {letter}"),
                (f"{other} = {letter} + {name}", other, f"{letter} + {name}"),
                (f"{name} += {letter}", name, f"{name} + {letter}"),
                (f"{other} = {name}[::-1]", other, f"{name}[::-1]"),
                (f"c = len({name})", "c", f"len({name})"),
                (f"{other} = {name}[1:]", other, f"{name}[1:]"),
            ])
        else:
            other = self.rng.choice(LISTS)
            line, target, expression = self.rng.choice([
                (f"{name}.append({number})", name, f"{name} + [{number}]"),
                (f"{other} = {name} + [{number}]", other, f"{name} + [{number}]"),
                (f"{other} = {name}[::-1]", other, f"{name}[::-1]"),
                (f"c = len({name})", "c", f"len({name})"),
                (f"c = sum({name})", "c", f"sum({name})"),
                (f"c = {name}[0]", "c", f"{name}[0]"),
                (f"c = max({name})", "c", f"max({name})"),
            ])
        thought = f"{self._filled(expression)} = "
        self._run(line)
        self._done([line], target, thought + repr(self.env[target]))

    def _if(self) -> None:
        left = self.rng.choice(self._names(int))
        test = f"{left} {self.rng.choice(['<', '>', '=='])} {self._operand(left)}"
        then, target, _ = self._int_assignment()
        lines = [f"if {test}:", f"    {then}"]
        if self.rng.random() < 0.5 or target not in self.env:
            other, _, _ = self._int_assignment(target)
            lines += ["else:", f"    {other}"]
        true = bool(eval(test, {}, self.env))
        thought = f"{self._filled(test)} is {true}"
        self._run("\n".join(lines))
        self._done(lines, target, f"{thought}, {target} = {self.env[target]!r}")

    def _for(self) -> None:
        lists = self._names(list)
        if lists and self.rng.random() < 0.5:
            name, header, iterable = "x", f"for x in {lists[0]}:", lists[0]
        else:
            name, iterable = "i", f"range({self.rng.randint(2, 3)})"
            header = f"for i in {iterable}:"
        body, target = self._step(name)
        rounds = []
        values = list(eval(iterable, {"range": range}, self.env))
        if not values:
            raise _DeadEndError
        for value in values:
            self.env[name] = value
            self._run(body)
            rounds.append(f"{name} = {value}, {target} = {self.env[target]!r}")
        self._done([header, f"    {body}"], target, "\n".join(rounds))

    def _while(self) -> None:
        target = self.rng.choice(self._names(int))
        size = self.rng.randint(1, 4)
        up = self.rng.random() < 0.5
        test = f"{target} {'<' if up else '>'} {self.rng.randint(2, 9)}"
        body = f"{target} {'+' if up else '-'}= {size}"
        rounds: list[str] = []
        while eval(test, {}, self.env):
            self._run(body)
            rounds.append(f"{target} = {self.env[target]!r}")
            if len(rounds) > 4:
                raise _DeadEndError
        if not rounds:
            raise _DeadEndError
        self._done([f"while {test}:", f"    {body}"], target, "\n".join(rounds))

    def _step(self, name: str) -> tuple[str, str]:
        """A loop's body and the variable it changes."""
        options = [(f"{n} += {name}", n) for n in self._names(int) if n != name]
        options += [(f"{n} += {self.rng.randint(1, 5)}", n) for n in self._names(int)[:1]]
        options += [(f"{n} += {self.rng.choice(LETTERS)!r}", n) for n in self._names(str)]
        if name == "i":
            options += [(f"{n}.append(i)", n) for n in self._names(list)]
        return self.rng.choice(options)

    def _int_assignment(self, target: str = "") -> tuple[str, str, str]:
        """(line, target, the expression that is assigned) of integers."""
        known = self._names(int)
        operator = self.rng.choices(["+", "-", "*", "%", "//"], [5, 5, 2, 1, 1])[0]
        if (target in known or not target) and self.rng.random() < 0.3:
            target = target or self.rng.choice(known)
            right = self._operand(target, positive=operator in ("%", "//"))
            operator = operator if operator in "+-*" else "+"
            return f"{target} {operator}= {right}", target, f"{target} {operator} {right}"
        target = target or self.rng.choice(INTS)
        left = self.rng.choice(known)
        right = self._operand(left, positive=operator in ("%", "//"))
        expression = f"{left} {operator} {right}"
        return f"{target} = {expression}", target, expression

    def _operand(self, other: str = "", *, positive: bool = False) -> str:
        names = [n for n in self._names(int) if n != other]
        if names and not positive and self.rng.random() < 0.5:
            return self.rng.choice(names)
        return str(self.rng.randint(2, 5) if positive else self.rng.randint(1, 5))

    def _names(self, kind: type) -> list[str]:
        return [n for n, v in self.env.items() if type(v) is kind and n not in ("i", "x")]

    def _filled(self, expression: str) -> str:
        return _NAME.sub(lambda m: repr(self.env[m.group()]), expression)

    def _run(self, code: str) -> None:
        exec(code, {"len": len, "sum": sum, "max": max}, self.env)
        for value in self.env.values():
            if (isinstance(value, int) and abs(value) > MOST) or (isinstance(value, (str, list)) and not 0 < len(value) <= LONGEST):
                raise _DeadEndError

    def _done(self, lines: Sequence[str], target: str, thought: str) -> None:
        self.lines += [f"    {line}" for line in lines]
        self.thoughts.append(thought)
        self.last = target
