"""ct_cruxeval_p: every program of CRUXEval in its original form and in five changed ones, each with the value of a real run.

Nothing is stored: the changes are made and run when the task loads, from CRUXEval's own rows and a seed. A change that
cannot be made, or is not what it claims to be, leaves its item out.
"""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Sequence
from itertools import islice
from typing import ClassVar

from ct_tasks.benchmarks import cruxeval
from ct_tasks.benchmarks.base import Generation, Item
from ct_tasks.benchmarks.output import OutputBenchmark
from ct_tasks.benchmarks.perturbed import changes
from ct_tasks.errors import HarnessError, UnknownNameError
from ct_tasks.execution.jobs import Job, Limits
from ct_tasks.options import TaskOptions

VARIANTS = ("original", "input", "rename", "mislead", "constants", "structure")
SAME_MEANING = ("rename", "mislead", "structure")
CHECKED, LEAST = 24, 20  # calls on which a variant of equal meaning has to agree, its own among them; at least so many
TRIES = 20  # candidates for a changed constant
LIMITS = Limits(cpu_s=5.0, wall_s=60.0)
Outcomes = list[tuple[str, str]]


class CruxEvalP(OutputBenchmark):
    """What does the call return? Items of one program share its id as their group; ``sample_7/rename`` is compared with
    ``sample_7/original``."""

    name = "ct_cruxeval_p"
    source = cruxeval.SOURCE
    seed: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self._made: dict[str, list[Item]] = {}

    def load(self) -> list[Item]:
        return self.items(TaskOptions())

    def items(self, options: TaskOptions) -> list[Item]:
        key = options.backend
        if key not in self._made:
            self._made[key] = self._make(cruxeval.load(), options)
        chosen = _chosen(options)
        return [item for item in self._made[key] if item.data["variant"] in chosen]

    def generation(self, options: TaskOptions) -> Generation:
        _chosen(options)  # refused before a model loads
        return super().generation(options)

    def _make(self, originals: Sequence[Item], options: TaskOptions) -> list[Item]:
        """All variants of these programs, in the order of the programs."""
        strict = [_inputs(item) for item in originals]
        calls = [_calls(item, made) for item, made in zip(originals, strict, strict=True)]
        code = [item.data["code"] for item in originals]
        true = self._outcomes(list(zip(code, calls, strict=True)), options)
        lost = [i for i, outcomes in enumerate(true) if not outcomes]  # on some other input it does not end
        for i, alone in zip(lost, self._outcomes([(code[i], calls[i][:1]) for i in lost], options), strict=True):
            true[i] = alone
        asked: list[tuple[str, list[str]]] = []
        place: list[tuple[int, str, str]] = []
        for i, item in enumerate(originals):
            rng = random.Random(f"ct_cruxeval_p {self.seed} {item.id}")
            made = [
                ("rename", changes.renamed(code[i], rng, misleading=False)),
                ("mislead", changes.renamed(code[i], rng, misleading=True)),
                ("structure", changes.restructured(code[i], rng)),
                *(("constants", text) for text in islice(changes.constants(code[i], rng), TRIES)),
            ]
            for variant, text in made:
                if text is not None and text != code[i]:
                    asked.append((text, calls[i] if variant in SAME_MEANING else calls[i][:1]))
                    place.append((i, variant, text))
        found = self._outcomes(asked, options)
        best: dict[tuple[int, str], Item] = {}
        for (i, variant, text), outcome in zip(place, found, strict=True):
            known = best.get((i, variant))
            better = known is None or (known.data["output"] == true[i][0][1] != outcome[0][1] if outcome else False)
            if better and _holds(variant, true[i], outcome):
                best[i, variant] = _item(originals[i], variant, text, calls[i][0], outcome[0][1])
        for i, item in enumerate(originals):
            if true[i] and true[i][0][0] == "value":
                best[i, "original"] = _item(item, "original", code[i], calls[i][0], item.data["output"])
            valued = [c for c in list(zip(calls[i], true[i], strict=False))[1:] if c[1][0] == "value"]
            shaped = [c for c in valued if c[0] in strict[i]] or valued  # an empty argument has no other of its shape
            other = next((c for c in shaped if c[1] != true[i][0]), shaped[0] if shaped else None)
            if other is not None:
                best[i, "input"] = _item(item, "input", code[i], other[0], other[1][1])
        return [best[i, variant] for i in range(len(originals)) for variant in VARIANTS if (i, variant) in best]

    def _outcomes(self, asked: Sequence[tuple[str, list[str]]], options: TaskOptions) -> list[Outcomes]:
        """What each program does with each of its calls; empty where the run as a whole failed."""
        hook = "ct_tasks.benchmarks.perturbed.child:outcomes"
        jobs = [Job("", hook=hook, payload={"source": text, "call": "\n".join(calls)}, limits=LIMITS) for text, calls in asked]
        found: list[Outcomes] = []
        for result in self.run(options, jobs):
            if result.status == "harness_error":
                raise HarnessError(f"the sandbox failed while running a changed program: {result.error}")
            rows = json.loads(result.value).get("outcomes", []) if result.status == "ok" and result.value else []
            found.append([(kind, text) for kind, text in rows])
        return found


def _chosen(options: TaskOptions) -> tuple[str, ...]:
    given = options.perturbations or VARIANTS
    for name in given:
        if name not in VARIANTS:
            raise UnknownNameError("perturbation", str(name), VARIANTS)
    return tuple(given)


def _inputs(item: Item) -> list[str]:
    """Distinct calls with arguments of the same type and shape, the program's own not among them."""
    own = item.data["call"]
    made = islice(changes.inputs(own, random.Random(f"ct_cruxeval_p inputs {item.id}")), 8 * CHECKED)
    return [call for call in dict.fromkeys(made) if call != own][: CHECKED - 1]


def _calls(item: Item, made: Sequence[str]) -> list[str]:
    """The program's own call and ``CHECKED`` - 1 others; where it has too few of the same shape, of any shape."""
    own = item.data["call"]
    if "\n" in own:
        own = ast.unparse(ast.parse(own, mode="eval"))
    more = islice(changes.loose(own, random.Random(f"ct_cruxeval_p loose {item.id}")), 8 * CHECKED)
    return list(dict.fromkeys([own, *made, *more]))[:CHECKED]


def _holds(variant: str, true: Outcomes, found: Outcomes) -> bool:
    """Whether a variant is what it claims to be: it gives a value for the call, and one of equal meaning has every outcome of the
    original."""
    if not true or not found or true[0][0] != "value" or found[0][0] != "value":
        return False
    return variant not in SAME_MEANING or (true == found and sum(kind != "none" for kind, _ in true) >= LEAST)


def _item(original: Item, variant: str, code: str, call: str, output: str) -> Item:
    data = {"code": code, "entry": "f", "call": call, "output": output, "variant": variant}
    return Item(f"{original.id}/{variant}", data, group=original.id)
