"""Rejection sampling (paper D.2): a teacher's text is kept only when format, every block's LOCALS and RETURN are right.

Reasons, the first that applies: ``teacher_failed`` (no reply), ``format: RULE`` (``contra.parser.RULES``; a changed program
line is ``format: code``), ``locals_wrong``, ``return_wrong``, ``thought_missing``, ``thought_too_long``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ct_tasks.contra import literals
from ct_tasks.contra.parser import parse_strict
from ct_tasks.contra.scoring import score_trace
from ct_tasks.contra.trace import Truth
from ct_train.data.llm import Reply
from ct_train.synth.narrate import safe


@dataclass(frozen=True)
class Judged:
    """``reason`` is empty for a text that is kept. ``quality`` orders kept texts: the share of changed variables whose true
    value the block's thought names; ``detail`` says where the fault is."""

    text: str
    reason: str = ""
    detail: str = ""
    quality: float = 0.0


def judge(text: str | None, truth: Truth, *, max_thought_chars: int = 8000, failure: Reply | None = None) -> Judged:
    """One text against the truth."""
    if text is None:
        kinds = ", ".join(failure.failures) if failure else ""
        return Judged("", "teacher_failed", f"{kinds}: {failure.last}"[:200] if failure else "")
    parsed = parse_strict(text, truth)
    if not parsed.ok:
        issue = parsed.issues[0]
        return Judged(text, f"format: {issue.rule}", f"line {issue.line}: {issue.message}"[:200])
    score = score_trace(text, truth)
    for number, block in enumerate(score.blocks):
        if not block.right:
            return Judged(text, "locals_wrong", f"block {number}: {', '.join(block.wrong)}"[:200])
    if not score.answer_right:
        return Judged(text, "return_wrong", f"{score.answer} is not {literals.dump(truth.returned)}"[:200])
    told = [block.thought.strip() for block in parsed.trace.blocks]
    for number, thought in enumerate(told):
        if not thought:
            return Judged(text, "thought_missing", f"block {number}")
        if len(thought) > max_thought_chars:
            return Judged(text, "thought_too_long", f"block {number}: {len(thought)} characters")
    return Judged(text, quality=coverage(told, truth))


def coverage(thoughts: Sequence[str], truth: Truth) -> float:
    """The share of variables changed by a block whose value, as LOCALS writes it, stands in the block's thought."""
    named = total = 0
    before: dict[str, object] = {}
    for thought, block in zip(thoughts, truth.blocks, strict=True):
        for name, now in block.locals.items():
            if name in before and literals.same(before[name], now):
                continue
            total += 1
            named += name in thought and safe(literals.dump(now)[:60]) in thought
        before = dict(block.locals)
    return round(named / total, 4) if total else 1.0


def best(judged: Sequence[Judged]) -> Judged | None:
    """The kept text with the highest quality, of equals the shortest, of equals the first; None when all were rejected."""
    kept = [j for j in judged if not j.reason]
    return min(kept, key=lambda j: (-j.quality, len(j.text))) if kept else None
