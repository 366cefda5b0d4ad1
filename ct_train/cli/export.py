"""Write data, reward function and rollout loop for larger training engines.

    python -m ct_train export verl --config harness_configs/train/grpo_qc7b.yaml --out export/verl
    python -m ct_train export llamafactory --config harness_configs/train/sft_qc7b.yaml --out export/llamafactory

verl takes the settings of `grpo`: parquet files, ``reward.py``, ``agent_loop.yaml`` (Dynamic Beam Sampling), ``train.sh``.
llamafactory takes those of `sft`: data sets, ``dataset_info.json`` and ``sft.yaml``. A setting that the engine cannot follow
is refused; docs/export.md lists what becomes of each. Both need their own environment: their versions of trl, transformers
and vllm exclude each other.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path

from ct_tasks.contra.trace import Truth
from ct_tasks.errors import ConfigError
from ct_train import config, prompts
from ct_train.data.halves import halve
from ct_train.grpo.config import GrpoSettings
from ct_train.sft.config import SftSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("engine", choices=("verl", "llamafactory"))
    parser.add_argument("--config", type=Path, help="settings of grpo (verl) or of sft (llamafactory), YAML")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--template", default="qwen", help="LlamaFactory's name of the model's chat template")
    parser.add_argument("--gpus", type=int, default=8, help="GPUs a node (verl)")
    parser.add_argument("--nodes", type=int, default=1, help="nodes (verl)")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="settings that replace those of the file")


def main(args: argparse.Namespace) -> int:
    for file in (_verl if args.engine == "verl" else _llamafactory)(args):
        print(file)
    return 0


def _verl(args: argparse.Namespace) -> list[Path]:
    from ct_train.export import verl
    from ct_train.grpo.data import load_rows, with_truths

    found = config.load(GrpoSettings, args.config, args.overrides)
    settings = dataclasses.replace(found, output_dir=found.output_dir or str(args.out / "checkpoints"))
    if not settings.data:
        raise ConfigError("export needs data: set it in the config or with data=FILE.jsonl")
    settings.check()
    rows = halve(load_rows(settings.data, settings.limit), settings.halve)
    rows = with_truths(rows, segmentation=settings.segmentation, questions=settings.reward == "execverify")
    for row in rows:
        asked = row.get("questions") or ()
        row["prompt"] = prompts.kept(row, settings.paradigm) or prompts.prompt(
            Truth.from_json(json.loads(row["truth"])), settings.paradigm, settings.segmentation, asked
        )
    return verl.write(rows, args.out, settings, gpus=args.gpus, nodes=args.nodes)


def _llamafactory(args: argparse.Namespace) -> list[Path]:
    from ct_train.export import llamafactory
    from ct_train.sft.data import complete, load_rows

    found = config.load(SftSettings, args.config, args.overrides)
    settings = dataclasses.replace(found, output_dir=found.output_dir or str(args.out / "saves"))
    if not settings.data:
        raise ConfigError("export needs data: set it in the config or with data=FILE.jsonl")

    def prompt(truth: Truth) -> str:
        return prompts.prompt(truth, segmentation=settings.segmentation)

    rows = complete(halve(load_rows(settings.data, settings.limit), settings.halve), prompt, settings.segmentation)
    held = load_rows(settings.eval_data, settings.eval_limit) if settings.eval_data else []
    held = complete(held, prompt, settings.segmentation) if held else []
    return llamafactory.write(rows, held, args.out, settings, args.template)
