"""A reply and what its backend knew of it. lm-eval passes bare texts around, so the text itself carries the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# As OpenAI's API, vLLM and Anthropic's API spell them. Anything else (a content filter, an abort) says neither.
_LENGTH = frozenset(("length", "max_tokens"))
_STOP = frozenset(("stop", "end_turn", "stop_sequence"))


@dataclass(frozen=True, slots=True)
class Ending:
    """How one generation ended. ``None`` everywhere means that the backend did not say.

    ``finish_reason``: in the backend's own word. ``stop``: the stop string that ended it, ``""`` where the model ended it
    itself. ``tokens``: generated tokens, those of the reasoning and the end token included, as servers count them.
    ``reasoning``: the thought, where the backend gave it apart from the text.
    """

    finish_reason: str | None = None
    stop: str | None = None
    tokens: int | None = None
    reasoning: str | None = None

    @property
    def truncated(self) -> bool | None:
        """Whether the length limit cut the reply; ``None`` where nobody knows. Never guessed from a length."""
        return True if self.finish_reason in _LENGTH else False if self.finish_reason in _STOP else None

    def to_json(self) -> dict[str, Any]:
        """What is known, for the journal and the samples."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in fields.items() if value is not None}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Ending:
        """The inverse of ``to_json``; other keys of ``row``, and values of another type, are left alone."""
        texts = {name: row[name] for name in ("finish_reason", "stop", "reasoning") if isinstance(row.get(name), str)}
        tokens = row.get("tokens")
        return cls(**texts, tokens=tokens if isinstance(tokens, int) and not isinstance(tokens, bool) else None)


UNKNOWN = Ending()


class Reply(str):
    """A generated text with its ``ending``. It is a ``str`` for whoever does not ask, so it stays with its request and its
    repeat through every sorting and batching of lm-eval."""

    ending: Ending

    def __new__(cls, text: str, ending: Ending = UNKNOWN) -> Reply:
        made = super().__new__(cls, text)
        made.ending = ending
        return made

    @classmethod
    def of(cls, text: object) -> Reply:
        """Any backend's reply; one that is no text at all is empty."""
        return text if isinstance(text, cls) else cls(text if isinstance(text, str) else "")
