"""Models and tokenizers as both trainers load them. torch and transformers are imported when something is loaded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from ct_tasks.errors import ConfigError
from ct_train.grpo.config import LoraSettings

RESERVED = "<|reserved_special_token_0|>"  # Llama 3's vocabulary has no other token that is free


def load_tokenizer(name: str, **options: Any) -> Any:
    """A model's tokenizer. Loaded before the model, so a model that is not there is told here: raises ``ConfigError``."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(name, **options)
    except Exception as error:  # a torn or foreign file makes the readers below raise anything
        raise _unloadable(name, error) from error
    if tokenizer.eos_token_id is None:
        raise ConfigError(
            f"the tokenizer of {name} names no end-of-sequence token, so no answer could end; set eos_token in its "
            "tokenizer_config.json"
        )
    return tokenizer


def _unloadable(name: str, error: Exception) -> ConfigError:
    cause = next(iter(str(error).strip().splitlines()), "")[:200] or type(error).__name__
    return ConfigError(
        f"the model {name} cannot be loaded ({cause}); name a folder that holds one, or connect to the hub: model=..."
    )


def refuse_other_vocabulary(name: str, tokenizer: Any, ids: Iterable[Sequence[int]]) -> None:
    """Raises ``ConfigError`` where ``ids`` of the data, or the end or pad token, lie beyond the model's embeddings: the
    tokenizer is another model's. Reads the model's config alone."""
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(name)
    except Exception as error:  # as in load_tokenizer
        raise _unloadable(name, error) from error
    size = getattr(config.get_text_config(), "vocab_size", None)
    largest = max((max(row, default=0) for row in ids), default=0)
    largest = max(largest, tokenizer.eos_token_id, tokenizer.pad_token_id or 0)
    if size is not None and largest >= size:
        raise ConfigError(
            f"the tokenizer of {name} writes token {largest} ({tokenizer.convert_ids_to_tokens(largest)!r}), but the model has "
            f"{size} embeddings: tokenizer and model do not belong together; copy the model's own tokenizer files into its folder"
        )


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
    """A causal language model with all its weights, in bfloat16 or float32; in float32 where the ``whole`` model is trained,
    since a step of 1e-6 is less than bfloat16 can add to a weight of 0.02. With ``bf16`` the arithmetic is bfloat16 in both
    cases. Raises ``ConfigError`` where it cannot be loaded."""
    import torch
    from transformers import AutoModelForCausalLM

    dtype = torch.bfloat16 if bf16 and not whole else torch.float32
    try:
        model, info = AutoModelForCausalLM.from_pretrained(name, dtype=dtype, output_loading_info=True)
    except Exception as error:  # a torn or foreign file makes the readers below raise anything
        raise _unloadable(name, error) from error
    if missing := sorted(info["missing_keys"]):
        raise ConfigError(
            f"the model {name} lacks {len(missing)} of its weights ({', '.join(missing[:3])}), which would be drawn at random; "
            "copy its files again"
        )
    return model


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
