"""δ_t, RCS, R_proc, R_res and R for one text against the true trace (spec section 3; paper eq. 3, 6, 7 and 5.2).

One function scores an evaluation and rewards a rollout; the ablations of the paper's Table 2 are switches of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ct_tasks.contra import literals
from ct_tasks.contra.parser import FormatIssue, ParsedBlock, parse_lenient, parse_prefix, parse_strict
from ct_tasks.contra.trace import Block, Truth


@dataclass(frozen=True, slots=True)
class RewardOptions:
    """``alpha`` weighs R_proc. Off switches: ``prm`` (no process reward, outcome ungated), ``rcc`` (no consistency: δ_t
    alone, no gate), ``orm`` (no outcome reward), ``ccw`` (all blocks weigh 1)."""

    alpha: float = 1.0
    prm: bool = True
    rcc: bool = True
    orm: bool = True
    ccw: bool = True


@dataclass(frozen=True, slots=True)
class BlockVerdict:
    """One true block against the prediction. ``wrong`` names variables whose value differs, is missing or is invented.

    ``start``, ``stop``, ``weight`` and ``truth`` (its LOCALS) are the true block's; ``predicted`` is the LOCALS text that the
    model wrote, None where it has no such block.
    """

    code_ok: bool
    locals_ok: bool
    wrong: tuple[str, ...]
    predicted: str | None
    start: int
    stop: int
    weight: int
    truth: str

    @property
    def right(self) -> bool:
        return self.code_ok and self.locals_ok


@dataclass(frozen=True, slots=True)
class TraceScore:
    """Everything about one text. ``fmt`` is δ_fmt; ``deltas`` are δ_1..δ_T; ``rcs`` in [0, 1]; ``r_proc``, ``r_res`` in
    [0, 2]; ``answer`` is the literal text found in RETURN (lenient), ``answer_right`` whether its value is the true one
    (typed); ``hack``: right answer with RCS < 1; ``first_wrong``: index of the first wrong block, None when all are right."""

    fmt: bool
    deltas: tuple[bool, ...]
    rcs: float
    r_proc: float
    r_res: float
    reward: float
    answer: str | None
    answer_right: bool
    hack: bool
    first_wrong: int | None
    issues: tuple[FormatIssue, ...]
    blocks: tuple[BlockVerdict, ...]

    def to_json(self) -> dict[str, Any]:
        """JSON-able form for samples files and the trace explorer."""
        return asdict(self)


def score_trace(text: str, truth: Truth, options: RewardOptions = RewardOptions()) -> TraceScore:
    """Score one text. Never raises because of what the text holds; linear in its length."""
    strict = parse_strict(text, truth)
    read = strict.trace if strict.ok else parse_lenient(text)
    verdicts = _verdicts(read.blocks, truth)
    deltas = tuple(v.right for v in verdicts)
    prefix = next((i for i, right in enumerate(deltas) if not right), len(deltas))
    answer = read.returned
    named = answer is not None and answer.function == truth.program.entry
    right = answer is not None and named and literals.same(answer.value, truth.returned)
    fmt = strict.ok
    r_proc = 2.0 * fmt * _share(deltas, truth, options)
    r_res = 2.0 * (fmt and right)
    return TraceScore(
        fmt=fmt,
        deltas=deltas,
        rcs=prefix / len(deltas),
        r_proc=r_proc,
        r_res=r_res,
        reward=_combine(r_proc, r_res, options),
        answer=answer.text if answer is not None and named else None,
        answer_right=right,
        hack=right and prefix < len(deltas),
        first_wrong=prefix if prefix < len(deltas) else None,
        issues=strict.issues,
        blocks=verdicts,
    )


def partial_score(text: str, truth: Truth, options: RewardOptions = RewardOptions()) -> float:
    """R_proc of a trajectory cut anywhere: δ_t = 0 for blocks not yet there, δ_fmt is "a valid prefix so far"."""
    parsed = parse_prefix(text, truth)
    if parsed.issues:
        return 0.0
    deltas = [v.right for v in _verdicts(parsed.trace.blocks, truth)]
    return 2.0 * _share(deltas, truth, options)


def _combine(r_proc: float, r_res: float, options: RewardOptions) -> float:
    if not options.prm:
        return r_res if options.orm else 0.0
    outcome = r_res if options.orm and (r_proc == 2.0 or not options.rcc) else 0.0
    return options.alpha * r_proc + outcome


def _share(deltas: Sequence[bool], truth: Truth, options: RewardOptions) -> float:
    """Σ w_t Π_{j≤t} δ_j / Σ w_t, or Σ w_t δ_t / Σ w_t without the consistency constraint."""
    weights = truth.weights if options.ccw else (1,) * len(deltas)
    earned, consistent = 0, True
    for weight, right in zip(weights, deltas, strict=True):
        consistent = consistent and right
        earned += weight if (consistent if options.rcc else right) else 0
    return earned / sum(weights)


def _verdicts(predicted: Sequence[ParsedBlock], truth: Truth) -> tuple[BlockVerdict, ...]:
    return tuple(_verdict(predicted[t] if t < len(predicted) else None, block) for t, block in enumerate(truth.blocks))


def _verdict(mine: ParsedBlock | None, true: Block) -> BlockVerdict:
    where = (true.start, true.stop, true.weight, true.locals_text)
    if mine is None:
        return BlockVerdict(False, False, (), None, *where)
    code_ok = mine.numbers == tuple(range(true.start, true.stop)) and all(
        a.strip() == b.strip() for a, b in zip(mine.lines, true.lines, strict=True)
    )
    if mine.locals_text == true.locals_text:
        return BlockVerdict(code_ok, True, (), mine.locals_text, *where)
    found = mine.locals if mine.locals is not None else {}
    wrong = [name for name, value in true.locals.items() if name not in found or not literals.same(found[name], value)]
    wrong += [str(name) for name in found if name not in true.locals]
    return BlockVerdict(code_ok, mine.locals is not None and not wrong, tuple(wrong), mine.locals_text, *where)
