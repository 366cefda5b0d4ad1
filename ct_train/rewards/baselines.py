"""Outcome-only rewards of the baselines, and the format alone.

On a ConTra rollout (an ablation at equal format) the outcome is its RETURN; in the baseline's own format it is that
format's answer.
"""

from __future__ import annotations

from dataclasses import dataclass

from ct_tasks.contra.parser import parse_strict
from ct_tasks.contra.scoring import score_trace
from ct_train.rewards.answers import assertion_right, is_contra, thought_answer
from ct_train.rewards.base import RewardResult, Sample
from ct_train.rewards.codethinker import from_trace


@dataclass(frozen=True, slots=True)
class CodeReasoner:
    """2 when the format holds and the final assertion is right, else 0 (paper appendix E). The trace is not looked at."""

    def score(self, sample: Sample) -> RewardResult:
        found = score_trace(sample.shown, sample.truth)
        if is_contra(sample.shown):
            right = parse_strict(sample.shown).ok and found.answer_right
        else:
            answer = thought_answer(sample.shown)
            right = answer is not None and assertion_right(answer, sample.truth)
        return from_trace(found, 2.0 * right)


@dataclass(frozen=True, slots=True)
class Cwm:
    """+1 for the right answer at the end, -1 otherwise (CWM's verifiable reward)."""

    def score(self, sample: Sample) -> RewardResult:
        found = score_trace(sample.shown, sample.truth)
        if is_contra(sample.shown):
            right = found.answer_right
        else:
            _, _, tail = sample.shown.rpartition("<|arg_sep|>")
            value = tail.split("<|")[0].strip()
            right = (
                bool(value)
                and "<|return_sep|>" in sample.shown
                and assertion_right(f"assert {sample.truth.program.entry}() == {value}", sample.truth)
            )
        return from_trace(found, 1.0 if right else -1.0)


@dataclass(frozen=True, slots=True)
class FormatOnly:
    """2 for a text that passes δ_fmt against the true trace, else 0: what format alone teaches."""

    def score(self, sample: Sample) -> RewardResult:
        found = score_trace(sample.shown, sample.truth)
        return from_trace(found, 2.0 * found.fmt)
