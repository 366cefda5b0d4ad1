"""ConTra traces with a teacher's THOUGHTs, rejection sampling, and the same samples in the baselines' formats.

    python -m ct_train synth --config harness_configs/train/synth_rules.yaml data=runs/lcr/sft.jsonl --out runs/lcr_sft
    python -m ct_train synth --config harness_configs/train/synth_qwen3.yaml data=runs/lcr/sft.jsonl --out runs/lcr_sft
    python -m ct_train synth data=runs/lcr/sft.jsonl --out runs/x limit=50 baselines=[]

The teacher fills in only the THOUGHTs; code, locals and result are the true ones and are checked again in its reply. Run again
after a kill, the same command goes on. Settings: see SynthSettings in ct_train/synth/pipeline.py.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ct_train import config
from ct_train.output import locked
from ct_train.synth.pipeline import SynthSettings

SETTINGS = SynthSettings  # how `python -m ct_tasks validate` checks a config of this command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, help="YAML file with the settings")
    parser.add_argument("--out", help="folder for the outputs (the setting `out`)")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="settings that replace those of the file")


def main(args: argparse.Namespace) -> int:
    from ct_train.synth import pipeline

    overrides = [*args.overrides, *([f"out={args.out}"] if args.out else [])]
    settings = config.load(SynthSettings, args.config, overrides)
    settings.check()
    settings.check_places()
    with locked(settings.out) as folder:
        config.keep(settings, folder)
        summaries = pipeline.run(settings)
    for name, summary in summaries.items():
        total = summary["kept"] + summary["dropped"]
        reasons = ", ".join(f"{k} {v}" for k, v in summary["reasons"].items())
        print(f"{name:<13} {summary['kept']:>7,} of {total:,} samples{'   dropped: ' + reasons if reasons else ''}")
    return 0
