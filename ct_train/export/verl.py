"""verl's data, reward function, rollout loop and launch script for GRPO with the consistency reward and DBS.

Parquet columns are verl's: ``data_source``, ``prompt`` (messages), ``ability``, ``reward_model`` (its ``ground_truth`` is
the JSON of the true trace), ``extra_info`` (``index``, ``split``, ``questions``), ``agent_name``. The reward file calls
``ct_train.rewards``; the rollout loop is ``ct_train.export.verl_loop``. Settings follow the GRPO settings given: no KL, no
entropy bonus, the same clip, group and lengths.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ct_tasks.errors import DataError
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

    Raises ``DataError`` when there are fewer than two rows.
    """
    from datasets import Dataset

    if len(rows) < 2:
        raise DataError(f"verl needs rows to train on and rows to validate on, got {len(rows)}")
    out = out.resolve()  # verl resolves relative paths on each node by itself
    out.mkdir(parents=True, exist_ok=True)
    held = max(1, min(512, len(rows) // 10))
    agent = "single_turn_agent" if settings.regular == settings.group_size else AGENT
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
    }], sort_keys=False))  # fmt: skip
    script.write_text(launch(settings, out, gpus, nodes))
    script.chmod(0o755)
    return [*files, reward, loop, script]


def overrides(settings: GrpoSettings, out: Path, gpus: int, nodes: int) -> dict[str, Any]:
    """verl's settings for this run, as its command line takes them (``verl.trainer.main_ppo``)."""
    options = {f"reward.custom_reward_function.reward_kwargs.{k}": v for k, v in settings.reward_options.items()}
    adapter = {
        "actor_rollout_ref.model.lora_rank": settings.lora.r,
        "actor_rollout_ref.model.lora_alpha": settings.lora.alpha,
        "actor_rollout_ref.model.target_modules": settings.lora.target_modules,
    } if settings.lora.r else {}  # fmt: skip
    return {
        "algorithm.adv_estimator": "grpo", "algorithm.use_kl_in_reward": False,
        "data.train_files": out / "train.parquet", "data.val_files": out / "validation.parquet",
        "data.train_batch_size": settings.prompts_per_rollout,
        "data.max_prompt_length": settings.max_prompt_tokens, "data.max_response_length": settings.max_response_tokens,
        "data.return_raw_chat": True,
        "actor_rollout_ref.model.path": settings.model, **adapter,
        "actor_rollout_ref.actor.optim.lr": settings.learning_rate,
        "actor_rollout_ref.actor.ppo_mini_batch_size": settings.prompts_per_update,
        "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": settings.completions_per_device,
        "actor_rollout_ref.actor.use_kl_loss": False, "actor_rollout_ref.actor.entropy_coeff": 0,
        "actor_rollout_ref.actor.clip_ratio": settings.clip,
        "actor_rollout_ref.actor.loss_agg_mode": "seq-mean-token-mean",
        "actor_rollout_ref.rollout.name": "vllm", "actor_rollout_ref.rollout.mode": "async",
        "actor_rollout_ref.rollout.n": settings.group_size, "actor_rollout_ref.rollout.temperature": settings.temperature,
        "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu": settings.completions_per_device,
        "actor_rollout_ref.rollout.gpu_memory_utilization": settings.vllm_memory,
        "actor_rollout_ref.rollout.tensor_model_parallel_size": settings.vllm_tensor_parallel,
        "actor_rollout_ref.rollout.enable_prefix_caching": True,
        "actor_rollout_ref.rollout.agent.agent_loop_config_path": out / "agent_loop.yaml",
        "reward.custom_reward_function.path": out / "reward.py",
        "reward.custom_reward_function.name": "compute_score",
        "+reward.custom_reward_function.reward_kwargs.reward": settings.reward,
        **{f"+{key}": value for key, value in options.items()},
        "trainer.n_gpus_per_node": gpus, "trainer.nnodes": nodes, "trainer.total_epochs": int(settings.epochs),
        "trainer.save_freq": settings.save_steps, "trainer.default_local_dir": settings.output_dir,
        "trainer.project_name": "codethinker", "trainer.logger": "[console]",
    }  # fmt: skip


def launch(settings: GrpoSettings, out: Path, gpus: int, nodes: int) -> str:
    """The launch script."""
    lines = [f"  {shlex.quote(f'{key}={value}')}" for key, value in overrides(settings, out, gpus, nodes).items()]
    return (
        "#!/usr/bin/env bash\n# GRPO with the consistency reward under verl; needs verl[vllm] and codethinker-eval in one "
        "environment.\nset -euo pipefail\nexec python -m verl.trainer.main_ppo \\\n" + " \\\n".join([*lines, '  "$@"']) + "\n"
    )
