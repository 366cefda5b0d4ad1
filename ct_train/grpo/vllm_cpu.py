"""What vLLM's CPU build needs before trl makes its engine. Nothing here touches a machine with a GPU."""

from __future__ import annotations

import importlib.util
from typing import Any

from ct_tasks.errors import ConfigError


def prepare() -> None:
    """Change three things, each of which would spoil a run without a word or end it.

    vLLM packs weights when it loads them, so later updates would be ignored: the plain product instead. trl names no
    precision, so vLLM would take bfloat16 for a float32 policy: float32. A prompt prefilled in two pieces ends vLLM 0.31
    when its request has a seed, as ours have: prompts are prefilled whole. Raises ``ConfigError`` without vLLM.
    """
    if importlib.util.find_spec("vllm") is None:
        raise ConfigError("engines vllm and vllm_server need vLLM: pip install 'codethinker-eval[vllm]', or on a CPU see "
                          "docs/models.md; or set engine=transformers")  # fmt: skip
    import torch

    if torch.cuda.is_available():
        return
    import trl.generation.vllm_generation as generation
    import vllm.model_executor.layers.utils as utils
    from vllm import LLM

    def plain(layer: Any, remove_weight: bool) -> None:
        layer.cpu_linear = torch.nn.functional.linear

    def engine(**options: Any) -> Any:
        room = max(options["max_num_batched_tokens"], options["max_model_len"])
        own = {"dtype": "float32", "enable_chunked_prefill": False, "max_num_batched_tokens": room}
        return LLM(**{**options, **own})

    utils.dispatch_cpu_unquantized_gemm = plain
    generation.LLM = engine
