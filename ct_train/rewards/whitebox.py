"""White-box questions about one call, from its true line-by-line execution, seeded.

``questions_hook`` EXECUTES the program and belongs into a sandboxed child; ``questions_for`` sends it there. At most
five questions about the next line (its source text, or -1) and five about a variable's value and type after a line
(``value; type``, or Nil), as ExecVerify asks them. No question is asked whose right answers are not all known: none about a
run of more than ``MAX_EVENTS`` lines, and none about a value that is written as another type than it has (a deque as a list).
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any

from ct_tasks.contra import literals
from ct_tasks.contra.program import normalise
from ct_tasks.contra.trace import Truth
from ct_tasks.errors import HarnessError
from ct_tasks.execution.jobs import Job, Limits, Result

MAX_EVENTS = 2_000
_OTHER = ""  # stands for a value whose literal has another type; no literal is empty


def questions_for(
    truths: Sequence[Truth], *, seed: int = 0, run: Callable[[Sequence[Job]], list[Result]] | None = None
) -> list[tuple[Mapping[str, Any], ...]]:
    """Questions for each call, in order; none where the program cannot be followed. Raises ``HarnessError``."""
    if run is None:
        from ct_tasks.execution.pool import shared_pool

        run = shared_pool().run
    hook = "ct_train.rewards.whitebox:questions_hook"
    jobs = [
        Job(code="", hook=hook, payload={**t.to_json(), "seed": seed}, limits=Limits(), id=str(i))
        for i, t in enumerate(truths)
    ]
    found: list[tuple[Mapping[str, Any], ...]] = []
    for result in run(jobs):
        if result.status == "harness_error":
            raise HarnessError(f"the sandbox failed while asking white-box questions: {result.error}")
        found.append(tuple(json.loads(result.value)) if result.status == "ok" and result.value else ())
    return found


def answer(question: Mapping[str, Any]) -> str:
    """A right answer to a question, as a reply writes it."""
    text = str(question["accepted"][0])
    if question["kind"] == "next_line" or text == "Nil":
        return text
    return f"{text}; {type(literals.parse(text)).__name__}"


def questions_hook(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Follow ``payload`` (a ``Truth`` as JSON, plus ``seed``) line by line and ask about it."""
    truth = Truth.from_json(payload)
    steps = _follow(truth)
    if len(steps) >= MAX_EVENTS:
        return []
    program, draw = truth.program, random.Random(f"{payload['seed']}\x00{truth.program.source}\x00{truth.call}")
    following: dict[int, list[str]] = {}
    values: dict[tuple[int, str], list[str]] = {}
    for (line, before), after in zip(steps, [*steps[1:], None], strict=True):
        if line < 0:
            continue
        following.setdefault(line, []).append(program.lines[after[0]] if after is not None and after[0] >= 0 else "-1")
        for name, text in (after[1] if after is not None else {}).items():
            if before.get(name) != text:
                values.setdefault((line, name), []).append(text)
    asked: list[dict[str, Any]] = []
    for line in sorted(draw.sample(sorted(following), min(5, len(following)))):
        question = f"what line is executed immediately after line {line} ({program.lines[line].strip()})?"
        asked.append({"kind": "next_line", "question": question, "accepted": list(dict.fromkeys(following[line]))})
    known = sorted(place for place, texts in values.items() if _OTHER not in texts)
    for line, name in sorted(draw.sample(known, min(5, len(known)))):
        question = (
            f"what are the value and type of {name} after line {line} ({program.lines[line].strip()}) is executed?"
        )
        asked.append({"kind": "state", "question": question, "accepted": list(dict.fromkeys(values[line, name]))})
    return asked


def _follow(truth: Truth) -> list[tuple[int, dict[str, str]]]:
    """(line, locals before it) for each executed line of the entry function's outermost activation; -1 at its return."""
    program = normalise(truth.program.runnable, truth.program.entry)
    module = compile(program.runnable, "<program>", "exec", dont_inherit=True)
    namespace: dict[str, Any] = {"__name__": "__program__"}
    exec(module, namespace)
    steps: list[tuple[int, dict[str, str]]] = []
    watched: list[FrameType] = []

    def state(frame: FrameType) -> dict[str, str]:
        found = {}
        for name, value in frame.f_locals.items():
            if type(name) is not str or name.startswith("."):
                continue
            try:
                plain = literals.plain(value, budget=literals.MAX_TEXT)
                if plain is not literals.OMIT:
                    found[name] = literals.dump(plain) if type(plain) is type(value) else _OTHER
            except literals.LiteralError:  # too large to be asked about
                found[name] = _OTHER
        return found

    def on_event(frame: FrameType, event: str, arg: object) -> Any:
        if event in ("line", "return") and len(steps) < MAX_EVENTS:
            line = frame.f_lineno - 1 - program.offset
            steps.append((line if event == "line" and 0 <= line < len(program.lines) else -1, state(frame)))
        return on_event

    def on_call(frame: FrameType, event: str, arg: object) -> Any:
        code = frame.f_code
        if not watched and code.co_name == program.entry and code.co_filename == "<program>":
            watched.append(frame)
            return on_event
        return None

    previous = sys.gettrace()
    sys.settrace(on_call)
    try:
        eval(compile(truth.call, "<call>", "eval", dont_inherit=True), namespace)
    finally:
        sys.settrace(previous)
    return steps
