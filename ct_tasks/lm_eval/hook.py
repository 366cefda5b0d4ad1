"""What happens to ``lm_eval.tasks.manager`` once it is imported (see ``ct_tasks._autoload``)."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from ct_tasks.benchmarks import registry
from ct_tasks.errors import ConfigError, UnknownNameError
from ct_tasks.lm_eval.options import check_metadata, check_task

TASK_FOLDER = Path(__file__).with_name("tasks")


def install(module: ModuleType) -> None:
    """Make ``TaskManager`` scan our folder too, and refuse bad options and names before any model loads."""
    manager: Any = module.TaskManager
    original, match = manager.__init__, manager.match_tasks
    signature = inspect.signature(original)

    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs).arguments
        given = bound.get("include_path")
        paths = [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]
        if not any(Path(p).resolve() == TASK_FOLDER for p in paths):
            paths.insert(0, TASK_FOLDER)
        check_metadata(bound.get("metadata") or {})
        original(**{**bound, "include_path": paths})

    @functools.wraps(match)
    def match_tasks(self: Any, task_list: list[str]) -> list[str]:
        _explain_expanded_glob(task_list)
        found = list(match(self, task_list))
        _suggest(self, task_list, found)
        _check_settings(found, self.metadata or {})
        return found

    manager.__init__, manager.match_tasks = init, match_tasks


def _explain_expanded_glob(names: list[str]) -> None:
    """``--tasks ct_*`` without quotes, typed in the repository root, arrives as the folder names ``ct_tasks ct_train``."""
    if {"ct_tasks", "ct_train"} & {str(n).rstrip("/") for n in names}:
        raise ConfigError(
            "--tasks got the folder names ct_tasks / ct_train: the shell expanded an unquoted ct_*. Quote it: --tasks 'ct_*'"
        )


def _suggest(manager: Any, asked: list[str], found: list[str]) -> None:
    """lm-eval only says that a task was not found. A name that is like nothing, and a file or folder, are left to it."""
    for name in () if found else asked:
        if any(c in name for c in "*?[") or Path(name).exists():
            continue
        known = {*registry.TASKS, *registry.GROUPS, *map(str, manager.all_tasks)}
        if name.startswith(("ct_", "codethinker")) or difflib.get_close_matches(name, known, n=1):
            raise UnknownNameError("task", name, known)


def _check_settings(names: list[str], metadata: Mapping[str, Any]) -> None:
    """Whether each task has the paradigm and the shots that the options ask for: lm-eval builds tasks only after the model."""
    options = check_metadata(metadata)
    for name in names:
        for leaf in registry.GROUPS.get(name, (name,)):
            if leaf in registry.TASKS:
                check_task(leaf, options)
