"""The rows of the paper's Table 2 and the baselines' rewards, at equal rollout budget, over seeds.

    python -m ct_train ablate --config harness_configs/train/ablate_micro.yaml
    python -m ct_train ablate --config harness_configs/train/ablate_micro.yaml rows=[codethinker,without_dbs] seeds=[0]

Run again after a kill, the same command goes on. The table is printed and kept as table.md with results.json.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ct_train import config
from ct_train.ablate import AblateSettings, run, table

SETTINGS = AblateSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, help="YAML file with the settings")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="settings that replace those of the file")


def main(args: argparse.Namespace) -> int:
    print(table(run(config.load(AblateSettings, args.config, args.overrides))))
    return 0
