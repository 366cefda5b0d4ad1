"""One verdict on one generation: what every benchmark returns, whether it is evaluated, rescored or rewarded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

Status = Literal["right", "wrong", "no_answer", "truncated", "timeout", "harness_error"]
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, slots=True)
class Score:
    """The verdict on one generation.

    ``acc`` is the strict verdict; it is true exactly when ``status`` is ``right``. ``acc_official`` is the published
    scorer's verdict, ``None`` where that scorer leaves the text out of its denominator or where there is none.
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

    @property
    def acc(self) -> bool:
        return self.status == "right"

    def to_json(self) -> dict[str, Any]:
        """The verdict row that ``score --out`` writes: flat, with the task's numbers beside the fixed fields."""
        row = asdict(self)
        return {
            "acc": self.acc,
            **{k: v for k, v in row.items() if k not in ("values", "detail")},
            **self.values,
            **({"detail": row["detail"]} if self.detail else {}),
        }
