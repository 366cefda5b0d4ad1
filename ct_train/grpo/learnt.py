"""Whether a run learns anything at all: a step whose groups all tie has no advantage, so its gradient is exactly zero."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from transformers import TrainerCallback

from ct_train.grpo.config import GrpoSettings


def idle(entry: Mapping[str, Any]) -> bool:
    """Whether a logged step moved nothing."""
    return entry.get("grad_norm") == 0.0


def learnt_nothing(history: Sequence[Mapping[str, Any]], settings: GrpoSettings) -> str:
    """A sentence where no step of ``history``, or more than half of them, moved anything; else empty."""
    steps = [entry for entry in history if "grad_norm" in entry]
    still = [entry for entry in steps if idle(entry)]
    if not steps or 2 * len(still) <= len(steps):
        return ""
    how = "the model is the one it started from" if len(still) == len(steps) else "they taught nothing"
    return f"grpo: warning: {len(still)} of {len(steps)} steps had no gradient, so {how}; {_reason(still[-1], settings)}"


def _reason(entry: Mapping[str, Any], settings: GrpoSettings) -> str:
    """Why a step had no gradient, and what to try."""
    if entry.get("rollout/equal_groups", 0.0) == 1.0:
        mean = entry.get("reward")
        level = "" if mean is None else f" (mean {mean:.3g})"
        return (
            f"in each group all rewards are equal{level}: train a model that sometimes succeeds (SFT first), raise "
            "temperature or max_response_tokens, or take programs of another difficulty"
        )
    if settings.mask_truncated and entry.get("rollout/truncated", 0.0) > 0:
        return "mask_truncated leaves out every rollout that was cut: raise max_response_tokens"
    return "see rollouts.jsonl for rewards and texts"


class IdleSteps(TrainerCallback):  # type: ignore[misc]
    """Says while a run is under way that its steps move nothing: at the first such step, then each time their unbroken
    number has doubled."""

    def __init__(self, settings: GrpoSettings) -> None:
        self.settings, self.count = settings, 0

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        if not state.is_world_process_zero or "grad_norm" not in (logs or {}):
            return
        self.count = self.count + 1 if idle(logs) else 0
        if self.count and self.count & (self.count - 1) == 0:
            since = f"the last {self.count} steps" if self.count > 1 else "this step"
            print(
                f"grpo: warning: step {state.global_step}: {since} had no gradient; {_reason(logs, self.settings)}",
                file=sys.stderr,
            )
