"""Supervised fine-tuning on ConTra traces.

    python -m ct_train sft --config harness_configs/train/sft_qc7b.yaml
    python -m ct_train sft --config harness_configs/train/sft_micro.yaml output_dir=runs/x learning_rate=3e-3

Run again after a kill, the same command goes on from the last whole checkpoint; with other settings or data it refuses.
On several processes start it with accelerate:
`accelerate launch --config_file harness_configs/accelerate/fsdp.yaml -m ct_train sft --config ...`. Settings: see
ct_train/sft/config.py.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ct_train import config
from ct_train.cli.grpo import contra_prompt
from ct_train.sft.config import SftSettings

SETTINGS = SftSettings  # how `python -m ct_tasks validate` checks a config of this command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, help="YAML file with the settings")
    parser.add_argument("--fresh", action="store_true", help="begin again; what is in output_dir moves into before-fresh-N there")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="settings that replace those of the file")


def main(args: argparse.Namespace) -> int:
    settings = config.load(SftSettings, args.config, args.overrides)
    settings.check()
    from ct_train.sft.run import train

    final = train(settings, lambda truth: contra_prompt(truth, settings.segmentation), resume=not args.fresh)
    print(f"final model: {final}")
    return 0
