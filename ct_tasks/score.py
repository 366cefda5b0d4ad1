"""One verdict on one generation: what every benchmark returns, whether it is evaluated, rescored or rewarded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

Status = Literal["right", "wrong", "unreadable", "no_answer", "unclosed", "truncated", "timeout", "harness_error"]
"""How a generation ended. ``wrong``: another value. ``unreadable``: an answer is given, but it is no value. ``no_answer``: none
is given. ``unclosed``: the reply ended by itself, or in a way nobody recorded, with its answer's tag still open.
``truncated``: the length limit is known to have cut it before its answer was complete. ``timeout``: a time limit of scoring.
``harness_error``: our own machinery failed; no verdict."""
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, slots=True)
class Score:
    """The verdict on one generation.

    ``acc`` is the strict verdict; it is true exactly when ``status`` is ``right``. ``acc_official`` is the published
    scorer's verdict, ``None`` where that scorer leaves the text out of its denominator or where there is none.
    ``status_flexible`` and ``answer_flexible`` are the second reading of the same text: what a careful person takes as its
    final answer, whatever the format; ``None`` where a task has no such reading.
    ``values`` holds the numbers that some tasks add (``rcs``, ``fmt``, ``r_proc``, ``r_res``, ``reward``, ``hack``,
    ``tokens_out`` ...); ``None`` means "does not apply to this sample" and leaves the mean alone. ``detail`` is a
    JSON-able payload for the trace explorer (per-block verdicts, error text, ...); it never enters a metric.
    """

    status: Status
    answer: str | None = None
    acc_official: bool | None = None
    reason: str = ""
    values: Mapping[str, float | None] = field(default_factory=dict)
    detail: Mapping[str, Any] = field(default_factory=dict)
    status_flexible: Status | None = None
    answer_flexible: str | None = None

    @property
    def acc(self) -> bool:
        return self.status == "right"

    @property
    def acc_flexible(self) -> bool | None:
        """The verdict of the flexible reading."""
        return None if self.status_flexible is None else self.status_flexible == "right"

    def to_json(self) -> dict[str, Any]:
        """The verdict row that ``score --out`` writes: flat, with the task's numbers beside the fixed fields."""
        row = asdict(self)
        return {
            "acc": self.acc,
            "acc_flexible": self.acc_flexible,
            **{k: v for k, v in row.items() if k not in ("values", "detail")},
            **self.values,
            **({"detail": row["detail"]} if self.detail else {}),
        }
