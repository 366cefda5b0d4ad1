"""GRPO with the consistency reward and Dynamic Beam Sampling.

    python -m ct_train grpo --config harness_configs/train/grpo_qc7b.yaml
    python -m ct_train grpo --config harness_configs/train/grpo_smollm2_cpu.yaml output_dir=runs/x max_steps=4
    python -m ct_train grpo --config harness_configs/train/grpo_qc7b.yaml --dry-run

Run again after a kill, the same command goes on from the last checkpoint. On several processes start it with accelerate:
`accelerate launch --config_file ... -m ct_train grpo --config ...`. Settings: see ct_train/grpo/config.py.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from ct_tasks.contra.trace import Truth
from ct_train import config, prompts
from ct_train.data.halves import halve
from ct_train.grpo.checks import refuse_few_rows, refuse_split_engine
from ct_train.grpo.config import GrpoSettings

SETTINGS = GrpoSettings  # how `python -m ct_tasks validate` checks a config of this command

def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, help="YAML file with the settings")
    parser.add_argument("--fresh", action="store_true", help="begin again; what is in output_dir moves into before-fresh-N there")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="check everything that can be checked without the model, and print the plan",
    )
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="settings that replace those of the file")


def main(args: argparse.Namespace) -> int:
    settings = config.load(GrpoSettings, args.config, args.overrides)
    schedule = settings.check(int(os.environ.get("WORLD_SIZE", "1")))
    refuse_split_engine(settings)
    if args.dry_run:
        from ct_train.grpo.data import load_rows
        from ct_train.grpo.plan import plan

        rows = halve(load_rows(settings.data, settings.limit), settings.halve)
        refuse_few_rows(len(rows), settings)
        print(json.dumps(plan(settings, schedule, len(rows)), indent=1))
        return 0
    config.keep(settings, Path(settings.output_dir))
    from ct_train.grpo.run import train

    final = train(settings, lambda truth: contra_prompt(truth, settings.segmentation), resume=not args.fresh)
    print(f"final model: {final}")
    return 0


def contra_prompt(truth: Truth, segmentation: str) -> str:
    """The prompt of the evaluation's ``contra`` paradigm, zero-shot."""
    return prompts.prompt(truth, segmentation=segmentation)
