"""verl's data, reward function, rollout loop and launch script for GRPO with the consistency reward and DBS.

Parquet columns are verl's: ``data_source``, ``prompt`` (messages), ``ability``, ``reward_model`` (its ``ground_truth`` is
the JSON of the true trace), ``extra_info`` (``index``, ``split``, ``questions``), ``agent_name``. The reward file calls
``ct_train.rewards``; the rollout loop is ``ct_train.export.verl_loop``; every setting goes by ``ct_train.export.verl_settings``.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ct_tasks.errors import DataError
from ct_train.export.verl_settings import few_rows, overrides
from ct_train.grpo.config import GrpoSettings

AGENT = "ct_dbs"
REWARD = '''"""verl's custom reward function: the consistency reward, the evaluation's own scoring."""

from ct_train.rewards.batch import compute_score

__all__ = ["compute_score"]
'''


def record(row: Mapping[str, Any], index: int, split: str, agent: str) -> dict[str, Any]:
    """One row of the parquet file. ``row`` has ``prompt`` and ``truth`` (see ``ct_train.grpo.data``)."""
    prompt = row["prompt"]
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else [dict(m) for m in prompt]
    return {
        "data_source": "contra", "prompt": messages, "ability": "code-reasoning", "agent_name": agent,
        "reward_model": {"style": "rule", "ground_truth": row["truth"]},
        "extra_info": {"index": index, "split": split, "questions": json.dumps(list(row.get("questions") or ()))},
    }  # fmt: skip


def write(rows: Sequence[Mapping[str, Any]], out: Path, settings: GrpoSettings, *, gpus: int = 8, nodes: int = 1) -> list[Path]:
    """Write all files into ``out``; the last tenth of the rows (at most 512) is the validation file.

    Raises ``DataError`` when there are fewer than two rows, ``ConfigError`` before anything is written for a setting that
    verl cannot follow.
    """
    from datasets import Dataset

    if len(rows) < 2:
        raise DataError(f"verl needs rows to train on and rows to validate on, got {len(rows)}")
    out = out.resolve()  # verl resolves relative paths on each node by itself
    held = max(1, min(512, len(rows) // 10))
    text = launch(settings, out, gpus, nodes, len(rows) - held)
    if few := few_rows(settings, len(rows) - held):
        print(f"export verl: {few}", file=sys.stderr)
    out.mkdir(parents=True, exist_ok=True)
    # verl's own loop samples regularly, and only ours can mask what the length limit cut.
    plain = settings.regular == settings.group_size and not settings.mask_truncated
    agent = "single_turn_agent" if plain else AGENT
    parts = {"train": rows[:-held], "validation": rows[-held:]}
    files = []
    for split, part in parts.items():
        files.append(out / f"{split}.parquet")
        # Validation draws regular samples: accuracy is measured without the beam.
        kind = agent if split == "train" else "single_turn_agent"
        Dataset.from_list([record(row, i, split, kind) for i, row in enumerate(part)]).to_parquet(str(files[-1]))
    reward, loop, script = out / "reward.py", out / "agent_loop.yaml", out / "train.sh"
    reward.write_text(REWARD)
    loop.write_text(yaml.safe_dump([{
        "name": AGENT, "_target_": "ct_train.export.verl_loop.DbsAgentLoop",
        "group_size": settings.group_size, "regular": settings.regular, **settings.beam_options(),
        **({"seed": settings.seed} if settings.seed else {}), **({"mask_truncated": True} if settings.mask_truncated else {}),
    }], sort_keys=False))  # fmt: skip
    script.write_text(text)
    script.chmod(0o755)
    return [*files, reward, loop, script]


def launch(settings: GrpoSettings, out: Path, gpus: int, nodes: int, rows: int) -> str:
    """The launch script for ``rows`` training rows."""
    lines = [f"  {shlex.quote(f'{key}={value}')}" for key, value in overrides(settings, out, gpus, nodes, rows).items()]
    return (
        "#!/usr/bin/env bash\n# GRPO with the consistency reward under verl; needs verl[vllm] and codethinker-eval in one "
        "environment.\nset -euo pipefail\nexec python -m verl.trainer.main_ppo \\\n" + " \\\n".join([*lines, '  "$@"']) + "\n"
    )
