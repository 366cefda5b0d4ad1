"""REval-CO: complete the asserts of a class's test, 294 inputs of the official task set.

A reply is the test code with each ``??`` replaced. Strictly, everything else has to be as it was, each replacement has to
be a literal (or the very expression that was masked), and its value has to be what the run shows: never executed, compared
by type and value. ``acc_official`` runs the completed test in the sandbox, as the published scorer does, with its checks
against trivial asserts.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ct_tasks.benchmarks.base import Answer, Benchmark, Domain, Generation, Item
from ct_tasks.benchmarks.codegen.values import Opaque, load
from ct_tasks.benchmarks.reval import dataset, flexible, layout, truth
from ct_tasks.benchmarks.reval.child import masked_call, masked_position
from ct_tasks.contra import literals
from ct_tasks.execution.jobs import Job
from ct_tasks.options import TaskOptions
from ct_tasks.paradigms.base import Missed
from ct_tasks.paradigms.readings import status_of
from ct_tasks.score import Score

ROWS = 294
ASK = "Replace each ?? in the test code by the value that makes it pass. The answer is the whole test code."
EXAMPLE = layout.Example("", "7 is odd, so line 3 makes n equal to 8, and 8 // 2 is 4.", "assertEqual(halve(7), 4)")
_TRIVIAL = ("assertTrue(True)", "assertFalse(False)", "assert True", "assert False")
NOT_PYTHON = "the answer is not Python"
_PLACES = 7  # assertAlmostEqual's default


class RevalCO(Benchmark):
    """``ct_reval_co``."""

    name = "ct_reval_co"
    version: int = 2  # 2: read in two ways, with statuses for answers that are no value and for lost tags
    domain: ClassVar[Domain] = "reval"
    default_shots: ClassVar[int] = 1
    source = dataset.TASKS
    paradigms = ("direct", "cot")

    def items(self, options: TaskOptions) -> list[Item]:
        return [Item(i.id, {"masked": i.masked}, group=i.row["task_id"]) for i in truth.inputs() if i.is_class]

    def bad_references(self, options: TaskOptions) -> Mapping[str, str]:
        return {i: why for i, why in truth.truth(options)["failed"].items() if i in {x.id for x in truth.inputs() if x.is_class}}

    @staticmethod
    def _input(item: Item) -> truth.Input:
        return next(i for i in truth.inputs() if i.id == item.id)

    def prompt(self, item: Item, options: TaskOptions, *, chat: bool) -> str:
        given = self._input(item)
        setup = layout.setup_of(given)
        before = f"# executed before the test:\n{setup}\n" if setup else ""
        return layout.build(ASK, EXAMPLE, str(given.row["code"]).rstrip("\n"), f"{before}# test code\n{given.masked}", "", options,
                            chat=chat).replace("\nhalve(7)\n[/PYTHON]", "\n# test code\nassertEqual(halve(7), ??)\n[/PYTHON]", 1)

    def generation(self, options: TaskOptions) -> Generation:
        return layout.generation(options)

    def gold(self, item: Item, options: TaskOptions) -> str:
        return layout.wrap(str(self._input(item).row["inputs"][self._input(item).number]).rstrip(), "The run shows it.", options)

    def hostile(self, item: Item, options: TaskOptions) -> Mapping[str, str]:
        masked = str(item.data["masked"])
        always = "type('A', (), {'__eq__': lambda s, o: True, '__contains__': lambda s, o: True})()"
        texts = {
            "empty": "", "as_given": masked, "always_equal": masked.replace("??", always),
            "wrong": masked.replace("??", "'?!'"), "trivial": "assertEqual(1, 1)",
            "leave": "raise SystemExit(0)\n" + masked.replace("??", "None"),
            "swallow": "try:\n    pass\nexcept Exception:\n    pass",
            "call": masked.replace("??", "__import__('os').getpid()"),
        }
        return {kind: layout.wrap(text, "?", options) if text else "" for kind, text in texts.items()}

    def score(self, answers: Sequence[Answer], options: TaskOptions) -> list[Score]:
        verdicts = self._official(answers, options)
        asserted = truth.truth(options)["asserted"]
        scores = []
        for answer, verdict in zip(answers, verdicts, strict=True):
            given = self._input(answer.item)
            seen = asserted[given.id]["asserts"]
            score = _judge(answer, layout.find(answer, options), given, seen)
            shown = answer.text if answer.extracted else layout.shown(answer)
            masked, cut = str(answer.item.data["masked"]), bool(answer.truncated)
            read = shown if isinstance(shown, Missed) else flexible.completed_test(shown, masked, truncated=cut)
            loose = _judge(answer, read, given, seen)
            if loose.status not in ("right", "wrong") and score.status in ("right", "wrong"):
                loose = score
            scores.append(replace(score, acc_official=verdict, status_flexible=loose.status,
                                  answer_flexible=loose.answer if loose.status in ("right", "wrong") else None))
        return scores

    def _official(self, answers: Sequence[Answer], options: TaskOptions) -> list[bool]:
        jobs: list[Job] = []
        places: list[int | None] = []
        for answer in answers:
            text = _published_text(answer.text, str(answer.item.data["masked"]), layout.cot(options))
            if text is None:
                places.append(None)
                continue
            places.append(len(jobs))
            given = self._input(answer.item)
            payload = {**given.payload, "text": text}
            jobs.append(Job("", hook=truth.hook_of(given, "complete"), payload=payload, limits=truth.LIMITS))
        results = truth.run(jobs, options)
        return [place is not None and results[place].status == "ok"
                and bool(json.loads(results[place].value or "{}").get("passed")) for place in places]


def _judge(answer: Answer, found: str | Missed, given: truth.Input, asserted: Sequence[Sequence[Any]]) -> Score:
    if isinstance(found, Missed):
        return Score(status_of(found, answer), found.text, reason=found.reason)
    reason = compare(found, given.row["inputs"][given.number], asserted)
    return Score("right" if not reason else "unreadable" if reason == NOT_PYTHON else "wrong", found, reason=reason)


def _published_text(text: str, masked: str, cot: bool) -> str | None:
    """``Output._postprocess`` and its padding by the first lines of the question; ``None`` where it refuses to run the text."""
    if cot and "[/THOUGHT]" not in text:
        return None
    at = text.find("[ANSWER]")
    answer = text[at + 8:].strip() if at != -1 else text
    for closer in ("[/ANSWER]", "[/ANSWER"):
        at = answer.find(closer)
        if at != -1:
            answer = answer[:at].strip()
    asked, given = masked.strip().split("\n"), answer.strip().split("\n")
    if len(given) < len(asked):
        answer = "\n".join(asked[:len(asked) - len(given)] + given)
    refused = any(trivial in answer for trivial in _TRIVIAL) or answer.count("assert") < masked.count("assert")
    return None if refused else answer


def compare(answer: str, original: str, asserted: Sequence[Sequence[Any]]) -> str:
    """Why a completed test is wrong, or ``""``. ``asserted``: name, masked position and argument values of each assert."""
    text = answer.strip().removeprefix("```python").removeprefix("```").removesuffix("```").strip()
    try:
        literals.guard(text)
        said = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return NOT_PYTHON
    try:
        return _compare(said, ast.parse(original).body, asserted)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:  # a number beyond a float, too many digits to write
        return f"the answer cannot be compared: {error}"[:200]


def _compare(said: list[ast.stmt], true: list[ast.stmt], asserted: Sequence[Sequence[Any]]) -> str:
    if len(said) < len(true):  # only the last lines were repeated, as the published scorer allows
        said = [*true[:len(true) - len(said)], *said] if not any(map(masked_call, true[:len(true) - len(said)])) else said
    if len(said) != len(true):
        return "the answer has other statements than the test"
    number = 0
    for mine, theirs in zip(said, true, strict=True):
        call = masked_call(theirs)
        if call is None:
            if ast.dump(mine) != ast.dump(theirs):
                return f"changed: {ast.unparse(theirs)[:100]}"
            continue
        given = masked_call(mine)
        position = masked_position(call)
        if given is None or len(given.args) != len(call.args):
            return f"changed: {ast.unparse(theirs)[:100]}"
        literal = given.args[position]
        same_expression = ast.dump(literal) == ast.dump(call.args[position])
        given.args[position] = call.args[position]
        if ast.dump(given) != ast.dump(call):
            return f"changed: {ast.unparse(theirs)[:100]}"
        if not same_expression and (why := _wrong(literal, call, position, asserted[number])):
            return why
        number += 1
    return ""


def _wrong(literal: ast.expr, call: ast.Call, position: int, seen: Sequence[Any]) -> str:
    try:
        value = literals.from_node(literal)
    except literals.LiteralError:
        return f"not a literal: {ast.unparse(literal)[:100]}"
    name, _, values = seen
    true = [load(v[0]) for v in values[:2] if v is not None]
    if name == "assertAlmostEqual" and position == 1 and isinstance(value, (int, float)) and not isinstance(value, bool):
        named = {k.arg: ast.literal_eval(k.value) for k in call.keywords if k.arg in ("delta", "places")}
        gap = abs(true[0] - value)
        close = gap <= named["delta"] if "delta" in named else round(gap, named.get("places", _PLACES)) == 0
        return "" if close else f"{value!r} is not {true[0]!r}"
    wanted = true if name == "assertEqual" else [true[position]]
    if any(not isinstance(w, Opaque) and literals.same(w, value) for w in wanted):
        return ""
    return f"{value!r} is not {wanted[0]!r}"[:200]
