"""Settings from a YAML file with command-line overrides: unknown keys are refused with a suggestion, types are checked."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import platform
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml

from ct_tasks.config_file import read_yaml
from ct_tasks.errors import ConfigError, UnknownNameError, each, refuse
from ct_train.output import write_json
from ct_train.resume import CONFIG, made_from

T = TypeVar("T")
PACKAGES = ("codethinker-eval", "torch", "transformers", "trl", "peft", "datasets", "vllm")


def load(kind: type[T], path: Path | None, overrides: Sequence[str] = ()) -> T:
    """An instance of the dataclass ``kind`` from ``path`` and ``key=value`` overrides (``lora.r=8`` reaches inside).

    Raises ``UnknownNameError`` for a key that is not a setting, ``ConfigError`` for a value of another type, and
    ``ConfigErrors`` for several of them.
    """
    values: dict[str, Any] = read_yaml(path) if path else {}
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals:
            raise ConfigError(f"{text!r} is not key=value")
        place = values
        *parents, last = key.split(".")
        for parent in parents:
            place = place.setdefault(parent, {})
            if not isinstance(place, dict):
                raise ConfigError(f"{key}: {parent} is not a group of settings")
        place[last] = yaml.safe_load(value)
    return _build(kind, values, "")


def _build(kind: type[T], values: Mapping[str, Any], where: str) -> T:
    hints = typing.get_type_hints(kind)
    fields = {f.name for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    made: dict[str, Any] = {}
    errors: list[ConfigError] = []
    for key, value in values.items():
        if key not in fields:
            errors.append(UnknownNameError("setting", f"{where}{key}", [f"{where}{name}" for name in fields]))
            continue
        try:
            made[key] = _fit(hints[key], value, f"{where}{key}")
        except ConfigError as error:
            errors += each(error)
    refuse(errors)
    return kind(**made)


def _fit(hint: Any, value: Any, name: str) -> Any:
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        if not isinstance(value, Mapping):
            raise ConfigError(f"{name} is a group of settings, not {value!r}")
        return _build(hint, value, f"{name}.")
    origin = typing.get_origin(hint) or hint
    options = typing.get_args(hint) if origin in (typing.Union, types.UnionType) else (hint,)
    for option in options:
        plain = typing.get_origin(option) or option
        if option is type(None) and value is None:
            return None
        if plain is float and isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
        if plain is float and isinstance(value, str):  # YAML reads 1e-6 as text
            try:
                return float(value)
            except ValueError:
                continue
        if plain is int and isinstance(value, bool):
            continue
        if isinstance(plain, type) and isinstance(value, plain):
            return value
        if (plain is Mapping and isinstance(value, dict)) or (plain is tuple and isinstance(value, list)):
            return tuple(value) if plain is tuple else value
    raise ConfigError(f"{name} = {value!r} is not of type {getattr(hint, '__name__', hint)}")


def keep(settings: Any, folder: Path) -> None:
    """Write the resolved settings, the versions and digests of data and model beside a command's output."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    write_json(
        folder / CONFIG,
        {
            "settings": dataclasses.asdict(settings),
            "made_from": made_from(settings),
            "versions": {**versions, "python": platform.python_version()},
        },
    )
