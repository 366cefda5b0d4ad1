"""The options of a task, as given by ``--metadata`` or a config, checked before a model loads and kept in the results."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ct_tasks.errors import ConfigError, UnknownNameError

PARADIGMS = ("direct", "cot", "vanilla", "contra", "codeio", "semcoder", "codereasoner", "execverify", "cwm")
SEGMENTATIONS = ("statement", "coalesced", "adaptive")


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """Every option that can change a score. ``None`` means the task's own default.

    ``paradigm``: how the model is asked to answer. ``shots``: worked examples in the prompt. ``repeats``: generations a
    document. ``segmentation``: how ConTra cuts a program into blocks. ``containers``: how ConTra writes locals that a
    literal cannot express (``literal``: as their plain literal; ``drop``: left out). ``alpha``: weight of R_proc in R.
    ``temperature`` / ``top_p`` / ``max_gen_toks``: sampling. ``languages``: the languages of the multilingual average.
    ``start_date`` / ``end_date``: window for dated problems (ISO dates). ``backend``: where model-written Python runs
    (``local`` or ``docker``). ``tokenizer``: name or path, to count output tokens; ``auto`` takes the model's own.
    ``limit_s``: time limit for one program, seconds. ``fresh_edition`` (a month, ``2026-12``) or ``fresh_seed`` (a number),
    ``fresh_items`` and ``fresh_dials`` (``{"blocks": 4, "trips": [3, 8]}``): which programs ct_fresh generates.
    ``perturbations``: the forms of a program that ct_cruxeval_p asks about; all when None.
    """

    paradigm: str | None = None
    shots: int | None = None
    repeats: int = 1
    segmentation: str = "statement"
    containers: str = "literal"
    alpha: float = 1.0
    temperature: float | None = None
    top_p: float | None = None
    max_gen_toks: int | None = None
    languages: tuple[str, ...] | None = None
    start_date: str | None = None
    end_date: str | None = None
    backend: str = "local"
    tokenizer: str = "auto"
    limit_s: float | None = None
    fresh_edition: str | None = None
    fresh_seed: int | None = None
    fresh_items: int | None = None
    fresh_dials: Mapping[str, Any] | None = None
    perturbations: tuple[str, ...] | None = None

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> TaskOptions:
        """Build from user input. Raises ``UnknownNameError`` for an unknown key or name, ``ConfigError`` for a bad value."""
        known = {f.name for f in dataclasses.fields(cls)}
        for key in given:
            if key not in known:
                raise UnknownNameError("task option", key, known)
        values = dict(given)
        for name in ("languages", "perturbations"):
            if isinstance(values.get(name), list):
                values[name] = tuple(values[name])
        options = cls(**values)
        if options.paradigm is not None and options.paradigm not in PARADIGMS:
            raise UnknownNameError("paradigm", str(options.paradigm), PARADIGMS)
        if options.segmentation not in SEGMENTATIONS:
            raise UnknownNameError("segmentation", str(options.segmentation), SEGMENTATIONS)
        if options.containers not in ("literal", "drop"):
            raise UnknownNameError("containers mode", str(options.containers), ("literal", "drop"))
        if options.backend not in ("local", "docker"):
            raise UnknownNameError("backend", str(options.backend), ("local", "docker"))
        if isinstance(options.repeats, bool) or not isinstance(options.repeats, int) or options.repeats < 1:
            raise ConfigError(f"repeats must be a whole number of at least 1, got {options.repeats!r}")
        if options.shots is not None and (not isinstance(options.shots, int) or options.shots < 0):
            raise ConfigError(f"shots must be a whole number of at least 0, got {options.shots!r}")
        return options

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)
