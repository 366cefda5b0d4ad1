"""A model of 0.1 M parameters that half knows a few traces: something real to sample from and to train, in seconds."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from ct_tasks.contra.trace import TAGS, Truth, render
from ct_tasks.contra.tracer import trace_call

SOURCE = "def f(n):\n    a = n + 1\n    b = a * 2\n    return b"
TRUTHS = [trace_call(SOURCE, f"f({n})") for n in range(4)]


def prompt_of(truth: Truth) -> str:
    return f"{truth.call}\n"


def tokenizer() -> PreTrainedTokenizerFast:
    """One token a tag and a character."""
    letters = sorted({c for t in TRUTHS for c in prompt_of(t) + render(t)} | set("0123456789"))
    vocab = {token: i for i, token in enumerate(["<pad>", "<eos>", "<unk>", *TAGS, *letters])}
    inner = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
    tags = "|".join(t.replace("[", r"\[").replace("]", r"\]") for t in TAGS)
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(f"{tags}|[\\s\\S]"), behavior="isolated")
    inner.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")


def make(folder: Path, steps: int = 60, heads: int = 4) -> Path:
    """Save the model, its tokenizer and a data file in ``folder``. vLLM's CPU build takes no heads smaller than 32."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    tok = tokenizer()
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=len(tok), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=heads, num_key_value_heads=heads // 2,
        max_position_embeddings=512, bos_token_id=None, eos_token_id=tok.eos_token_id, pad_token_id=tok.pad_token_id))
    texts = [prompt_of(t) + render(t) for t in TRUTHS]
    batch = tok(texts, return_tensors="pt", padding=True)
    labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
    optimiser = torch.optim.AdamW(model.parameters(), lr=8e-3)
    # Without the decay the loss still jumps at the end, and where depends on the processor.
    decay = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / steps)
    for _ in range(steps):
        loss = model(**{k: batch[k] for k in ("input_ids", "attention_mask")}, labels=labels).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        decay.step()
    model.save_pretrained(folder)
    tok.save_pretrained(folder)
    (folder / "data.jsonl").write_text("".join(json.dumps({"id": str(i), "program": SOURCE, "call": t.call, "truth": t.to_json(), "prompt": prompt_of(t)}) + "\n" for i, t in enumerate(TRUTHS)))
    (folder / "sft.jsonl").write_text("".join(json.dumps({"prompt": prompt_of(t), "completion": render(t)}) + "\n" for t in TRUTHS))
    return folder


def checkpoint(folder: Path, step: int) -> Path:
    """A whole checkpoint of a model of one weight, its files as transformers writes them."""
    from safetensors.torch import save_file

    made = folder / f"checkpoint-{step}"
    made.mkdir(parents=True)
    save_file({"w": torch.zeros(9)}, str(made / "model.safetensors"))
    for name in ("optimizer.pt", "scheduler.pt", "rng_state.pth", "training_args.bin"):
        torch.save({"x": torch.arange(9)}, made / name)
    (made / "trainer_state.json").write_text(json.dumps({"global_step": step, "log_history": []}))
    (made / "tokenizer.json").write_text("{}")
    (made / "chat_template.jinja").write_text("{{ messages }}")
    return made
