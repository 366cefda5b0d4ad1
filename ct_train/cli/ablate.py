"""The rows of the paper's Tables 2, 5, 6 and 8 and Figures 4 and 5, over seeds.

    python -m ct_train ablate --config harness_configs/train/ablate_micro.yaml
    python -m ct_train ablate --config harness_configs/train/ablate_micro.yaml rows=[table6,without_dbs] seeds=[0]
    python -m ct_train ablate --config harness_configs/train/ablate_qc7b.yaml rows=[table8] --dry-run

`rows` are names of rows or tables (ct_train/ablate_rows.py). Run again after a kill, the same command goes on. Results made
with other settings are refused, or made again with --redo. The table is printed and kept as table.md with results.json.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ct_train import config
from ct_train.ablate import AblateSettings, plans, run, table

SETTINGS = AblateSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, help="YAML file with the settings")
    parser.add_argument("--redo", action="store_true", help="move results made with other settings aside and make them again")
    parser.add_argument("--dry-run", action="store_true", help="check everything and print each row's plan; nothing runs")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="settings that replace those of the file")


def main(args: argparse.Namespace) -> int:
    settings = config.load(AblateSettings, args.config, args.overrides)
    if args.dry_run:
        for plan in plans(settings):
            print(json.dumps(plan))
        return 0
    print(table(run(settings, redo=args.redo)))
    return 0
