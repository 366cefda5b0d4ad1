"""Where a block ends and where a trajectory ends, seen from tokens as they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ct_train.dbs import Trajectory

BLOCK_END = "[/LOCALS]"
TRACE_END = "[/TRACE]"
Cut = Literal["", "block", "end"]


def cut_at(text: str, new: str) -> Cut:
    """Whether ``text`` now holds a closing tag line that its last piece ``new`` completed.

    The tag must begin a line: inside a string literal or a source line it ends nothing.
    """
    for tag, cut in ((TRACE_END, "end"), (BLOCK_END, "block")):
        start = len(text) - len(new) - len(tag) + 1
        at = text.find(tag, max(0, start))
        while at >= 0:
            if at == 0 or text[at - 1] == "\n":
                return cut  # type: ignore[return-value]
            at = text.find(tag, at + 1)
    return ""


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

    Only the last tokens are decoded: a tag line is at most a few tokens, and a token's text can depend on its
    neighbours, so a window of them is decoded together.
    """

    SIZE = 24

    def __init__(self, codec: Codec, ids: Sequence[int]) -> None:
        self.codec, self.ids = codec, list(ids)
        self.text = codec.decode(self.ids[-self.SIZE :])

    def push(self, token: int) -> Cut:
        """Add a token; says whether it completed a closing tag line."""
        self.ids.append(token)
        text = self.codec.decode(self.ids[-self.SIZE :])
        # What the token added: everything after the longest common start with the shifted old window.
        before = self.codec.decode(self.ids[-self.SIZE : -1])
        new = text[len(before) :] if text.startswith(before) else text
        self.text = text
        return cut_at(text, new)


def append(
    trajectory: Trajectory, new: Sequence[int], logprobs: Sequence[float], ended: str, codec: Codec, max_tokens: int
) -> Trajectory:
    """The trajectory with the new tokens; ``ended`` is ``block``, ``end``, ``eos`` or ``length``."""
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
