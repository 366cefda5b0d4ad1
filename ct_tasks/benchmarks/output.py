"""Output prediction: one benchmark class and one scorer for CRUXEval-O, LiveCodeBench execution, REval-FO and the bundled set.

A reply goes through its paradigm's extraction; the answer is read as a literal and compared by type and value, never
executed (``acc``). Beside it stand what a careful person takes as the answer (``acc_flexible``) and the published scorer's
verdict (``acc_official``). For ConTra the trace is scored
against the true one, which the sandbox makes once for each call.
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, cast

from ct_tasks import paradigms
from ct_tasks.benchmarks import official
from ct_tasks.benchmarks.base import Answer, Benchmark, Domain, Generation, Item
from ct_tasks.contra import literals
from ct_tasks.contra.literals import Containers
from ct_tasks.contra.scoring import RewardOptions, TraceScore, score_trace
from ct_tasks.contra.trace import Truth
from ct_tasks.errors import ConfigError, DataError, TraceError, UnknownNameError
from ct_tasks.execution.jobs import Job, Result
from ct_tasks.execution.tracing import Call, trace_all
from ct_tasks.options import PARADIGMS, TaskOptions
from ct_tasks.paradigms.base import Extraction, Found, Layout, Missed, Paradigm, Problem, visible
from ct_tasks.paradigms.readings import Readings, readings, status_of
from ct_tasks.score import Score, Status

log = logging.getLogger(__name__)
_CHUNK = 64  # traces made at once when gold texts are asked for one by one
_NO_TRACE: dict[str, float | None] = dict.fromkeys(("rcs", "fmt", "r_proc", "r_res", "reward", "hack"))


@dataclass(frozen=True, slots=True)
class _Verdict:
    """The strict half of a score, which depends on the text and the problem alone."""

    score: Score
    claim_text: str
    value: Found | None = None


class PredictionBenchmark(Benchmark):
    """What output and input prediction share: items that hold a program and a call, prompts, sampling."""

    version: int = 2  # 2: read in two ways, with statuses for answers that are no value and for lost tags
    default_paradigm: ClassVar[str] = "contra"
    rules: ClassVar[official.Rules | None] = None
    prelude: ClassVar[str] = ""
    """Standing imports of the benchmark, executed before a program and not shown to the model."""

    @abstractmethod
    def load(self) -> list[Item]:
        """All items; ``data`` holds ``code``, ``entry``, ``call`` and ``output``. Raises ``DataError``."""

    def items(self, options: TaskOptions) -> list[Item]:
        return self.load()

    def problem(self, item: Item) -> Problem:
        """The item as a paradigm sees it."""
        data = item.data
        side = "input" if self.domain == "input" else "output"
        return Problem(data["code"], data["entry"], data["call"], data["output"], side)  # type: ignore[arg-type]

    def paradigm(self, options: TaskOptions) -> Paradigm:
        """Raises ``UnknownNameError`` for one that this task does not have."""
        name = options.paradigm or self.default_paradigm
        if name not in self.paradigms:
            raise UnknownNameError(f"paradigm of {self.name}", name, self.paradigms)
        return paradigms.get(name)

    def layout(self, options: TaskOptions, *, chat: bool) -> Layout:
        """Raises ``ConfigError`` where the paradigm has no such number of worked examples."""
        most, shots = self.paradigm(options).max_shots, options.shots or 0
        if shots > most:
            raise ConfigError(f"{self.name}: paradigm {self.paradigm(options).name} has at most {most} shots, not {shots}")
        return Layout(shots, chat, options.segmentation)

    def prompt(self, item: Item, options: TaskOptions, *, chat: bool) -> str:
        return self.paradigm(options).prompt(self.problem(item), self.layout(options, chat=chat))

    def generation(self, options: TaskOptions) -> Generation:
        paradigm = self.paradigm(options)
        self.layout(options, chat=True)
        return Generation(
            until=paradigm.until,
            max_gen_toks=options.max_gen_toks or paradigm.max_gen_toks,
            temperature=options.temperature if options.temperature is not None else 0.0,
            top_p=options.top_p if options.top_p is not None else 1.0,
        )

    def hostile(self, item: Item, options: TaskOptions) -> Mapping[str, str]:
        from ct_tasks.benchmarks import hostile

        return hostile.texts(self.problem(item), self.paradigm(options).name)

    def run(self, options: TaskOptions, jobs: Sequence[Job]) -> list[Result]:
        """Jobs in the sandbox that the options name."""
        from ct_tasks.execution.pool import shared_pool

        return shared_pool(cast(Literal["local", "docker"], options.backend)).run(jobs)

    def readings(self, answer: Answer, problem: Problem, paradigm: Paradigm) -> Readings:
        """The answer in one text, read strictly and flexibly; a cut-off answer is none in either."""
        return readings(answer, problem, paradigm)

    def claim_text(self, answer: Answer, found: Extraction, paradigm: Paradigm) -> str:
        """The answer as the published scorer would get it: by its own extraction where it has the format."""
        if answer.extracted:
            return answer.text
        if paradigm.official:
            shown = visible(answer.text, answer.thinking)
            text = answer.text if isinstance(shown, Missed) else shown
            return official.postprocess(text, "input" if self.domain == "input" else "output", cot=paradigm.name == "cot")
        return found.text or ""


class OutputBenchmark(PredictionBenchmark):
    """The value of a call is asked for."""

    domain: ClassVar[Domain] = "output"
    paradigms: tuple[str, ...] = PARADIGMS

    def __init__(self) -> None:
        self._truths: dict[tuple[str, str, Call], Truth | TraceError] = {}

    def gold(self, item: Item, options: TaskOptions) -> str:
        paradigm = self.paradigm(options)
        if paradigm.name != "contra":
            return paradigm.gold(self.problem(item))
        key = (options.segmentation, options.containers, self._call(item))
        if key not in self._truths:
            everything = self.items(options)
            at = next((i for i, other in enumerate(everything) if other.id == item.id), None)
            self.truths(everything[at : at + _CHUNK] if at is not None else [item], options)
        truth = self._truths[key]
        if isinstance(truth, TraceError):
            raise truth
        return paradigm.gold(self.problem(item), truth)

    def truths(self, items: Sequence[Item], options: TaskOptions) -> list[Truth | TraceError]:
        """True traces of the items' calls; each call is traced once. A trace that returns another value than the benchmark
        says is no ground truth: it becomes a ``TraceError`` that says so, and a warning."""
        containers = cast(Containers, options.containers)
        keys = [(options.segmentation, options.containers, self._call(item)) for item in items]
        waiting = list(dict.fromkeys(key[2] for key in keys if key not in self._truths))
        made = trace_all(
            waiting,
            segmentation=options.segmentation,
            containers=containers,
            run=lambda jobs: self.run(options, jobs),
        )
        for call, truth in zip(waiting, made, strict=True):
            self._truths[(options.segmentation, options.containers, call)] = truth
        found: list[Truth | TraceError] = []
        for item, key in zip(items, keys, strict=True):
            truth = self._truths[key]
            if isinstance(truth, Truth) and (why := self._contradicts(item, truth)):
                log.warning("%s %s: %s", self.name, item.id, why)
                truth = TraceError(why)
            found.append(truth)
        return found

    def _contradicts(self, item: Item, truth: Truth) -> str:
        """Why the item's true value is not what the traced call returned, or ``""``."""
        try:
            if literals.same(truth.returned, self.value(item)):
                return ""
        except DataError as error:
            return str(error)
        return (
            f"the program returns {literals.dump(truth.returned)[:200]}, the data says {item.data['output'][:200]}; this "
            "Python or this data is not what the benchmark was made with."
        )

    def _call(self, item: Item) -> Call:
        return Call(item.data["code"], item.data["call"], item.data["entry"], self.prelude)

    def value(self, item: Item) -> object:
        """The true answer. Raises ``DataError`` for a reference that is no literal, or too large to be read."""
        try:
            return literals.parse(item.data["output"])
        except literals.LiteralError as error:
            raise DataError(f"{self.name} {item.id}: the reference output is no literal: {error}") from error

    def score(self, answers: Sequence[Answer], options: TaskOptions) -> list[Score]:
        paradigm = self.paradigm(options)
        traced: dict[str, Truth | TraceError] = {}
        if paradigm.name == "contra":
            asked = {a.item.id: a.item for a in answers if not a.extracted}
            traced = dict(zip(asked, self.truths(list(asked.values()), options), strict=True))
        seen: dict[tuple[str, str, bool, bool | None, bool], _Verdict] = {}
        golds: dict[str, object] = {}
        unread: dict[str, str] = {}
        for item in {a.item.id: a.item for a in answers}.values():
            try:
                golds[item.id] = self.value(item)
            except DataError as error:  # one reference that cannot be read costs its own item's verdicts alone
                unread[item.id] = str(error)
        found = []
        for answer in answers:
            key = (answer.item.id, answer.text, answer.extracted, answer.truncated, answer.thinking)
            if key not in seen:
                if answer.item.id in unread:
                    seen[key] = _Verdict(Score("harness_error", reason=unread[answer.item.id]), answer.text)
                else:
                    gold = golds[answer.item.id]
                    seen[key] = self._strict(answer, paradigm, options, gold, traced.get(answer.item.id))
            found.append(seen[key])
        return self._with_official(answers, found, options)

    def _strict(
        self, answer: Answer, paradigm: Paradigm, options: TaskOptions, gold: object, truth: Truth | TraceError | None
    ) -> _Verdict:
        read = self.readings(answer, self.problem(answer.item), paradigm)
        text = self.claim_text(answer, read.strict, paradigm)
        values, detail = _trace_values(answer, truth, options)
        status, reason = _judge(read.strict, gold, answer)
        flexible = status if read.flexible is read.strict else _judge(read.flexible, gold, answer)[0]
        score = Score(
            status,
            read.strict.text,
            reason=reason,
            values=values,
            detail=detail,
            status_flexible=flexible,
            answer_flexible=read.flexible.text if isinstance(read.flexible, Found) else None,
        )
        return _Verdict(score, text, read.strict if isinstance(read.strict, Found) else None)

    def _with_official(self, given: Sequence[Answer], found: list[_Verdict], options: TaskOptions) -> list[Score]:
        if self.rules is None:
            return [verdict.score for verdict in found]
        claims = []
        for answer, verdict in zip(given, found, strict=True):
            data = answer.item.data
            counted = answer.extra.get("published_verdicts")
            claims.append(
                official.Claim(answer.item.id, data["code"], data["call"], data["output"], verdict.claim_text, counted)
            )
        judged = official.verdicts(claims, self.rules, lambda jobs: self.run(options, jobs))
        made: dict[tuple[int, bool | None], Score] = {}  # equal texts share a verdict
        scores = []
        for verdict, claim, published in zip(found, claims, judged, strict=True):
            key = (id(verdict), published)
            if key not in made:
                made[key] = _combine(verdict, claim, published)
            scores.append(made[key])
        return scores


def _judge(found: Extraction, gold: object, answer: Answer) -> tuple[Status, str]:
    if isinstance(found, Missed):
        return status_of(found, answer), found.reason
    if literals.same(found.value, gold):
        return "right", ""
    if type(found.value) is not type(gold):
        return "wrong", f"a {type(found.value).__name__} where a {type(gold).__name__} is right"
    return "wrong", "another value"


def _combine(verdict: _Verdict, claim: official.Claim, published: bool | None) -> Score:
    score = verdict.score
    if published == score.acc:
        return replace(score, acc_official=published)
    values = {"given": verdict.value.value} if verdict.value is not None else {}
    why = official.explain(score.acc, published, claim, values)
    return replace(score, acc_official=published, reason="; ".join(part for part in (score.reason, why) if part))


def _trace_values(
    answer: Answer, truth: Truth | TraceError | None, options: TaskOptions
) -> tuple[Mapping[str, float | None], Mapping[str, Any]]:
    """The process metrics of a ConTra reply and the payload for the trace explorer."""
    if truth is None:
        return {}, {}
    if isinstance(truth, TraceError):
        return _NO_TRACE, {"trace_error": f"{type(truth).__name__}: {truth}"}
    shown = visible(answer.text, answer.thinking)
    score: TraceScore = score_trace(shown if isinstance(shown, str) else "", truth, RewardOptions(alpha=options.alpha))
    values = {
        "rcs": score.rcs,
        "fmt": float(score.fmt),
        "r_proc": score.r_proc,
        "r_res": score.r_res,
        "reward": score.reward,
        "hack": float(score.hack),
    }
    return values, {"trace": score.to_json()}
