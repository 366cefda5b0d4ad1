"""The small world: make its data and an untrained model, or measure a model on its held-out programs.

    python -m ct_train micro --config harness_configs/train/micro.yaml
    python -m ct_train micro --measure runs/micro/sft/final --data runs/micro/held_out.jsonl

`--measure` answers every held-out program five times at temperature 1 and once greedily, and prints the means as JSON.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ct_train import config
from ct_train.micro.make import MicroSettings, make

SETTINGS = MicroSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, help="YAML file with the settings")
    parser.add_argument("--measure", type=Path, help="measure this model instead of making data")
    parser.add_argument("--data", type=Path, help="held-out rows for --measure")
    parser.add_argument("--samples", type=int, default=5, help="answers a program at temperature 1 (default 5)")
    parser.add_argument("--limit", type=int, help="only the first rows")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="settings that replace those of the file")


def main(args: argparse.Namespace) -> int:
    if args.measure:
        from ct_train.micro.measure import measure_model

        print(json.dumps(measure_model(args.measure, args.data, args.samples, args.limit)))
        return 0
    settings = config.load(MicroSettings, args.config, args.overrides)
    print(f"small world: {make(settings)}")
    return 0
