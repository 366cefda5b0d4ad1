"""What each metric says, in a sentence: the site's tooltips. Shares are shown in percent everywhere, one scale for all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ct_tasks.score import STATUSES


@dataclass(frozen=True, slots=True)
class Word:
    """``share``: a number between 0 and 1 that is shown in percent. ``up``: more is better; None where neither is."""

    share: bool
    up: bool | None
    text: str


_STATUS: Mapping[str, str] = {
    "right": "The answer is the true value.",
    "wrong": "The answer is a value, but another one.",
    "unreadable": "An answer is given, but it is no value.",
    "no_answer": "The reply gives no answer.",
    "unclosed": "The reply ended by itself with its answer's tag still open.",
    "truncated": "The length limit cut the reply before its answer was complete.",
    "timeout": "A time limit of scoring ended the check.",
    "harness_error": "Our own machinery failed: no verdict, and accuracy leaves the reply out.",
}
WORDS: Mapping[str, Word] = {
    "acc": Word(True, True, "Accuracy, strict: the answer, read in the format that was asked for, is the true value. Never executed; every reply counts."),
    "acc_flexible": Word(True, True, "Accuracy by what a careful reader takes as the final answer, whatever the format."),
    "acc_official": Word(True, True, "Accuracy by the published scorer's own verdict on the same replies."),
    "rcs": Word(True, True, "Reasoning consistency: the share of the program's blocks that the trace gets right before its first error."),
    "fmt": Word(True, True, "Share of replies that keep the trace's strict format."),
    "hack_rate": Word(True, False, "Right by luck: share of replies with the right answer although the trace is wrong."),
    "r_proc": Word(False, True, "Process reward, 0 to 2: weighted share of right blocks before the first error; 0 where the format is broken."),
    "r_res": Word(False, True, "Result reward, 0 or 2: the answer is right and the format kept."),
    "reward": Word(False, True, "The reward of training, 0 to 4: process reward, and the result reward where the whole trace is right."),
    "tokens_out": Word(False, None, "Length of a reply in the model's own tokens."),
    "acc_std": Word(True, False, "Standard deviation of the accuracy between repeats."),
    "precision": Word(True, True, "Of the lines said to run, the share that runs."),
    "recall": Word(True, True, "Of the lines that run, the share that was said to run."),
    "f1": Word(True, True, "Harmonic mean of precision and recall."),
    "exact_match": Word(True, True, "Share of answers that equal the reference."),
    "acc_norm": Word(True, True, "Accuracy with answers weighed by their length, as lm-eval defines it."),
    "ic": Word(False, True, "REval's incremental consistency, 0 to 100, from strict verdicts."),
    "ic_official": Word(False, True, "REval's incremental consistency, 0 to 100, from published verdicts."),
    **{s: Word(True, s == "right", _STATUS[s]) for s in STATUSES},
}  # fmt: skip


def word(metric: str) -> Word | None:
    """What is known of a metric; None for a name that is not ours."""
    match = re.fullmatch(r"pass(?:@|_at_)(\d+)", metric)
    if match:
        return Word(True, True, f"Chance that one of {match[1]} replies is right.")
    return WORDS.get(metric)


def shown(metric: str, value: float) -> str:
    """A number as tables show it: shares in percent with two digits, others with four significant ones."""
    known = word(metric)
    return f"{100 * value:.2f}" if known and known.share else f"{value:.4g}"
