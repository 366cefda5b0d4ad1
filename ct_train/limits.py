"""Bounds of numeric settings, told in a sentence: a run that cannot work must not begin."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

from ct_tasks.errors import ConfigError

Bound = tuple[str, Callable[[float], bool]]

POSITIVE: Bound = ("more than 0", lambda v: v > 0)
NOT_NEGATIVE: Bound = ("0 or more", lambda v: v >= 0)
COUNT: Bound = ("at least 1", lambda v: v >= 1)
SHARE: Bound = ("more than 0 and at most 1", lambda v: 0 < v <= 1)
CHANCE: Bound = ("at least 0 and less than 1", lambda v: 0 <= v < 1)
STEPS: Bound = ("at least 1, or -1 for no limit", lambda v: v == -1 or v >= 1)
SEED: Bound = ("between 0 and 4294967295", lambda v: 0 <= v < 2**32)


def check(settings: Any, bounds: Mapping[str, Bound], where: str = "") -> None:
    """Raises ``ConfigError`` for the first setting out of its bound, and for any number that is NaN or infinite. None (no
    limit) is allowed where the setting allows it."""
    for field in dataclasses.fields(settings):
        value, name = getattr(settings, field.name), where + field.name
        refuse_no_number(name, value)
        if field.name in bounds and value is not None:
            text, holds = bounds[field.name]
            if not holds(value):
                raise ConfigError(f"{name} {value} must be {text}")


def refuse_no_number(name: str, value: Any) -> None:
    """Raises ``ConfigError`` where ``value`` is, or a mapping or list holds, a number that is NaN or infinite."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigError(f"{name} {value} is not a finite number")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            refuse_no_number(f"{name}.{key}", inner)
    if isinstance(value, (list, tuple)):
        for inner in value:
            refuse_no_number(name, inner)
