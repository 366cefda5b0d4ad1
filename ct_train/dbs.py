"""Dynamic Beam Sampling: who gets the budget, and the loop that spends it (paper section 3.2; spec section 4).

Nothing here knows a model or an engine: a ``Sampler`` continues token-id prefixes by one block, a ``score`` function says
what a partial trajectory is worth. Regular sampling is the same loop with a budget that is never moved.

With budget B: B first blocks are drawn; after each block the best-scoring trajectories share all B slots as equally as
possible, the remainder going to those drawn first, distinct texts before repeated ones. So when all B tie, each keeps its
own slot and the draw is exactly regular sampling. A finished trajectory keeps its share and competes with its final score.
Continuations go on from token ids, never from text that was tokenised again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ct_tasks.contra.scoring import RewardOptions, partial_score, score_trace
from ct_tasks.contra.trace import Truth

MAX_BLOCKS = 256  # a trajectory of more blocks than this is cut; no program of the benchmarks comes near


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A completion so far: token ids, their log-probabilities under the sampling policy (natural log, same length), the
    text they decode to. ``finished``: ended by itself (``[/TRACE]`` or end of sequence) or by the length limit."""

    ids: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    text: str = ""
    finished: bool = False
    truncated: bool = False
    generated: int = 0  # tokens generated for this slot; a group's sum counts every token once, lost branches included


class Sampler(Protocol):
    """Continues trajectories of several prompts in one batch."""

    def extend(self, prompts: Sequence[Sequence[int]], trajectories: Sequence[Trajectory]) -> list[Trajectory]:
        """Each trajectory, one block longer: up to and including the next ``[/LOCALS]`` line, or its end."""
        ...


Score = Callable[[int, Trajectory], float]
"""Worth of a trajectory of prompt ``i``."""


def worth(trajectory: Trajectory, truth: Truth, options: RewardOptions) -> float:
    """The partial score, or the final R_proc once the trajectory is finished."""
    if trajectory.finished:
        return score_trace(trajectory.text, truth, options).r_proc
    return partial_score(trajectory.text, truth, options)


def shares(scores: Sequence[float], texts: Sequence[str]) -> list[int]:
    """Slots for each of B candidates (in draw order); they sum to B and only best-scoring candidates get any.

    >>> shares([0.4, 0.8, 0.8, 0.0], ["a", "b", "c", "d"])
    [0, 2, 2, 0]
    >>> shares([1.0, 1.0, 1.0, 0.0], ["a", "b", "c", "d"])
    [2, 1, 1, 0]
    >>> shares([1.0, 1.0, 1.0, 0.0, 0.0], ["a", "a", "b", "c", "d"])
    [2, 1, 2, 0, 0]
    """
    best = max(scores)
    tied = [i for i, score in enumerate(scores) if score == best]
    seen: set[str] = set()
    fresh: list[int] = []
    repeated: list[int] = []
    for i in tied:
        (repeated if texts[i] in seen else fresh).append(i)
        seen.add(texts[i])
    base, remainder = divmod(len(scores), len(tied))
    given = [0] * len(scores)
    for position, i in enumerate([*fresh, *repeated]):
        given[i] = base + (position < remainder)
    return given


def beam(prompts: Sequence[Sequence[int]], budget: int, sampler: Sampler, score: Score) -> list[list[Trajectory]]:
    """DBS for every prompt at once: ``budget`` complete trajectories each. All prompts advance block by block together,
    so an engine sees one batch a block."""
    return _sample(prompts, budget, sampler, score, own=0)


def mixed(
    prompts: Sequence[Sequence[int]], own: int, by_dbs: int, sampler: Sampler, score: Score
) -> list[list[Trajectory]]:
    """A group for every prompt: ``own`` regular trajectories, then ``by_dbs`` by DBS, which never see the regular ones.

    Both halves go by the same calls, so an engine's batches stay full; a sampler with ``complete`` draws the regular half
    by itself, which is cheaper still.
    """
    if own and by_dbs and not hasattr(sampler, "complete"):
        return _sample(prompts, own + by_dbs, sampler, score, own=own)
    plain = regular(prompts, own, sampler) if own else [[] for _ in prompts]
    beams = beam(prompts, by_dbs, sampler, score) if by_dbs else [[] for _ in prompts]
    return [[*a, *b] for a, b in zip(plain, beams, strict=True)]


def regular(prompts: Sequence[Sequence[int]], count: int, sampler: Sampler) -> list[list[Trajectory]]:
    """``count`` independent trajectories for every prompt. A sampler with a method ``complete`` draws each to its end at
    once, since nothing is to be decided at block ends; the others go by the same block-by-block calls as ``beam``."""
    complete = getattr(sampler, "complete", None)
    if complete is None:
        return _sample(prompts, count, sampler, lambda *_: 0.0, own=count)
    flat = complete([p for p in prompts for _ in range(count)], [Trajectory() for _ in prompts for _ in range(count)])
    return [flat[i * count : (i + 1) * count] for i in range(len(prompts))]


def _sample(
    prompts: Sequence[Sequence[int]], budget: int, sampler: Sampler, score: Score, *, own: int
) -> list[list[Trajectory]]:
    """``budget`` slots a prompt, of which the first ``own`` keep what they began."""
    slots = [[Trajectory() for _ in range(budget)] for _ in prompts]
    for _ in range(MAX_BLOCKS):
        live = [(p, s) for p, group in enumerate(slots) for s, t in enumerate(group) if not t.finished]
        if not live:
            break
        longer = sampler.extend([prompts[p] for p, _ in live], [slots[p][s] for p, s in live])
        for (p, s), trajectory in zip(live, longer, strict=True):
            slots[p][s] = trajectory
        for p in {p for p, s in live if s >= own}:
            slots[p][own:] = _reallocate(p, slots[p][own:], score)
    return [[t if t.finished else replace(t, finished=True, truncated=True) for t in group] for group in slots]


def _reallocate(prompt: int, group: Sequence[Trajectory], score: Score) -> list[Trajectory]:
    given = shares([score(prompt, t) for t in group], [t.text for t in group])
    spent = sum(t.generated for t in group)
    moved: list[Trajectory] = []
    for trajectory, count in zip(group, given, strict=True):
        moved += [replace(trajectory, generated=0)] * count
    # Tokens of trajectories that lost their slot were generated all the same: the group keeps the sum.
    return [replace(moved[0], generated=spent), *moved[1:]]


def generated_tokens(groups: Sequence[Sequence[Trajectory]]) -> int:
    """Tokens that the sampler generated for these groups, lost branches included."""
    return sum(t.generated for group in groups for t in group)
