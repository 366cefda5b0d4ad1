"""Check a config before a model is loaded; suggestions for wrong names.

    python -m ct_tasks validate harness_configs/eval/table1_main.yaml
    python -m ct_tasks validate harness_configs/train/grpo_smollm2_cpu.yaml model=MODEL data=rows.jsonl

A config is one for ``lm_eval run --config`` or for a command of ``python -m ct_train``, whichever knows more of its keys,
and is checked by that command's own settings; key=value replaces a training setting, as it does there. Everything that is
wrong with a config is told at once.
"""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ct_tasks import config_file
from ct_tasks.benchmarks import registry
from ct_tasks.config_file import read_yaml
from ct_tasks.errors import CodeThinkerError, ConfigError, UnknownNameError, each
from ct_tasks.lm_eval.models import check_model
from ct_tasks.lm_eval.options import check_metadata, check_task
from ct_tasks.options import TaskOptions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "configs", nargs="+", metavar="CONFIG.yaml", help="configs, then key=value for training configs"
    )


def main(args: argparse.Namespace) -> int:
    failed = 0
    overrides = [text for text in args.configs if "=" in text and not Path(text).exists()]
    for path in (Path(text) for text in args.configs if text not in overrides):
        what, errors = check_any(path, overrides)
        print("\n".join(f"{path}: {error}" for error in errors) if errors else f"{path}: ok ({what})")
        failed += bool(errors)
    return 1 if failed else 0


def check_any(path: Path, overrides: Sequence[str] = ()) -> tuple[str, list[ConfigError]]:
    """What a config of either kind would do, in a few words, and everything that keeps it from running."""
    try:
        config = read_yaml(path)
    except ConfigError as error:
        return "", [error]
    own = len(_lm_eval_fields() & config.keys())
    kind = max(config_file.kinds(), key=lambda kind: len(kind.keys & config.keys()), default=None)
    if kind is not None and len(kind.keys & config.keys()) > own:
        return kind.command, kind.problems(path, overrides)
    names, errors = check_config(config)
    return f"{len(names)} tasks: {', '.join(names[:6])}{' ...' if len(names) > 6 else ''}", errors


def check_config(config: dict[str, Any]) -> tuple[list[str], list[ConfigError]]:
    """The leaf tasks that an lm-eval config runs, and everything that keeps it from running."""
    known = _lm_eval_fields()
    errors: list[ConfigError] = [UnknownNameError("key", str(key), known) for key in config if key not in known]
    if isinstance(config.get("model"), str):
        _collect(errors, check_model, config["model"])
    given = config.get("tasks")
    asked = [str(name) for name in given] if isinstance(given, list) else str(given or "").split(",")
    tasks: list[str] = []
    for name in filter(None, map(str.strip, asked)):
        tasks += _collect(errors, _leaves, name) or []
    if not given:
        errors.append(ConfigError("it names no tasks"))
    options = _collect(errors, lambda: check_metadata(_mapping(config.get("metadata"), "metadata")))
    # With bad options the tasks are still asked whether they exist, not whether they fit the options.
    for name in dict.fromkeys(tasks):
        if name in registry.TASKS and isinstance(options, TaskOptions):
            _collect(errors, check_task, name, options)
    return list(dict.fromkeys(tasks)), list({str(error): error for error in errors}.values())


def _collect(errors: list[ConfigError], check: Any, *given: Any) -> Any:
    """What a check returns; what it finds wrong goes into ``errors``."""
    try:
        return check(*given)
    except ConfigError as error:
        errors += each(error)
    except CodeThinkerError as error:  # data that is not there, a missing part of the machine
        errors.append(ConfigError(str(error)))
    return None


def _leaves(name: str) -> list[str]:
    """The leaf tasks of a name or a pattern; a name of lm-eval's own stays. Raises ``ConfigError``."""
    if name in registry.GROUPS:
        return list(registry.GROUPS[name])
    if any(c in name for c in "*?["):
        matched = fnmatch.filter(registry.TASKS, name)
        if not matched:
            raise ConfigError(f"the pattern {name!r} matches no task")
        return matched
    if name not in registry.TASKS and name.startswith(("ct_", "codethinker")):
        raise UnknownNameError("task", name, [*registry.TASKS, *registry.GROUPS])
    return [name]


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
