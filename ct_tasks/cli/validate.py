"""Check a config before a model is loaded; suggestions for wrong names.

    python -m ct_tasks validate harness_configs/eval/table1_main.yaml

A config with ``tasks`` is one for ``lm_eval run --config``; one with ``model`` and ``reward`` or ``learning_rate`` is one
for ``python -m ct_train`` and is checked by that command's own settings.
"""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import json
from pathlib import Path
from typing import Any

import yaml

from ct_tasks.benchmarks import registry
from ct_tasks.errors import CodeThinkerError, ConfigError, UnknownNameError
from ct_tasks.lm_eval.options import check_metadata


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("configs", nargs="+", type=Path, metavar="CONFIG.yaml")


def main(args: argparse.Namespace) -> int:
    failed = 0
    for path in args.configs:
        try:
            names = check_file(path)
            print(f"{path}: ok ({len(names)} tasks: {', '.join(names[:6])}{' ...' if len(names) > 6 else ''})")
        except CodeThinkerError as error:
            failed += 1
            print(f"{path}: {error}")
    return 1 if failed else 0


def check_file(path: Path) -> list[str]:
    """The leaf tasks that an lm-eval config runs. Raises ``ConfigError`` for whatever could not run."""
    config = read_yaml(path)
    known = _lm_eval_fields()
    for key in config:
        if key not in known:
            raise UnknownNameError("key", str(key), known)
    if not config.get("tasks"):
        raise ConfigError("it names no tasks")
    options = check_metadata(_mapping(config.get("metadata"), "metadata"))
    given = config["tasks"] if isinstance(config["tasks"], list) else str(config["tasks"]).split(",")
    tasks: list[str] = []
    for name in map(str, given):
        if name in registry.GROUPS:
            tasks += registry.GROUPS[name]
        elif any(c in name for c in "*?["):
            matched = fnmatch.filter(registry.TASKS, name)
            if not matched:
                raise ConfigError(f"the pattern {name!r} matches no task")
            tasks += matched
        elif name in registry.TASKS:
            tasks.append(name)
        elif name.startswith(("ct_", "codethinker")):
            raise UnknownNameError("task", name, [*registry.TASKS, *registry.GROUPS])
        else:
            tasks.append(name)  # a task of lm-eval's own
    for name in tasks:
        if name in registry.TASKS and options.paradigm and options.paradigm not in registry.get(name).paradigms:
            paradigms = ", ".join(registry.get(name).paradigms)
            raise ConfigError(f"{name} has no paradigm {options.paradigm}; it has: {paradigms}")
    return list(dict.fromkeys(tasks))


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file that holds one mapping. Raises ``ConfigError`` with the line of a syntax error."""
    try:
        config = yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read: {error}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"is not YAML: {str(error).splitlines()[0]} {getattr(error, 'problem_mark', '')}") from None
    if not isinstance(config, dict):
        raise ConfigError(f"holds a {type(config).__name__}, not a mapping of options")
    return config


def _mapping(value: Any, name: str) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise ConfigError(f"{name} is not JSON: {error}") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"{name} must be a mapping, not a {type(value).__name__}")
    return value


def _lm_eval_fields() -> set[str]:
    from lm_eval.config.evaluate_config import EvaluatorConfig

    return {f.name for f in dataclasses.fields(EvaluatorConfig)}
