"""Training rows for each paradigm from the same samples: the prompt that evaluation uses, and a true answer in its format.

``vanilla`` (all steps in one account), ``codereasoner`` (concise), ``semcoder`` (monologue of line comments), ``codeio`` (plain
words and a JSON object). Reasoning is told by rule from the true execution; every row's answer is read back by the
paradigm's own extraction before it is kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from ct_tasks import paradigms
from ct_tasks.contra import literals
from ct_tasks.contra.trace import Truth
from ct_tasks.paradigms import codeio
from ct_tasks.paradigms.base import Found, Problem
from ct_tasks.paradigms.tags import Tagged
from ct_train.data.steps import Row
from ct_train.prompts import problem_of, prompt
from ct_train.synth import narrate
from ct_train.synth.record import Record

BASELINES = ("vanilla", "codereasoner", "semcoder", "codeio")


def row(name: str, sample: Row, truth: Truth, completion: str, segmentation: str, **facts: object) -> Row:
    """One training row, as ``ct_train sft`` reads it."""
    return {
        "id": sample["id"],
        "sample": sample["sample"],
        "paradigm": name,
        "prompt": prompt(truth, name, segmentation),
        "completion": completion,
        "program": sample["program"],
        "entry": sample["entry"],
        "call": sample["call"],
        "output": sample["output"],
        **facts,
    }


def completion(name: str, truth: Truth, record: Record) -> str | None:
    """The answer in the format of ``name``; None when its own extraction does not read the true value from it."""
    asked = problem_of(truth)
    text = _WRITERS[name](asked, truth, record)
    found = paradigms.get(name).extract(text, asked)
    return text if isinstance(found, Found) and _right(found, truth) else None


def _right(found: Found, truth: Truth) -> bool:
    return literals.same(found.value, truth.returned)


def _tagged(name: str, reasoning: Callable[[Truth, Record], str]) -> Callable[[Problem, Truth, Record], str]:
    def write(asked: Problem, truth: Truth, record: Record) -> str:
        form = paradigms.get(name)
        assert isinstance(form, Tagged)
        answer = f"{form.opener}\n{form.wrapped(asked.assertion)}\n{form.closer}"
        return f"{form.lead}\n{reasoning(truth, record)}\n{form.lead_close}\n{answer}"

    return write


def _codeio(asked: Problem, truth: Truth, record: Record) -> str:
    value = truth.returned if codeio.expressible(truth.returned) else asked.output
    return f"{narrate.prose(truth)}\n{json.dumps({'output': value}, ensure_ascii=False)}"


_WRITERS: Mapping[str, Callable[[Problem, Truth, Record], str]] = {
    "vanilla": _tagged("vanilla", narrate.account),
    "codereasoner": _tagged("codereasoner", lambda truth, record: narrate.concise(truth)),
    "semcoder": _tagged("semcoder", narrate.monologue),
    "codeio": _codeio,
}
