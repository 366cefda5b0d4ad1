"""The consistency reward (paper section 3.3, equations 3, 6 and 7) with the ablation switches of Table 2."""

from __future__ import annotations

from dataclasses import dataclass

from ct_tasks.contra.scoring import RewardOptions, TraceScore, score_trace
from ct_train.rewards.base import RewardResult, Sample


@dataclass(frozen=True, slots=True)
class CodeThinker:
    """R = α · R_proc + 1[R_proc = 2] · R_res; each switch off is one row of Table 2 (see ``RewardOptions``)."""

    alpha: float = 1.0
    prm: bool = True
    rcc: bool = True
    orm: bool = True
    ccw: bool = True

    def score(self, sample: Sample) -> RewardResult:
        options = RewardOptions(alpha=self.alpha, prm=self.prm, rcc=self.rcc, orm=self.orm, ccw=self.ccw)
        found = score_trace(sample.shown, sample.truth, options)
        return from_trace(found, found.reward)


def from_trace(found: TraceScore, reward: float, **parts: float) -> RewardResult:
    """A result whose trace numbers come from the one scorer and whose reward is another's."""
    return RewardResult(
        reward=reward,
        fmt=found.fmt,
        delta=found.deltas,
        r_proc=found.r_proc,
        r_res=found.r_res,
        rcs=found.rcs,
        answer_right=found.answer_right,
        hack=found.hack,
        parts=parts,
    )
