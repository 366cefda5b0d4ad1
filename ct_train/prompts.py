"""The prompt of a training row: the one with which evaluation asks in the same format, so a model is trained on what it is
measured with. ExecVerify's white-box questions, which no evaluation asks, are added here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ct_tasks import paradigms
from ct_tasks.contra import literals
from ct_tasks.contra.trace import Truth
from ct_tasks.errors import ConfigError, UnknownNameError
from ct_tasks.paradigms.base import Layout, Problem
from ct_tasks.paradigms.execverify import ExecVerify

READS: Mapping[str, tuple[str, ...]] = {
    "contra": ("codethinker", "codereasoner", "execverify", "cwm", "format"),
    "codereasoner": ("codereasoner",),
    "execverify": ("execverify",),
}
"""The formats that GRPO can train in, and the rewards that read each. CWM's is for released weights: the paper trains none."""


def check(paradigm: str, reward: str) -> None:
    """Raises ``UnknownNameError`` for a format that no reward reads, ``ConfigError`` for a reward that reads another."""
    if paradigm not in READS:
        raise UnknownNameError("paradigm of grpo", paradigm, READS)
    if reward not in READS[paradigm]:
        raise ConfigError(
            f"reward {reward} cannot read replies in the format {paradigm}, so every reply would earn the same; set reward to "
            f"one of {', '.join(READS[paradigm])}, or paradigm=contra"
        )


def asks(paradigm: str) -> bool:
    """Whether the prompts of this format hold white-box questions."""
    return paradigm == "execverify"


def problem_of(truth: Truth) -> Problem:
    """The question that evaluation would ask."""
    program = truth.program
    return Problem(program.runnable.rstrip("\n"), program.entry, truth.call, literals.dump(truth.returned))


def prompt(
    truth: Truth,
    paradigm: str = "contra",
    segmentation: str = "statement",
    questions: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The zero-shot user turn. ``questions`` (``ct_train.rewards.whitebox``) are asked in ExecVerify's format alone."""
    form = paradigms.get(paradigm)
    text = form.prompt(problem_of(truth), Layout(shots=0, chat=True, segmentation=segmentation))
    return form.asked(text, [q["question"] for q in questions]) if isinstance(form, ExecVerify) else text


def kept(row: Mapping[str, Any], paradigm: str) -> Any:
    """The row's own prompt where it is one of this format, else None: a row without ``paradigm`` is one of ConTra."""
    return row.get("prompt") if row.get("paradigm", "contra") == paradigm else None


def unasked(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row that brings no questions, without a prompt of its own that ought to have asked them."""
    own = asks(row.get("paradigm", "contra"))
    return {key: value for key, value in row.items() if not (own and key == "prompt")}
