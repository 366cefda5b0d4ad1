"""Dynamic Beam Sampling as a verl agent loop (verl 0.9, its v1 trainer).

verl starts one ``run`` for each of a prompt's ``n`` sessions, all in one worker, with the prompt's ``uid`` and a
``session_id``. The sessions of a prompt meet here: when all have come, the group is sampled once, ``regular`` completions by
regular sampling and the rest by ``ct_train.dbs``, and each session takes its own. Continuations go on from token ids.
The v0 trainer can send the sessions of one prompt to several workers; it gives no ``session_id`` and is refused.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopMetrics, AgentLoopOutput

from ct_tasks.contra.scoring import RewardOptions
from ct_tasks.contra.trace import Truth
from ct_tasks.errors import ConfigError
from ct_train.dbs import Trajectory, mixed, worth
from ct_train.rollouts.stopping import BLOCK_END, TRACE_END, Codec
from ct_train.rollouts.vllm_sampler import Piece, VllmSampler

# A group holds a thread while it samples; the threads only wait for the engine.
_THREADS = ThreadPoolExecutor(max_workers=512, thread_name_prefix="dbs")


@dataclass(slots=True)
class _Group:
    """The sessions of one prompt that have come so far, and the future of their completions."""

    sessions: set[int] = field(default_factory=set)
    done: asyncio.Future[list[Trajectory]] | None = None


_GROUPS: dict[str, _Group] = {}
_DRAWN: Counter[tuple[int, ...]] = Counter()  # how often each prompt has been sampled in this worker


class DbsAgentLoop(AgentLoopBase):  # type: ignore[misc]
    """``group_size`` (verl's ``rollout.n``), ``regular``, ``seed``, ``mask_truncated`` and the reward's switches come from
    ``agent_loop.yaml``.

    Raises ``ConfigError`` when they do not, or when verl gives no ``session_id``.
    """

    def __init__(
        self,
        *args: Any,
        group_size: int,
        regular: int,
        seed: int = 0,
        mask_truncated: bool = False,
        rcc: bool = True,
        ccw: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.group_size, self.regular = group_size, regular
        self.seed, self.mask_truncated = seed, mask_truncated
        self.options = RewardOptions(rcc=rcc, ccw=ccw)
        if self.rollout_config.n != group_size:
            raise ConfigError(f"agent_loop.yaml says group_size {group_size}, verl says rollout.n {self.rollout_config.n}; "
                              "make them equal")

    async def run(self, sampling_params: dict[str, Any], **kwargs: Any) -> AgentLoopOutput:
        """One session: its completion with token ids, log-probabilities and a mask of ones; of zeros for one that the
        length limit cut, where ``mask_truncated`` says so."""
        if "uid" not in kwargs or "session_id" not in kwargs:
            raise ConfigError("Dynamic Beam Sampling needs uid and session_id, which verl's v1 trainer gives; "
                              "this trainer can send the sessions of one prompt to several workers")
        uid, session = str(kwargs["uid"]), int(kwargs["session_id"])
        prompt = await self.ct_build_initial_tokens(list(kwargs["raw_prompt"]))
        group = _GROUPS.setdefault(uid, _Group())
        if group.done is None:
            group.done = asyncio.get_running_loop().create_future()
        group.sessions.add(session)
        if len(group.sessions) == self.group_size:
            del _GROUPS[uid]
            truth = Truth.from_json(json.loads(kwargs["reward_model"]["ground_truth"]))
            try:
                group.done.set_result(await self.sample(prompt, truth, sampling_params))
            except BaseException as error:  # noqa: BLE001 (the other sessions wait for it and must hear of it)
                group.done.set_exception(error)
        trajectory = (await group.done)[session]
        return AgentLoopOutput(
            prompt_ids=prompt,
            response_ids=list(trajectory.ids),
            response_mask=[int(not (self.mask_truncated and trajectory.truncated))] * len(trajectory.ids),
            response_logprobs=list(trajectory.logprobs),
            num_turns=2,
            metrics=AgentLoopMetrics(),
            extra_fields={
                "turn_scores": [], "tool_rewards": [], "generated_tokens": trajectory.generated,
                "half": "regular" if session < self.regular else "dbs",
            },
        )  # fmt: skip

    async def sample(self, prompt: Sequence[int], truth: Truth, params: Mapping[str, Any]) -> list[Trajectory]:
        """The group's completions: regular ones first."""
        loop = asyncio.get_running_loop()
        request = uuid4().hex  # one id a group, so that all its requests meet the same engine and its prefix cache
        codec = Codec.of(self.tokenizer)
        _DRAWN[tuple(prompt)] += 1
        draw = random.Random(f"{self.seed} {_DRAWN[tuple(prompt)]} {list(prompt)}")

        async def one(prefix: Sequence[int], room: int, seed: int) -> Piece:
            output = await self.server_manager.generate(
                request_id=request,
                prompt_ids=list(prefix),
                sampling_params={
                    **params, "max_tokens": room, "seed": seed, "logprobs": True,
                    "stop": [BLOCK_END, TRACE_END], "include_stop_str_in_output": True,
                },
            )  # fmt: skip
            ids = list(output.token_ids)
            return Piece(ids, list(output.log_probs or [0.0] * len(ids)), "stop")  # the sampler sees where the room ended

        async def all_of(prefixes: Sequence[Sequence[int]], room: Sequence[int], seeds: Sequence[int]) -> list[Piece]:
            return list(await asyncio.gather(*(one(p, r, s) for p, r, s in zip(prefixes, room, seeds, strict=True))))

        def generate(prefixes: Sequence[Sequence[int]], room: Sequence[int], seeds: Sequence[int]) -> list[Piece]:
            return asyncio.run_coroutine_threadsafe(all_of(prefixes, room, seeds), loop).result()

        def score(_: int, trajectory: Trajectory) -> float:
            return worth(trajectory, truth, self.options)

        def group() -> list[Trajectory]:
            sampler = VllmSampler(generate, codec, max_tokens=self.rollout_config.response_length,
                                  seed=draw.getrandbits(20))  # fmt: skip
            by_dbs = self.group_size - self.regular
            return mixed([prompt], self.regular, by_dbs, sampler, score)[0]

        return await loop.run_in_executor(_THREADS, group)
