"""What a reward sees and returns, and the list of rewards by name."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ct_tasks.contra.trace import Truth
from ct_tasks.errors import UnknownNameError
from ct_tasks.paradigms.thinking import visible


@dataclass(frozen=True, slots=True)
class Sample:
    """One rollout: the completion's text, the true trace of its call, and white-box questions where a reward asks any.
    ``thinking``: the chat template had opened a thinking part at the end of the prompt."""

    text: str
    truth: Truth
    questions: tuple[Mapping[str, Any], ...] = ()
    thinking: bool = False

    @property
    def shown(self) -> str:
        """The completion without its thinking part, as evaluation reads it; empty where that part never ends."""
        found = visible(self.text, self.thinking)
        return found if isinstance(found, str) else ""


@dataclass(frozen=True, slots=True)
class RewardResult:
    """``reward`` is what training sees. The rest is the same for every reward, so that runs can be compared: ``fmt`` is
    δ_fmt, ``delta`` are δ_1..δ_T, ``r_proc``/``r_res``/``rcs`` as in the paper, ``hack`` a right answer with a wrong trace."""

    reward: float
    fmt: bool
    delta: tuple[bool, ...]
    r_proc: float
    r_res: float
    rcs: float
    answer_right: bool
    hack: bool
    parts: Mapping[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "delta": list(self.delta)}


class Reward(Protocol):
    """A reward: pure, deterministic, and it never raises because of what a text holds."""

    def score(self, sample: Sample) -> RewardResult:
        """Reward one rollout."""
        ...


REWARDS: Mapping[str, str] = {
    "codethinker": "ct_train.rewards.codethinker:CodeThinker",
    "codereasoner": "ct_train.rewards.baselines:CodeReasoner",
    "execverify": "ct_train.rewards.execverify:ExecVerify",
    "cwm": "ct_train.rewards.baselines:Cwm",
    "format": "ct_train.rewards.baselines:FormatOnly",
}


def build(name: str, options: Mapping[str, Any] | None = None) -> Reward:
    """The reward of that name. Raises ``UnknownNameError`` for an unknown reward or option."""
    if name not in REWARDS:
        raise UnknownNameError("reward", name, REWARDS)
    module, attribute = REWARDS[name].split(":")
    kind = getattr(importlib.import_module(module), attribute)
    known = [f.name for f in dataclasses.fields(kind)]
    for key in options or {}:
        if key not in known:
            raise UnknownNameError(f"option of reward {name}", key, known)
    reward: Reward = kind(**(options or {}))
    return reward
