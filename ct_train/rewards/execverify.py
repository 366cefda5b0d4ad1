"""ExecVerify's white-box reward (2603.11226; its reward is gated on the outcome, the reverse of CodeThinker).

A wrong assertion earns 0; else 2 · (0.5 + 0.5 · share of white-box answers right); a wrong number of answers earns 1. In
its own format the reply lists one answer a line, to the questions that its training prompt asks (``ct_train.prompts``);
where the program cannot be followed none is asked, and the assertion is all there is to get right. On a ConTra rollout the
same state questions are read off its LOCALS, one (block, variable) a question, each judged on its own: that is the
multi-objective reading of the paper's appendix E.

Two faults of the published code are not copied: an assertion that compares a call with itself is not an answer, and a
value is compared as a typed value, never as a cut repr.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ct_tasks.contra import literals
from ct_tasks.contra.literals import LiteralError
from ct_tasks.contra.parser import parse_lenient, parse_strict
from ct_tasks.contra.scoring import score_trace
from ct_tasks.contra.trace import Truth
from ct_train.rewards.answers import assertion_right, is_contra, xml_answers
from ct_train.rewards.base import RewardResult, Sample
from ct_train.rewards.codethinker import from_trace

QUESTIONS = 5


@dataclass(frozen=True, slots=True)
class ExecVerify:
    """``questions`` state questions are drawn for a ConTra rollout with ``seed`` and the call, so always the same ones."""

    questions: int = QUESTIONS
    seed: int = 0

    def score(self, sample: Sample) -> RewardResult:
        found = score_trace(sample.shown, sample.truth)
        if is_contra(sample.shown):
            share = self._share_of_locals(sample)
            right = parse_strict(sample.shown).ok and found.answer_right
        else:
            answers = xml_answers(sample.shown)
            right = bool(answers) and assertion_right(answers[0], sample.truth)  # type: ignore[index]
            share = _share_of_answers(answers or [], sample.questions)
        return from_trace(found, 2.0 * (0.5 + 0.5 * share) if right else 0.0, whitebox=share)

    def _share_of_locals(self, sample: Sample) -> float:
        asked = state_questions(sample.truth, self.questions, self.seed)
        blocks = parse_lenient(sample.shown).blocks
        hits = 0
        for block, name in asked:
            state = blocks[block].locals if block < len(blocks) else None
            true = sample.truth.blocks[block].locals[name]
            hits += state is not None and name in state and literals.same(state[name], true)
        return hits / len(asked) if asked else 1.0


def state_questions(truth: Truth, count: int, seed: int) -> list[tuple[int, str]]:
    """Up to ``count`` (block, variable) pairs whose value the trace fixes; the draw depends on seed, program and call."""
    pairs = [(t, name) for t, block in enumerate(truth.blocks) for name in block.locals]
    draw = random.Random(f"{seed}\x00{truth.program.source}\x00{truth.call}")
    return sorted(draw.sample(pairs, min(count, len(pairs))))


def _share_of_answers(answers: Sequence[str], questions: Sequence[Mapping[str, Any]]) -> float:
    """Share of the white-box answers that are right; the first line is the assertion. A wrong number of lines counts 0."""
    if len(answers) != len(questions) + 1:
        return 0.0
    if not questions:
        return 1.0
    return sum(_answers(answer, q) for answer, q in zip(answers[1:], questions, strict=True)) / len(questions)


def _answers(answer: str, question: Mapping[str, Any]) -> bool:
    accepted: Sequence[str] = question["accepted"]
    if question["kind"] == "next_line":
        return answer.strip() in {text.strip() for text in accepted}
    if answer.strip() == "Nil":
        return "Nil" in accepted
    value_text, separator, kind = answer.rpartition(";")
    if not separator:
        return False
    try:
        value = literals.parse(value_text)
    except LiteralError:
        return False
    if type(value).__name__ != kind.strip():
        return False
    return any(text != "Nil" and _is(value, text) for text in accepted)


def _is(value: object, text: str) -> bool:
    try:
        return literals.same(value, literals.parse(text))
    except LiteralError:  # an observed value too large to be read back: no answer equals it
        return False
