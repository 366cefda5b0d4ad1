"""Questions about one run, each with one right literal: rounds of a loop, branch taken, first line that raises, a variable."""

from __future__ import annotations

import ast
import random
from dataclasses import dataclass

from ct_tasks.benchmarks.fresh.pool import Seen
from ct_tasks.contra import literals
from ct_tasks.contra.trace import Truth

TIMES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


@dataclass(frozen=True, slots=True)
class Question:
    """``text`` for the model, ``answer`` as literal text."""

    text: str
    answer: str


def trips(seen: Seen, rng: random.Random) -> Question | None:
    """Rounds of one loop over the whole call, more often of a loop whose rounds are not just a length; None for a program
    without a loop that runs."""
    loops = [pair for pair in seen.trips if pair[1]]
    if not loops:
        return None
    uneven = [pair for pair in loops if pair[0] in _uneven(seen.draft.code)]
    line, count = rng.choice(uneven if uneven and rng.random() < 0.75 else loops)
    text = (
        f"How many rounds does the loop in line {line} make in all during this call? A round counts when its body begins, also "
        "when it ends early; if the loop is started several times, add its rounds up. Answer with a number."
    )
    return Question(text, str(count))


def branch(seen: Seen, rng: random.Random) -> Question | None:
    """The branch of one ``if`` at one of the times it is reached; "no branch" is kept to about a quarter of the answers."""
    reached = [pair for pair in seen.branches if pair[1]]
    if not reached:
        return None
    line, taken = rng.choice(reached)
    times = range(min(len(taken), len(TIMES)))
    ran = [time for time in times if taken[time] is not None]
    time = rng.choice(ran if ran and rng.random() < 0.6 else times)
    text = (
        f"The if statement in line {line} (with its elif and else, if any) is reached for the {TIMES[time]} time. Which "
        "branch runs then? Answer with the number of the branch's first line, or None if no branch runs."
    )
    return Question(text, repr(taken[time]))


def raises(seen: Seen, rng: random.Random) -> Question | None:
    """The line of the first exception, caught or not; None for a program in which nothing is ever caught."""
    if "    try:" not in seen.draft.code:
        return None
    text = (
        "In which line is the first exception of this call raised? It counts also if the program catches it. Name the line "
        "that raises, not the line that calls it. Answer with a number, or None if nothing raises."
    )
    return Question(text, repr(seen.raised))


def state(seen: Seen, truth: Truth, rng: random.Random) -> Question | None:
    """A variable of the entry function after one of its blocks; one that the block changed, and where there is a choice the
    block is a loop, a branch or a ``try``, not a mere assignment."""
    start = _line_of(seen)
    choices = []
    before: dict[str, object] = {}
    for block in truth.blocks[:-1]:
        now = dict(block.locals)
        changed = [n for n, v in now.items() if n not in before or not literals.same(before[n], v)]
        choices += [(block, name, now[name]) for name in changed if block.start]
        before = now
    short = [c for c in choices if len(literals.dump(c[2])) <= 200]
    if not short:
        return None
    block, name, value = rng.choice([c for c in short if len(c[0].lines) > 1] or short)
    first, last = start + block.start, start + block.stop - 1
    where = f"line {first}" if first == last else f"the statement in lines {first} to {last}"
    text = (
        f"What is the value of `{name}` at the moment when {where} has run, before line {last + 1} begins? Answer with the "
        "value as a Python literal."
    )
    return Question(text, literals.dump(value))


def _line_of(seen: Seen) -> int:
    """The line of the entry function's def."""
    tree = ast.parse(seen.draft.code)
    return next(n.lineno for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == seen.draft.entry)


def _uneven(code: str) -> set[int]:
    """Lines of the loops that go on while a condition holds, may be left early, or stand in another loop or a helper."""
    found: set[int] = set()
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.While)):
            inner = [n.lineno for child in node.body for n in ast.walk(child) if isinstance(n, (ast.For, ast.While))]
            early = any(isinstance(n, (ast.Break, ast.Raise)) for n in ast.walk(node))
            found.update(inner, [node.lineno] if early or isinstance(node, ast.While) else [])
    for helper in tree.body[:-1]:
        found.update(n.lineno for n in ast.walk(helper) if isinstance(n, (ast.For, ast.While)))
    return found
