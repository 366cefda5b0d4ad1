"""The training configs, as ``python -m ct_tasks validate`` checks them: the entry point ``codethinker.configs`` names this."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ct_tasks.config_file import Kind
from ct_tasks.errors import ConfigError, each
from ct_train import config


def kinds() -> list[Kind]:
    """A kind for every command that has settings."""
    from ct_train.__main__ import COMMANDS

    found = []
    for command in COMMANDS:
        settings = getattr(importlib.import_module(f"ct_train.cli.{command}"), "SETTINGS", None)
        if settings is not None:
            keys = frozenset(field.name for field in dataclasses.fields(settings))
            found.append(Kind(f"python -m ct_train {command}", keys, _checker(settings)))
    return found


def _checker(settings: Any) -> Any:
    def problems(path: Path, overrides: Sequence[str]) -> list[ConfigError]:
        """Every unknown key and every value of another type; of what only the whole can tell, the first."""
        try:
            made = config.load(settings, path, overrides)
            check = getattr(made, "check", None)
            if check is not None:
                check(*([1] if inspect.signature(check).parameters else []))  # some plan for a number of processes
        except ConfigError as error:
            return each(error)
        return []

    return problems
