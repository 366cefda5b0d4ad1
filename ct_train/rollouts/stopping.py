"""Where a block ends and where a trajectory ends, seen from tokens as they come."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ct_tasks.errors import HarnessError
from ct_train.dbs import Trajectory

BLOCK_END = "[/LOCALS]"
TRACE_END = "[/TRACE]"
Cut = Literal["", "block", "end"]


def cut_at(before: str, text: str, *, line_start: bool = True) -> Cut:
    """Whether ``text``, ``before`` and a little more, holds a closing tag line that ``before`` does not.

    Lines are counted, not searched in what was added: a token that completes a character of several bytes changes text before
    it, so what was added cannot be told from the texts. The tag must begin a line: inside a string literal or a source line it
    ends nothing. ``line_start``: the texts begin a line.
    """
    for tag, cut in ((TRACE_END, "end"), (BLOCK_END, "block")):
        if _lines(text, tag, line_start) > _lines(before, tag, line_start):
            return cut  # type: ignore[return-value]
    return ""


def _lines(text: str, tag: str, line_start: bool) -> int:
    return text.count(f"\n{tag}") + (line_start and text.startswith(tag))


class NotFiniteError(HarnessError):
    """The model's probabilities are no numbers, so no text can be drawn from it."""

    def __init__(self) -> None:
        super().__init__(
            "the model's probabilities are not finite numbers, so nothing can be sampled from it; it was trained with too high "
            "a learning_rate or its files are damaged: take an earlier checkpoint"
        )


@dataclass(frozen=True, slots=True)
class Codec:
    """Token ids to text, and the ids that end a turn. ``decode`` keeps special tokens out."""

    decode: Callable[[Sequence[int]], str]
    eos_ids: frozenset[int]
    pad_id: int

    @classmethod
    def of(cls, tokenizer: object, eos_ids: Sequence[int] = ()) -> Codec:
        """From a transformers tokenizer; ``eos_ids`` adds end-of-turn ids that the generation config names."""
        own = getattr(tokenizer, "eos_token_id", None)
        ends = frozenset([*eos_ids, *([own] if own is not None else [])])
        pad = getattr(tokenizer, "pad_token_id", None)
        decode = tokenizer.decode  # type: ignore[attr-defined]
        return cls(lambda ids: decode(list(ids), skip_special_tokens=True), ends, pad if pad is not None else min(ends))


class Window:
    """The text of one row as tokens arrive, without decoding the whole row at each token.

    Only the last tokens are decoded, all of one window together: a tag line is at most a few tokens, and a token's text can
    depend on its neighbours (characters of several bytes).
    """

    SIZE = 32

    def __init__(self, codec: Codec, ids: Sequence[int]) -> None:
        self.codec, self.ids = codec, list(ids)

    def push(self, token: int) -> Cut:
        """Add a token; says whether it completed a closing tag line."""
        self.ids.append(token)
        window = self.ids[-self.SIZE :]
        first = len(window) == len(self.ids)
        return cut_at(self.codec.decode(window[:-1]), self.codec.decode(window), line_start=first)


def append(
    trajectory: Trajectory, new: Sequence[int], logprobs: Sequence[float], ended: str, codec: Codec, max_tokens: int
) -> Trajectory:
    """The trajectory with the new tokens; ``ended`` is ``block``, ``end``, ``eos`` or ``length``.

    Raises ``NotFiniteError`` for a log-probability that is none.
    """
    if not all(map(math.isfinite, logprobs)):
        raise NotFiniteError
    ids = (*trajectory.ids, *new)
    full = len(ids) >= max_tokens
    finished = ended in ("end", "eos", "length") or full
    return Trajectory(
        ids=ids,
        logprobs=(*trajectory.logprobs, *logprobs),
        text=codec.decode(ids),
        finished=finished,
        truncated=finished and ended not in ("end", "eos"),
        generated=trajectory.generated + len(new),
    )
