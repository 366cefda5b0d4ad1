"""Check a config before a model is loaded; suggestions for wrong names.

    python -m ct_tasks validate harness_configs/eval/table1_main.yaml
    python -m ct_tasks validate harness_configs/train/grpo_smollm2_cpu.yaml model=MODEL data=rows.jsonl

A config is one for ``lm_eval run --config`` or for a command of ``python -m ct_train``, whichever knows more of its keys,
and is checked by that command's own settings; key=value replaces a training setting, as it does there.
"""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import importlib
import inspect
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from ct_tasks.benchmarks import registry
from ct_tasks.errors import CodeThinkerError, ConfigError, UnknownNameError
from ct_tasks.lm_eval.options import check_metadata, check_task


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "configs", nargs="+", metavar="CONFIG.yaml", help="configs, then key=value for training configs"
    )


def main(args: argparse.Namespace) -> int:
    failed = 0
    overrides = [text for text in args.configs if "=" in text and not Path(text).exists()]
    for path in (Path(text) for text in args.configs if text not in overrides):
        try:
            print(f"{path}: ok ({check_any(path, overrides)})")
        except CodeThinkerError as error:
            failed += 1
            print(f"{path}: {error}")
    return 1 if failed else 0


def check_any(path: Path, overrides: Sequence[str] = ()) -> str:
    """What a config of either kind would do, in a few words. Raises ``CodeThinkerError`` for whatever could not run."""
    config = read_yaml(path)
    kinds = {"": len(_lm_eval_fields() & config.keys())}
    for command, settings in _training_settings().items():
        kinds[command] = len({f.name for f in dataclasses.fields(settings)} & config.keys())
    command = max(kinds, key=kinds.__getitem__)
    if command:
        from ct_train import config as training

        settings = training.load(_training_settings()[command], path, overrides)
        check = getattr(settings, "check", None)
        if check is not None:
            check(*([1] if inspect.signature(check).parameters else []))  # some plan for a number of processes
        return f"python -m ct_train {command}"
    names = check_file(path)
    return f"{len(names)} tasks: {', '.join(names[:6])}{' ...' if len(names) > 6 else ''}"


def _training_settings() -> dict[str, Any]:
    """The settings class of every training command that has one."""
    from ct_train.__main__ import COMMANDS

    modules = {name: importlib.import_module(f"ct_train.cli.{name}") for name in COMMANDS}
    return {name: module.SETTINGS for name, module in modules.items() if hasattr(module, "SETTINGS")}


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
        if name in registry.TASKS:
            check_task(name, options)
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
