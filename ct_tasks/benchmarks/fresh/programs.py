"""Programs from a seed: text alone, nothing runs here.

A program is an entry function with up to three parameters, a few variables, pieces of work (``blocks_*``) and a return of what
was worked out, below the helpers that it calls (``helpers``). Everything follows from (seed, number, dials), so that any
program can be made again alone. Training and editions are two sides of a split by the program's fingerprint, so that no
seed, past or future, can bring an edition's program into training data.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ct_tasks.benchmarks.fresh import blocks_errors, blocks_numbers, blocks_text, editions, helpers
from ct_tasks.benchmarks.fresh.dials import Dials, Setting
from ct_tasks.benchmarks.fresh.fingerprint import fingerprint
from ct_tasks.benchmarks.fresh.scope import KINDS, NoFitError, Scope, indent, listed
from ct_tasks.contra import literals
from ct_tasks.errors import ConfigError

Block = Callable[[Scope], list[str]]
BLOCKS: tuple[Block, ...] = (*blocks_numbers.ALL, *blocks_text.ALL, *blocks_errors.ALL)
VERBS = listed(
    "arrange assess audit build check collect combine count grade inspect measure plan process review settle sort"
)
NOUNS = listed("batch basket board club fleet garden ledger market order parcel queue record route shelf station trip")
TRAINING_SHARE = 4  # one program in four is on the training side


@dataclass(frozen=True, slots=True)
class Draft:
    """A program that has not been run yet. ``number`` counts the draws of its seed, drafts of the other side included."""

    number: int
    code: str
    entry: str
    call: str
    setting: Setting


def stream(seed: int, dials: Dials | None = None, *, training: bool = False) -> Iterator[Draft]:
    """Endless drafts of one side of the split, no two alike up to their names.

    Raises ``ConfigError`` for training programs from the seed of an edition.
    """
    if training and editions.is_reserved(seed):
        raise ConfigError(
            f"seed {seed} is that of ct_fresh's edition {editions.of_seed(seed)}: train on programs of another seed"
        )
    dials = dials or Dials()
    seen: set[str] = set()
    number = 0
    while True:
        draft = make(seed, number, dials)
        number += 1
        if draft is None:
            continue
        mark = fingerprint(draft.code)
        if on_training_side(mark) == training and mark not in seen:
            seen.add(mark)
            yield draft


def on_training_side(mark: str) -> bool:
    """Whether a program with this fingerprint may be trained on."""
    return int(mark[:8], 16) % TRAINING_SHARE == 0


def make(seed: int, number: int, dials: Dials) -> Draft | None:
    """The draft of that number, or None where its draw led nowhere."""
    rng = random.Random(f"ct_fresh {seed} {number}")
    scope = Scope(rng, dials.draw(rng))
    call = _parameters(scope)
    head = ", ".join(scope.kinds)
    entry = f"{rng.choice(VERBS)}_{rng.choice(NOUNS)}"
    defined: list[str] = []
    parts: list[list[str]] = [[_variable(scope)] for _ in range(scope.setting.state)]
    helped = rng.randrange(scope.setting.blocks) if scope.setting.depth else -1
    left = rng.sample(BLOCKS, len(BLOCKS))
    for place in range(scope.setting.blocks):
        if place == helped:
            try:
                defined, lines = helpers.use(scope)
            except NoFitError:
                return None
        else:
            lines = _next(scope, left)
        parts.append(lines)
    for _ in range(scope.setting.dead):
        parts.insert(rng.randint(0, len(parts) - 1), [_dead(scope, head)])
    body = [line for part in parts for line in part]
    code = "\n".join([*defined, f"def {entry}({head}):", *indent([*body, _return(scope)])])
    return Draft(number, code, entry, f"{entry}({call})", scope.setting)


def _next(scope: Scope, left: list[Block]) -> list[str]:
    """Lines of the first block that finds the variables it needs; blocks are used once until all have been."""
    for block in list(left):
        known = dict(scope.kinds), set(scope.taken), list(scope.recent)
        try:
            lines = block(scope)
        except NoFitError:
            scope.kinds, scope.taken, scope.recent = known
            continue
        left.remove(block)
        return lines
    left.extend(BLOCKS)
    return _next(scope, left)


def _parameters(scope: Scope) -> str:
    """Parameters of different kinds, one of them a list; the arguments of the call."""
    kinds = [scope.rng.choice(("ints", "ints", "words"))]
    kinds += scope.rng.sample([k for k in KINDS if k not in kinds], scope.rng.choice((1, 2, 2)))
    scope.rng.shuffle(kinds)
    values = {scope.new(kind): scope.value(kind) for kind in kinds}
    return ", ".join(literals.dump(value) for value in values.values())


def _variable(scope: Scope) -> str:
    """An assignment that sets up one more variable."""
    numbers, texts = scope.of("ints"), scope.of("words", "str")
    kind = scope.rng.choice(("int", "int", "str", "ints"))
    if kind == "int":
        name = scope.rng.choice(scope.of("ints", "words", "str", "counts"))
        value = scope.rng.choice((str(scope.number()), f"len({name})", f"len({name}) * {scope.small()}"))
    elif kind == "str":
        value = repr(scope.word())
        if texts:
            name = scope.rng.choice(texts)
            value = f"''.join({name})" if scope.kinds[name] == "words" else scope.on_word(name)
    else:
        value = f"[{', '.join(str(scope.number()) for _ in range(scope.setting.trips))}]"
        if numbers:
            value = f"{scope.rng.choice(numbers)}{scope.rng.choice(('[1:]', '[::-1]', f' + [{scope.number()}]'))}"
    return f"{scope.new(kind)} = {value}"


def _dead(scope: Scope, head: str) -> str:
    """A variable that nothing uses: made of a parameter, so that it can stand anywhere."""
    source = scope.rng.choice(head.split(", "))
    value = f"{source} + {scope.number()}" if scope.kinds[source] == "int" else f"len({source}) * {scope.number()}"
    return f"{scope.name('spare', 'backup', 'draft', 'hint', 'stamp', 'shadow')} = {value}"


def _return(scope: Scope) -> str:
    """What the program gives back: what was written last, and something from before."""
    names = scope.recent[::-1]
    chosen = [names[0], *scope.rng.sample(names[1:], min(len(names) - 1, scope.rng.choice((1, 1, 2, 3))))]
    if len(chosen) > 1 and scope.rng.random() < 0.2:
        return f"return {{{', '.join(f'{n!r}: {n}' for n in chosen)}}}"
    return f"return {', '.join(chosen)}"
