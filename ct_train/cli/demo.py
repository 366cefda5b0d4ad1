"""The paper in small on a CPU: small world, SFT, GRPO, lm_eval before and after, report with curves.

    python -m ct_train demo output_dir=runs/demo
    python -m ct_train demo output_dir=runs/quick programs=200 grpo_steps=2 limit=8

Run again after a kill, the same command goes on. Settings: see ct_train/demo.py.
"""

from __future__ import annotations

import argparse

from ct_train import config
from ct_train.demo import DemoSettings, run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="settings that replace the defaults")


def main(args: argparse.Namespace) -> int:
    print(f"report: {run(config.load(DemoSettings, None, args.overrides))}/index.html")
    return 0
