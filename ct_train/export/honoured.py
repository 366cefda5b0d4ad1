"""What becomes of each setting in each engine: the table of docs/export.md.

``python -m ct_train`` runs trl, which follows every setting of ``grpo`` and ``sft``. A cell says where an export puts the
setting, or when it is refused; one that begins with "not used" names what takes its place. The tests hold the table to the
settings' fields and to what the exports really write.
"""

from __future__ import annotations

from collections.abc import Mapping

NOT_USED = "not used"

VERL: Mapping[str, str] = {
    "model": "`model.path`",
    "data": "`train.parquet`, `validation.parquet` (the last tenth, at most 512 rows)",
    "output_dir": "`trainer.default_local_dir`",
    "adapter": "`model.lora_adapter_path`, with the adapter's own rank and alpha",
    "reward": "`reward.py`, `reward_kwargs.reward`",
    "reward_options": "`reward_kwargs`; `rcc` and `ccw` in `agent_loop.yaml` too, for the beam",
    "paradigm": "prompts of the parquet files",
    "segmentation": "true traces and prompts of the parquet files",
    "chat": "refused when false: verl always uses the chat template",
    "group_size": "`rollout.n`, `agent_loop.yaml`",
    "regular": "`agent_loop.yaml`; the whole group: verl's own loop",
    "engine": "not used: verl samples with vLLM",
    "prompts_per_rollout": "`data.train_batch_size`",
    "prompts_per_update": "`actor.ppo_mini_batch_size`",
    "completions_per_device": "`ppo_micro_batch_size_per_gpu` and those of log-probabilities",
    "learning_rate": "`optim.lr`",
    "optimizer": "`adamw`; `muon` is refused",
    "schedule": "`optim.lr_scheduler_type`; `linear` is refused. The rate moves once a rollout",
    "epochs": "`trainer.total_epochs`; with a part of one, the rollouts it makes as `trainer.total_training_steps`",
    "max_steps": "`trainer.total_training_steps`, in rollouts; refused when it ends inside one",
    "warmup_steps": "`optim.lr_warmup_steps`, in rollouts, rounded up",
    "clip": "`clip_ratio`, `clip_ratio_low`, `clip_ratio_high`; the dual clip is out of reach, as trl has none",
    "clip_high": "`clip_ratio_high`",
    "loss_type": "`loss_agg_mode`; `bnpo` is refused",
    "beta": "`use_kl_loss`, `kl_loss_coef`, with trl's estimator",
    "entropy": "`entropy_coeff`",
    "scale_rewards": "`norm_adv_by_std_in_grpo`; `batch` is refused",
    "weight_decay": "`optim.weight_decay`",
    "max_grad_norm": "`grad_clip`, `optim.clip_grad`; 0 is no clip",
    "temperature": "`rollout.temperature`",
    "max_prompt_tokens": "`data.max_prompt_length`; longer prompts are left out",
    "max_response_tokens": "`data.max_response_length`",
    "mask_truncated": "`agent_loop.yaml`, by our loop",
    "lora": "`lora_rank`, `lora_alpha`, `target_modules`; a dropout is refused",
    "bf16": "refused when false: verl computes in bfloat16",
    "gradient_checkpointing": "`model.enable_gradient_checkpointing`",
    "limit": "rows of the parquet files",
    "halve": "rows of the parquet files",
    "seed": "`data.seed`, `rollout.seed`, `actor.data_loader_seed`, `fsdp_config.seed`, `agent_loop.yaml`",
    "save_steps": "`trainer.save_freq`, in rollouts",
    "report_to": "`trainer.logger`; what verl does not know is refused",
    "vllm_memory": "`rollout.gpu_memory_utilization`",
    "vllm_tensor_parallel": "`rollout.tensor_model_parallel_size`",
    "vllm_server_url": "not used: verl starts its own vLLM",
}
"""Keys below ``actor_rollout_ref`` are written without it."""

LLAMAFACTORY: Mapping[str, str] = {
    "model": "`model_name_or_path`",
    "data": "`contra.json`",
    "output_dir": "`output_dir`",
    "eval_data": "`contra_held_out.json`, `eval_dataset`",
    "segmentation": "prompts and traces made for rows that bring none",
    "chat": "refused when false: LlamaFactory uses the template of `--template`",
    "lora": "`lora_rank`, `lora_alpha`, `lora_dropout`, `lora_target`; `r: 0` is `finetuning_type: full`",
    "learning_rate": "`learning_rate`",
    "optimizer": "`adamw`; `muon` is refused, LlamaFactory's has another scale",
    "schedule": "`lr_scheduler_type`",
    "warmup_steps": "`warmup_steps`",
    "weight_decay": "`weight_decay`",
    "epochs": "`num_train_epochs`",
    "max_steps": "`max_steps`",
    "batch_size": "`per_device_train_batch_size`",
    "accumulation": "`gradient_accumulation_steps`",
    "max_tokens": "`cutoff_len`; LlamaFactory cuts longer rows, `sft` leaves them out",
    "packing": "`packing`",
    "bf16": "`bf16`",
    "gradient_checkpointing": "`disable_gradient_checkpointing`",
    "limit": "rows of `contra.json`",
    "halve": "rows of `contra.json`",
    "eval_limit": "rows of `contra_held_out.json`",
    "eval_steps": "`eval_steps`, where there is `eval_data`",
    "probe": "refused: LlamaFactory does not score answers while it trains",
    "probe_tokens": "not used: there is no probe",
    "save_steps": "`save_steps`, `save_strategy`",
    "keep_checkpoints": "`save_total_limit`",
    "merge": "not used: `llamafactory-cli export` merges an adapter",
    "seed": "`seed`",
    "report_to": "`report_to`",
}


def markdown(cells: Mapping[str, str], engine: str) -> str:
    """The table of one engine."""
    rows = [f"| `{name}` | {cell} |" for name, cell in cells.items()]
    return "\n".join([f"| setting | in {engine} |", "|---|---|", *rows]) + "\n"
