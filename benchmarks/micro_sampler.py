"""Tokens a second of the fast sampler beside transformers' generate, on one model of the small world.

    python benchmarks/micro_sampler.py runs/micro/sft/final runs/micro/held_out.jsonl

Both draw one completion a program at temperature 1, in one batch, on one thread; CPU seconds of this process, so that other
work on the machine counts less. ``generate`` stops at the end-of-sequence token, the sampler at the closing tag before it.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from ct_train.dbs import Trajectory
from ct_train.grpo.data import prompt_ids
from ct_train.rollouts.static_sampler import StaticSampler
from ct_train.rollouts.stopping import Codec
from ct_train.sft.data import load_rows

MAX_TOKENS = 192


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--batch", type=int, default=256)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(arguments.model, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(arguments.model, dtype=torch.float32).eval()
    rows = load_rows(arguments.data, arguments.batch)
    prompts = [prompt_ids(tokenizer, [{"role": "user", "content": r["prompt"]}]) for r in rows]
    begun = time.process_time()
    done = StaticSampler(model, Codec.of(tokenizer), max_tokens=MAX_TOKENS).complete(prompts, [Trajectory()] * len(prompts))
    own, tokens = time.process_time() - begun, sum(len(t.ids) for t in done)
    batch = tokenizer.pad({"input_ids": prompts}, return_tensors="pt")
    begun = time.process_time()
    with torch.no_grad():
        out = model.generate(**batch, max_new_tokens=MAX_TOKENS, do_sample=True, temperature=1.0, top_k=0, top_p=1.0)
    theirs = time.process_time() - begun
    written = int((out[:, batch["input_ids"].shape[1] :] != tokenizer.pad_token_id).sum())
    print(json.dumps({
        "batch": len(prompts),
        "static": {"tokens": tokens, "cpu_s": round(own, 2), "tokens_per_s": round(tokens / own)},
        "generate": {"tokens": written, "cpu_s": round(theirs, 2), "tokens_per_s": round(written / theirs)},
    }))


if __name__ == "__main__":
    main()
