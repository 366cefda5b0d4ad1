"""Write data, reward function and rollout loop for larger training engines.

    python -m ct_train export verl --config harness_configs/train/grpo_qc7b.yaml --out export/verl
    python -m ct_train export llamafactory data=data/leetcode_reasoning/sft.jsonl --out export/llamafactory

verl: parquet files, ``reward.py``, ``agent_loop.yaml`` (Dynamic Beam Sampling) and ``train.sh`` from the settings of ``grpo``.
llamafactory: data set, ``dataset_info.json`` and ``sft.yaml`` from the rows that ``sft`` reads.
Both need their own environment: their versions of trl, transformers and vllm exclude each other.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path

from ct_tasks.contra.trace import Truth
from ct_tasks.errors import ConfigError
from ct_train import config
from ct_train.cli.grpo import contra_prompt
from ct_train.grpo.config import GrpoSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("engine", choices=("verl", "llamafactory"))
    parser.add_argument("--config", type=Path, help="settings of grpo (YAML)")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--template", default="qwen", help="LlamaFactory's name of the model's chat template")
    parser.add_argument("--gpus", type=int, default=8, help="GPUs a node (verl)")
    parser.add_argument("--nodes", type=int, default=1, help="nodes (verl)")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="settings that replace those of the file")


def main(args: argparse.Namespace) -> int:
    settings = config.load(GrpoSettings, args.config, args.overrides)
    if not settings.data:
        raise ConfigError("export needs data: set it in the config or with data=FILE.jsonl")
    if args.engine == "llamafactory":
        from ct_train.export import llamafactory
        from ct_train.sft.data import complete
        from ct_train.sft.data import load_rows as load_sft_rows

        given = load_sft_rows(settings.data, settings.limit)
        made = complete(given, lambda truth: contra_prompt(truth, settings.segmentation), settings.segmentation)
        files = llamafactory.write(made, args.out, model=settings.model, template=args.template,
                                   max_tokens=settings.max_prompt_tokens + settings.max_response_tokens)  # fmt: skip
    else:
        from ct_train.export import verl
        from ct_train.grpo.data import load_rows, with_truths

        settings = dataclasses.replace(settings, output_dir=settings.output_dir or str(args.out / "checkpoints"))
        settings.check()
        rows = with_truths(load_rows(settings.data, settings.limit), segmentation=settings.segmentation,
                           questions=settings.reward == "execverify")  # fmt: skip
        rows = [{**row, "prompt": row.get("prompt") or contra_prompt(_truth(row["truth"]), settings.segmentation)} for row in rows]
        files = verl.write(rows, args.out, settings, gpus=args.gpus, nodes=args.nodes)
    for file in files:
        print(file)
    return 0


def _truth(text: str) -> Truth:
    return Truth.from_json(json.loads(text))
