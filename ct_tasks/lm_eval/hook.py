"""What happens to ``lm_eval.tasks.manager`` once it is imported (see ``ct_tasks._autoload``)."""

from __future__ import annotations

import functools
from pathlib import Path
from types import ModuleType
from typing import Any

from ct_tasks.lm_eval.options import check_metadata

TASK_FOLDER = Path(__file__).with_name("tasks")


def install(module: ModuleType) -> None:
    """Make ``TaskManager`` scan our folder too, and refuse a bad task option before any model loads."""
    manager: Any = module.TaskManager
    original = manager.__init__

    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        given = kwargs.get("include_path")
        paths = [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]
        if not any(Path(p).resolve() == TASK_FOLDER for p in paths):
            paths.insert(0, TASK_FOLDER)
        check_metadata(kwargs.get("metadata") or {})
        original(self, *args, **{**kwargs, "include_path": paths})

    manager.__init__ = init
    match = manager.match_tasks

    @functools.wraps(match)
    def match_tasks(self: Any, task_list: list[str]) -> list[str]:
        _explain_expanded_glob(task_list)
        return list(match(self, task_list))

    manager.match_tasks = match_tasks


def _explain_expanded_glob(names: list[str]) -> None:
    """``--tasks ct_*`` without quotes, typed in the repository root, arrives as the folder names ``ct_tasks ct_train``."""
    from ct_tasks.errors import ConfigError

    if {"ct_tasks", "ct_train"} & {str(n).rstrip("/") for n in names}:
        raise ConfigError(
            "--tasks got the folder names ct_tasks / ct_train: the shell expanded an unquoted ct_*. Quote it: --tasks 'ct_*'"
        )
