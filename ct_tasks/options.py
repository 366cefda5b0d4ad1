"""The options of a task, as given by ``--metadata`` or a config, checked before a model loads and kept in the results."""

from __future__ import annotations

import dataclasses
import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ct_tasks.errors import ConfigError, UnknownNameError, refuse

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
        """Build from user input. Raises ``UnknownNameError`` for an unknown key or name, ``ConfigError`` for a bad value, and
        ``ConfigErrors`` for several of them."""
        known = {f.name for f in dataclasses.fields(cls)}
        errors: list[ConfigError] = [UnknownNameError("task option", str(key), known) for key in given if key not in known]
        values = {key: _plain(value) for key, value in given.items() if key in known}
        refuse([*errors, *_problems({**{f.name: f.default for f in dataclasses.fields(cls)}, **values})])
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def _plain(value: Any) -> Any:
    """YAML reads 2024-01-31 as a date, and a list is no part of frozen options."""
    if isinstance(value, datetime.date):
        return value.isoformat()[:10]
    return tuple(value) if isinstance(value, list) else value


def _problems(values: Mapping[str, Any]) -> list[ConfigError]:
    """One error for each value that cannot be."""
    found: list[ConfigError] = []
    for name, kind, allowed in (
        ("paradigm", "paradigm", PARADIGMS),
        ("segmentation", "segmentation", SEGMENTATIONS),
        ("containers", "containers mode", ("literal", "drop")),
        ("backend", "backend", ("local", "docker")),
    ):
        value = values[name]
        if value not in allowed and not (value is None and name == "paradigm"):
            found.append(UnknownNameError(kind, str(value), allowed))
    for name, least, whole in (
        ("repeats", 1, True), ("shots", 0, True), ("max_gen_toks", 1, True),
        ("alpha", 0, False), ("temperature", 0, False), ("limit_s", 0, False),
    ):  # fmt: skip
        value = values[name]
        if value is None and name not in ("repeats", "alpha"):
            continue
        right = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
        if not right or not least <= value < math.inf or (name == "limit_s" and value == 0):
            what = "whole number" if whole else "number"
            least_of_all = "above 0" if name == "limit_s" else f"of at least {least}"
            found.append(ConfigError(f"{name} must be a {what} {least_of_all}, got {value!r}"))
    top = values["top_p"]
    if top is not None and (isinstance(top, bool) or not isinstance(top, (int, float)) or not 0 < top <= 1):
        found.append(ConfigError(f"top_p must be a number above 0 and at most 1, got {top!r}"))
    languages = values["languages"]
    if languages is not None and not (isinstance(languages, tuple) and all(isinstance(x, str) for x in languages)):
        found.append(ConfigError(f"languages must be a list of names such as [java, rs], got {languages!r}"))
    return found + _bad_dates(values)


def _bad_dates(values: Mapping[str, Any]) -> list[ConfigError]:
    found: list[ConfigError] = []
    dates = []
    for name in ("start_date", "end_date"):
        value = values[name]
        try:
            dates.append(None if value is None else datetime.date.fromisoformat(value))
        except (TypeError, ValueError):
            found.append(ConfigError(f"{name} must be a date like 2024-01-31, got {value!r}"))
    if len(dates) == 2 and dates[0] is not None and dates[1] is not None and dates[0] > dates[1]:
        found.append(ConfigError(f"start_date {dates[0]} is after end_date {dates[1]}, so no problem is left"))
    return found
