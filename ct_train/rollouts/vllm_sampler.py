"""Block-by-block sampling with vLLM: each block is one batched call that goes on from token ids.

Prefix caching makes a fork nearly free: the shared prefix's key-value blocks are reused. vLLM returns the ids of the whole
stop string with aligned log-probabilities, so nothing is tokenised again. Seeds are per request, drawn from ``seed`` and a
counter that a trainer can save and restore, so a resumed run samples what the uninterrupted one would have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ct_tasks.errors import HarnessError
from ct_train.dbs import Trajectory
from ct_train.rollouts.stopping import BLOCK_END, TRACE_END, Codec, append, cut_at


@dataclass(frozen=True, slots=True)
class Piece:
    """What an engine generated for one prefix: ids, log-probabilities, and the engine's finish reason."""

    ids: Sequence[int]
    logprobs: Sequence[float]
    reason: str  # "stop" or "length"
    told: bool = False  # the engine gave the reason; else "stop" stands for not known


Generate = Callable[[Sequence[Sequence[int]], Sequence[int], Sequence[int]], list[Piece]]
"""``generate(prefixes, max_new_tokens, seeds)``: one continuation a prefix, cut after a stop string."""


class VllmSampler:
    """``generate`` is ``engine_generate(llm)`` for a local engine. ``max_tokens`` limits a whole completion."""

    def __init__(self, generate: Generate, codec: Codec, *, max_tokens: int, seed: int = 0) -> None:
        self.generate, self.codec, self.max_tokens, self.seed = generate, codec, max_tokens, seed
        self.drawn = 0  # requests so far; the trainer sets it from its step

    def extend(self, prompts: Sequence[Sequence[int]], trajectories: Sequence[Trajectory]) -> list[Trajectory]:
        """One block more for each trajectory. A stop string inside a line ends nothing: that row goes on at once."""
        current = list(trajectories)
        waiting = list(range(len(current)))
        while waiting:
            prefixes = [[*prompts[i], *current[i].ids] for i in waiting]
            room = [self.max_tokens - len(current[i].ids) for i in waiting]
            seeds = [(self.seed * 1_000_003 + self.drawn + k) % 2**31 for k in range(len(waiting))]
            self.drawn += len(waiting)
            again = []
            for i, piece in zip(waiting, self.generate(prefixes, room, seeds), strict=True):
                ended = self._ended(current[i], piece)
                current[i] = append(current[i], piece.ids, piece.logprobs, ended, self.codec, self.max_tokens)
                if not ended and not current[i].finished:
                    again.append(i)
            waiting = again
        return current

    def _ended(self, trajectory: Trajectory, piece: Piece) -> str:
        """Why the engine stopped. Empty only for one of our stop strings inside a line: every other end is an end, or the row
        would go on behind a stop token that the engine knows and the codec does not, or for ever when nothing was generated."""
        if piece.reason not in ("stop", "length"):
            raise HarnessError(f"the engine gave a request up ({piece.reason}); run the same command again")
        if piece.ids and piece.ids[-1] in self.codec.eos_ids:
            return "eos"
        if piece.reason == "length":
            return "length"
        before, text = self.codec.decode(trajectory.ids), self.codec.decode([*trajectory.ids, *piece.ids])
        if cut := cut_at(before, text):
            return cut
        if any(text.count(tag) > before.count(tag) for tag in (BLOCK_END, TRACE_END)):
            return ""
        full = len(trajectory.ids) + len(piece.ids) >= self.max_tokens
        return "length" if full or not self._stopped(piece) else "eos"

    def _stopped(self, piece: Piece) -> bool:
        """Whether the engine met a stop token, rather than a limit of its own that it did not tell. Stop tokens are special:
        they decode to nothing. An engine that generated nothing had nothing more to say."""
        return piece.told or not piece.ids or not self.codec.decode(piece.ids[-1:])


def engine_generate(llm: Any, *, temperature: float = 1.0, lora: Any = None) -> Generate:
    """Continuations from a ``vllm.LLM`` in this process (trl's colocate mode, or stand-alone)."""
    from vllm import SamplingParams
    from vllm.inputs import TokensPrompt

    def generate(prefixes: Sequence[Sequence[int]], room: Sequence[int], seeds: Sequence[int]) -> list[Piece]:
        parameters = [
            SamplingParams(
                n=1,
                temperature=temperature,
                top_p=1.0,
                top_k=0,
                max_tokens=most,
                seed=seed,
                logprobs=0,
                stop=[BLOCK_END, TRACE_END],
                include_stop_str_in_output=True,
                skip_special_tokens=True,
            )
            for most, seed in zip(room, seeds, strict=True)
        ]
        prompts = [TokensPrompt(prompt_token_ids=list(p)) for p in prefixes]
        outputs = llm.generate(prompts, parameters, lora_request=lora, use_tqdm=False)
        pieces = []
        for output in outputs:
            best = output.outputs[0]
            ids = list(best.token_ids)
            logprobs = [step[token].logprob for step, token in zip(best.logprobs, ids, strict=True)]
            pieces.append(Piece(ids, logprobs, str(best.finish_reason), told=True))
        return pieces

    return generate


def server_generate(client: Any, *, temperature: float = 1.0, concurrency: int = 256) -> Generate:
    """Continuations from a ``vllm serve`` through trl's ``VLLMClient``.

    One request a prefix, so that each has its own room and its own seed; the server batches what is under way together.
    Each process of a training run has a client of its own: how many rounds DBS takes differs from process to process, so
    they must not wait for each other between rounds. Raises what the client raises after its retries.
    """

    def one(prefix: Sequence[int], most: int, seed: int) -> Piece:
        asked = {
            "seed": seed,
            "stop": [BLOCK_END, TRACE_END],
            "include_stop_str_in_output": True,
            "skip_special_tokens": True,
        }
        found = client.generate(
            [list(prefix)], temperature=temperature, max_tokens=most, logprobs=0, generation_kwargs=asked
        )
        logprobs = [float(step[0]) for step in found["logprobs"][0]]
        return Piece(found["completion_ids"][0], logprobs, "stop")

    def generate(prefixes: Sequence[Sequence[int]], room: Sequence[int], seeds: Sequence[int]) -> list[Piece]:
        with ThreadPoolExecutor(max_workers=concurrency) as threads:
            return list(threads.map(one, prefixes, room, seeds))

    return generate
