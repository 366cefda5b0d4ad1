"""What a benchmark is: items, a prompt, generation settings, gold and hostile texts, and a batch scorer.

Everything else (the lm-eval task, ``selftest``, ``score``, ``rescore``, reports, rewards) is written once against this.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from ct_tasks.options import TaskOptions
from ct_tasks.score import Score

Domain = Literal["output", "input", "reval", "multilingual", "math", "codegen"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where the data comes from: the hub by default, ``$CT_DATA_DIR/<local>`` offline. ``hub`` is None when only a file exists;
    one that begins with ``https://`` is a file to download. ``also_rows``: other sizes that are known and accepted."""

    local: str
    rows: int
    hub: str | None = None
    config: str | None = None
    split: str = "test"
    licence: str = ""
    sha256: str | None = None
    also_rows: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One problem. ``data`` is JSON-able, so an item survives a trip through ``datasets`` and samples files."""

    id: str
    data: Mapping[str, Any]
    group: str = ""  # cluster for statistics: items of one program share it; "" means the id itself


@dataclass(frozen=True, slots=True)
class Generation:
    """How to sample: stop strings, room for the answer, temperature (0 means greedy)."""

    until: tuple[str, ...]
    max_gen_toks: int
    temperature: float = 0.0
    top_p: float = 1.0


@dataclass(frozen=True, slots=True)
class Answer:
    """One text to score. ``extracted`` marks a text that is an answer already, not a raw reply."""

    item: Item
    text: str
    extracted: bool = False
    truncated: bool | None = None  # True where the backend said that the length limit cut it, False where it said otherwise
    thinking: bool = False  # the prompt ended inside a thinking part that its template had opened
    extra: Mapping[str, Any] = field(default_factory=dict)  # e.g. {"program": ...} from official CRUXEval-X files


class Benchmark(ABC):
    """One ``ct_*`` task. Subclasses are cheap to construct; data is read on the first ``items()``."""

    name: str
    domain: ClassVar[Domain]
    source: Source
    paradigms: tuple[str, ...] = ("direct",)
    version: int = 1  # raised whenever prompt bytes or scoring change
    default_shots: ClassVar[int] = 0  # worked examples in the prompt unless the ``shots`` option says otherwise
    scoring_limit: ClassVar[str] = "no program runs"  # what bounds the scoring of one answer, in words

    @abstractmethod
    def items(self, options: TaskOptions) -> list[Item]:
        """All problems, in official order. Raises ``DataError`` naming both the hub and CT_DATA_DIR when neither works."""

    @abstractmethod
    def prompt(self, item: Item, options: TaskOptions, *, chat: bool) -> str:
        """The user turn (``chat``) or the text to continue (base model). Never contains the answer."""

    @abstractmethod
    def generation(self, options: TaskOptions) -> Generation:
        """Sampling settings for these options."""

    @abstractmethod
    def gold(self, item: Item, options: TaskOptions) -> str:
        """The gold answer as the raw text a perfect model would write in this paradigm."""

    @abstractmethod
    def hostile(self, item: Item, options: TaskOptions) -> Mapping[str, str]:
        """Texts that must not score, by kind."""

    @abstractmethod
    def score(self, answers: Sequence[Answer], options: TaskOptions) -> list[Score]:
        """Score a batch, in order. Never raises because of what a text holds."""

    def bad_references(self, options: TaskOptions) -> Mapping[str, str]:
        """Items whose own reference is wrong, id → reason: never scored against a model, listed in reports."""
        return {}

    def item_id(self, row_id: str) -> str:
        """The item id for an id as published files spell it (``sample_0``, ``0`` ...)."""
        return row_id
