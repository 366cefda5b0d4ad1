"""What a row's model is measured with: held-out programs of the small world, or a config of lm_eval; and its rollouts."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from ct_tasks.cli.validate import check_file, read_yaml
from ct_tasks.errors import ConfigError, HarnessError
from ct_train import identity
from ct_train.ablate_rows import stage

if TYPE_CHECKING:
    from ct_train.ablate import AblateSettings


def check_evaluation(path: Path) -> None:
    """Raises ``ConfigError`` for a config that lm_eval could not run, or that does not say how to load a model."""
    if not isinstance(read_yaml(path).get("model_args"), dict):
        raise ConfigError(f"{path}: ablate sets the model in model_args, which must be a mapping there")
    check_file(path)


def measured_with(settings: AblateSettings) -> dict[str, Any]:
    """What every model of the ablation is asked."""
    if settings.evaluate:
        return {"evaluate": read_yaml(Path(settings.evaluate))}
    return {"data": identity.of_path(settings.data), "samples": settings.samples, "limit": settings.limit}


def measure(settings: AblateSettings, row: str, model: str, folder: Path) -> dict[str, Any]:
    """Figures of a row's model: ``sampled`` and ``greedy`` of the small world, or ``tasks`` with lm_eval's accuracies."""
    if settings.evaluate:
        return {"tasks": evaluated(settings, row, model, folder)}
    from ct_train.micro.measure import measure_model

    figures = measure_model(Path(model), Path(settings.data), settings.samples, settings.limit)
    return {key: value for key, value in figures.items() if key != "model"}


def evaluation(settings: AblateSettings, row: str, model: str) -> dict[str, Any]:
    """The config of lm_eval for one row: its model, an adapter beside its base model, and the row's name as the stage."""
    made = read_yaml(Path(settings.evaluate))
    arguments = {**made["model_args"], "pretrained": model}
    if (Path(model) / "adapter_config.json").is_file():
        base = read_yaml(Path(model) / "adapter_config.json").get("base_model_name_or_path") or settings.grpo.model
        key = "lora_local_path" if str(made.get("model")).startswith("vllm") else "peft"
        arguments |= {"pretrained": base, key: model}
        if key == "lora_local_path":
            arguments |= {"enable_lora": True, "max_lora_rank": max(16, settings.grpo.lora.r)}
    return {**made, "model_args": arguments, "metadata": {**(made.get("metadata") or {}), "stage": stage(row)}}


def evaluated(settings: AblateSettings, row: str, model: str, folder: Path) -> dict[str, float]:
    """Run lm_eval in ``folder/eval`` (it goes on after a kill); task to accuracy. Raises ``HarnessError`` when it fails."""
    from ct_tasks.reports.read import read_runs

    file = folder / "eval.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(evaluation(settings, row, model)))
    command = [sys.executable, "-m", "ct_tasks", "run", "--run_dir", str(folder / "eval"), "--config", str(file)]
    with (folder / "eval.log").open("a") as log:
        code = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT).returncode
    if code:
        raise HarnessError(f"lm_eval for {row} ended with code {code}; see {log.name}")
    runs, _ = read_runs([folder / "eval"])
    return {task: found.metrics["acc"] for task, found in runs[-1].tasks.items() if "acc" in found.metrics}


def rollout_figures(history: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Means over all steps of what the groups looked like, and the tokens that were generated."""
    steps = [h for h in history if "rollout/group_max" in h]
    names = ("reward", "rollout/group_max", "rollout/hack_rate", "rollout/equal_groups", "rollout/rcs")
    figures = {
        n.removeprefix("rollout/"): statistics.fmean(float(h[n]) for h in steps)
        for n in names
        if steps and n in steps[0]
    }
    if steps:
        figures["last_reward"] = statistics.fmean(float(h["reward"]) for h in steps[-5:])
        figures["last_hack_rate"] = statistics.fmean(float(h["rollout/hack_rate"]) for h in steps[-5:])
        figures["generated_tokens"] = float(steps[-1]["rollout/generated_tokens"])
    return figures
