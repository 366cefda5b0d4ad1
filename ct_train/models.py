"""Models and tokenizers as both trainers load them. torch and transformers are imported when something is loaded."""

from __future__ import annotations

import os
from typing import Any

from ct_tasks.errors import ConfigError
from ct_train.grpo.config import LoraSettings

RESERVED = "<|reserved_special_token_0|>"  # Llama 3's vocabulary has no other token that is free


def load_tokenizer(name: str, **options: Any) -> Any:
    """A model's tokenizer. Loaded before the model, so a model that is not there is told here: raises ``ConfigError``."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(name, **options)
    except (OSError, ValueError) as error:
        cause = str(error).strip().splitlines()[0][:200]
        raise ConfigError(
            f"the model {name} cannot be loaded ({cause}); name a folder that holds one, or connect to the hub: model=..."
        ) from error


def set_pad(tokenizer: Any) -> None:
    """A pad token of its own: with pad equal to end-of-sequence, masking pads would mask the end that is to be learnt."""
    if tokenizer.pad_token_id is not None and tokenizer.pad_token_id != tokenizer.eos_token_id:
        return
    known = tokenizer.get_vocab()
    for candidate in ("<|endoftext|>", "<pad>", "<|pad|>", "<|finetune_right_pad_id|>", "<unk>", RESERVED):
        if candidate in known and known[candidate] != tokenizer.eos_token_id:
            tokenizer.pad_token = candidate
            return
    raise ConfigError(
        f"the tokenizer of {tokenizer.name_or_path} has no pad token apart from end-of-sequence and no token to take for it; "
        "set tokenizer.pad_token and save the tokenizer beside the model"
    )


def load_model(name: str, *, bf16: bool, whole: bool) -> Any:
    """A causal language model in bfloat16 or float32; in float32 where the ``whole`` model is trained, since a step of 1e-6
    is less than bfloat16 can add to a weight of 0.02. With ``bf16`` the arithmetic is bfloat16 in both cases."""
    import torch
    from transformers import AutoModelForCausalLM

    dtype = torch.bfloat16 if bf16 and not whole else torch.float32
    return AutoModelForCausalLM.from_pretrained(name, dtype=dtype)


def lora_config(lora: LoraSettings) -> Any:
    """peft's configuration; None where every weight is trained."""
    if lora.r == 0:
        return None
    from peft import LoraConfig

    return LoraConfig(
        r=lora.r,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=lora.target_modules,
        task_type="CAUSAL_LM",
    )


def precision(bf16: bool) -> dict[str, Any]:
    """Arguments of every trainer. transformers refuses bf16 on a CPU unless told that there is no accelerator."""
    import torch

    return {"bf16": bf16, "use_cpu": not torch.accelerator.is_available()}


def split_by() -> str:
    """``FSDP`` or ``ZeRO-3`` where accelerate was told to split the model over several processes, else empty."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return ""
    if os.environ.get("ACCELERATE_USE_FSDP", "").lower() == "true":
        return "FSDP"
    return "ZeRO-3" if os.environ.get("ACCELERATE_DEEPSPEED_ZERO_STAGE") == "3" else ""
