"""LeetCodeReasoning: filter, inputs, execution, similarity, split, statistics, card.

    python -m ct_train data --config harness_configs/train/data.yaml --out runs/leetcode_reasoning
    python -m ct_train data --config harness_configs/train/data_offline.yaml --out runs/lcr limit=200 inputs.per_function=5
    python -m ct_train data --config harness_configs/train/data_offline.yaml --out runs/lcr --verify

--verify makes nothing: it runs every sample of a finished folder again, embeds every function again, and counts what should
not be there (shared functions, benchmark programs, wrong outputs); exit code 1 when it finds any.
Run again after a kill, the same command goes on where it stopped and ends with the same bytes. Settings: see DataSettings in
ct_train/data/pipeline.py; docs/data.md explains the steps and their files.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ct_tasks.errors import ConfigError
from ct_train import config
from ct_train.data.pipeline import STEPS, DataSettings
from ct_train.output import locked

SETTINGS = DataSettings  # how `python -m ct_tasks validate` checks a config of this command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, help="YAML file with the settings")
    parser.add_argument("--out", help="folder for the outputs (the setting `out`)")
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=STEPS, help="only these steps")
    parser.add_argument("--verify", action="store_true", help="check a finished folder instead of making one")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="settings that replace those of the file")


def main(args: argparse.Namespace) -> int:
    from ct_train.data import card, pipeline

    overrides = [*args.overrides, *([f"out={args.out}"] if args.out else [])]
    settings = config.load(DataSettings, args.config, overrides)
    settings.check()
    if not settings.out:
        raise ConfigError("name a folder: --out runs/leetcode_reasoning")
    if args.verify:
        from ct_train.data import verify

        chosen = settings.similarity
        counts = verify.verify(Path(settings.out), chosen.model, chosen.threshold, settings.execute.workers)
        print("\n".join(f"{name:<50} {count:>8,}" for name, count in counts.items()))
        return 1 if verify.faults(counts) else 0
    with locked(settings.out) as folder:
        config.keep(settings, folder)
        pipeline.run(settings, [s for s in STEPS if s in args.steps])
    if "card" in args.steps:
        for name, count in card.counts(folder).items():
            print(f"{name:<38} {count:>10,}   paper {card.PAPER[name]:>10,}")
    return 0
