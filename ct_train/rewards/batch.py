"""Many rollouts at once: all cores, a deadline for each, never an exception into training; trl's and verl's signatures."""

from __future__ import annotations

import atexit
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Protocol

from ct_tasks.contra.trace import Truth
from ct_tasks.errors import ConfigError
from ct_tasks.execution.deadline import DeadlinePool
from ct_train.rewards.base import Reward, RewardResult, Sample, build

DEADLINE_S = 10.0
Completion = str | Sequence[Mapping[str, Any]]


def text_of(completion: Completion) -> str:
    """The text of a completion, which is a string or a list of messages depending on the data set's format."""
    if isinstance(completion, str):
        return completion
    return "".join(str(message.get("content") or "") for message in completion)


class BatchScorer:
    """Scores batches with one reward. ``failed`` counts rollouts that could not be scored, with the last reason.

    Such a rollout gets ``None``, which the trainer leaves out of mean and standard deviation; it is never 0. ``thinking``: the
    rendered prompts end inside a thinking part, so that a completion without its closing mark is all thought.
    """

    thinking: bool = False

    def __init__(
        self,
        reward: str,
        options: Mapping[str, Any] | None = None,
        *,
        workers: int | None = None,
        deadline_s: float = DEADLINE_S,
    ) -> None:
        build(reward, options)  # an unknown name or option is refused here, before any model loads
        self.name, self.options = reward, dict(options or {})
        self.pool = _pool(workers, deadline_s)
        self.failed, self.last_error = 0, ""

    def score(
        self,
        texts: Sequence[str],
        truths: Sequence[str],
        questions: Sequence[Sequence[Mapping[str, Any]]] | None = None,
    ) -> list[RewardResult | None]:
        """``truths`` are JSON texts of ``Truth.to_json``. Returns one result a text, in order; ``None`` where it failed."""
        if len(texts) != len(truths):
            raise ConfigError(f"{len(texts)} completions but {len(truths)} true traces for reward {self.name}")
        asked = questions or [()] * len(texts)
        items = [[self.name, self.options, x, t, list(q), self.thinking] for x, t, q in zip(texts, truths, asked, strict=True)]
        results: list[RewardResult | None] = []
        for outcome in self.pool.map(items):
            if outcome.error:
                self.failed, self.last_error = self.failed + 1, outcome.error
                results.append(None)
            else:
                results.append(RewardResult(**{**outcome.value, "delta": tuple(outcome.value["delta"])}))
        return results


@cache
def _pool(workers: int | None, deadline_s: float) -> DeadlinePool:
    pool = DeadlinePool("ct_train.rewards.batch:score_item", workers=workers, deadline_s=deadline_s)
    atexit.register(pool.close)
    return pool


def score_item(item: Sequence[Any]) -> dict[str, Any]:
    """One rollout, in a scoring process."""
    name, options, text, truth, questions, thinking = item
    return _reward(name, json.dumps(options)).score(Sample(text, _truth(truth), tuple(questions), thinking)).to_json()


@lru_cache(maxsize=8)
def _reward(name: str, options: str) -> Reward:
    return build(name, json.loads(options))


@lru_cache(maxsize=512)
def _truth(text: str) -> Truth:
    return Truth.from_json(json.loads(text))


class TrlReward(Protocol):
    """What trl calls: every data-set column arrives by keyword, a list as long as ``completions``."""

    __name__: str

    def __call__(
        self, *, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any
    ) -> list[float | None]:
        """One number or None a completion."""
        ...


def trl_reward(scorer: BatchScorer, keep: Callable[[Sequence[RewardResult | None]], None] | None = None) -> TrlReward:
    """A reward function for ``GRPOTrainer``; the data set needs a column ``truth`` (JSON of ``Truth``). ``keep`` sees
    every result, for the rollout log. It never raises for what a completion holds."""

    def reward(*, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any) -> list[float | None]:
        if "truth" not in columns:
            raise ConfigError(f"reward {scorer.name} needs a column 'truth'; the data set has {sorted(columns)}")
        results = scorer.score([text_of(c) for c in completions], columns["truth"], columns.get("questions"))
        if keep is not None:
            keep(results)
        if log := columns.get("log_metric"):
            scored = [r for r in results if r is not None]
            log("rewards/unscored", len(results) - len(scored))
            for key in ("rcs", "r_proc", "r_res", "fmt", "hack", "answer_right"):
                if scored:
                    log(f"rewards/{key}", sum(float(getattr(r, key)) for r in scored) / len(scored))
        return [None if r is None else r.reward for r in results]

    reward.__name__ = f"reward_{scorer.name}"
    return reward


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    *,
    reward: str = "codethinker",
    thinking: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """verl's custom reward function: ``ground_truth`` is the JSON of ``Truth``; ``thinking``: the chat template opens a thinking
    part in the prompt; extra keyword options go to the reward."""
    asked = (extra_info or {}).get("questions") or ()
    questions = tuple(json.loads(asked) if isinstance(asked, str) else asked)
    result = _reward(reward, json.dumps(options)).score(Sample(solution_str, _truth(ground_truth), questions, thinking))
    flat = {k: float(v) for k, v in result.to_json().items() if isinstance(v, (bool, int, float))}
    return {"score": result.reward, **flat}
