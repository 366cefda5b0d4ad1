"""What a run will do and roughly need, without loading the model: printed by a dry run."""

from __future__ import annotations

import math
from typing import Any

from ct_train.grpo.config import GrpoSettings, Schedule


def plan(settings: GrpoSettings, schedule: Schedule, rows: int) -> dict[str, Any]:
    """Steps, rollouts and an estimate of memory in GiB a process.

    Memory: weights (fp32 where all of them are trained), gradients and AdamW's two moments in fp32 for what is trained, the
    largest logits tensor (batch x response x vocabulary, fp32, twice); vLLM's share of the GPU where it is
    colocated. FSDP and ZeRO-3 divide weights and trained by the number of processes. Activations depend on the kernel and
    are not in it.
    """
    # trl drops what does not fill a rollout at the end of an epoch; the next epoch has another order.
    each = rows // settings.prompts_per_rollout * (settings.prompts_per_rollout // settings.prompts_per_update)
    updates = math.ceil(each * settings.epochs)
    found: dict[str, Any] = {
        "rows": rows,
        "updates": settings.max_steps if settings.max_steps > 0 else updates,
        "prompts_per_rollout": settings.prompts_per_rollout,
        "completions_per_rollout": settings.prompts_per_rollout * settings.group_size,
        "regular_per_group": settings.regular,
        "dbs_per_group": settings.group_size - settings.regular,
        "gradient_accumulation": schedule.accumulation,
        "forward_passes_per_rollout": schedule.steps_per_generation,
    }
    size = parameters(settings.model)
    if size is None:
        found["memory"] = f"no config of the Llama kind for {settings.model}, here or on the hub: the model's size is not known"
        return found
    count, vocabulary, hidden, layers = size
    whole = settings.lora.r == 0 and not settings.adapter
    width = 2 if settings.bf16 and not whole else 4
    # Beyond the weights: gradients and two moments in fp32, and for adapters their own weights.
    trained = 12 * count if whole else 16 * 2 * settings.lora.r * hidden * layers * 7 * 2
    logits = 2 * settings.completions_per_device * settings.max_response_tokens * vocabulary * 4
    gib = 2**30
    found["parameters"] = count
    found["memory_gib"] = {
        "weights": round(count * width / gib, 2),
        "trained": round(trained / gib, 2),
        "logits": round(logits / gib, 2),
    }
    if settings.engine == "vllm":
        found["memory_gib"]["vllm"] = f"{settings.vllm_memory:.0%} of the GPU"
    return found


def parameters(model: str) -> tuple[int, int, int, int] | None:
    """(parameters, vocabulary, hidden size, layers) from a config of the Llama or Qwen kind; None without one."""
    from transformers import AutoConfig

    try:
        c = AutoConfig.from_pretrained(model).to_dict()
        hidden, layers, vocabulary = c["hidden_size"], c["num_hidden_layers"], c["vocab_size"]
        heads = c["num_attention_heads"]
        key_values = c.get("num_key_value_heads", heads) * (c.get("head_dim") or hidden // heads)
        layer = hidden * (2 * hidden + 2 * key_values) + 3 * hidden * c["intermediate_size"] + 2 * hidden
    except (OSError, ValueError, KeyError, TypeError):  # not there, torn, or of another kind
        return None
    embeddings = vocabulary * hidden * (1 if c.get("tie_word_embeddings") else 2)
    return layers * layer + embeddings + hidden, vocabulary, hidden, layers
