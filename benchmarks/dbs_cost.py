"""What Dynamic Beam Sampling costs: 4 regular + 4 by DBS against 8 regular at equal B, on transformers and on vLLM.

    python benchmarks/dbs_cost.py MODEL ROWS.jsonl --engine transformers --prompts 32 --out results/dbs_cost_transformers.json
    VLLM_CPU_KVCACHE_SPACE=1 python benchmarks/dbs_cost.py MODEL ROWS.jsonl --engine vllm --prompts 32 --out ...

MODEL should know the trace format (after SFT): a model that never closes a block has nothing to fork. Rows as for
``ct_train grpo``. Both ways run in one process, in turn, three times; tokens are what the sampler generated, lost branches
included; the prefix-cache hit rate is vLLM's own counter.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

from ct_tasks.contra.scoring import RewardOptions
from ct_tasks.contra.trace import Truth
from ct_train.cli.grpo import contra_prompt
from ct_train.dbs import Sampler, Trajectory, generated_tokens, mixed, worth
from ct_train.grpo.data import load_rows, prompt_ids, with_prompts, with_truths
from ct_train.rollouts.stopping import Codec


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--engine", choices=("transformers", "vllm"), default="transformers")
    parser.add_argument("--prompts", type=int, default=32)
    parser.add_argument("--max-tokens", type=int, default=512)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()

    tokenizer = AutoTokenizer.from_pretrained(options.model)
    rows = with_prompts(with_truths(load_rows(options.rows, options.prompts)), tokenizer, lambda t: contra_prompt(t, "statement"), 2048)
    truths = [Truth.from_json(json.loads(row["truth"])) for row in rows]
    prompts = [prompt_ids(tokenizer, row["prompt"]) for row in rows]
    sampler, hits = build(options, Codec.of(tokenizer), max(map(len, prompts)))

    def score(prompt: int, trajectory: Trajectory) -> float:
        return worth(trajectory, truths[prompt], RewardOptions())

    mixed(prompts[:2], 2, 0, sampler, score)  # warm
    found: dict[str, list[dict[str, float]]] = {"8 regular": [], "4 regular + 4 DBS": []}
    for _ in range(options.repeats):
        for name, of in found.items():
            before, began = hits(), time.perf_counter()
            groups = mixed(prompts, 8, 0, sampler, score) if name == "8 regular" else mixed(prompts, 4, 4, sampler, score)
            seconds = time.perf_counter() - began
            after = hits()
            asked = after[0] - before[0]
            rewards = [[score(i, t) for t in group] for i, group in enumerate(groups)]
            of.append({
                "seconds": seconds, "tokens": generated_tokens(groups),
                "hit_rate": (after[1] - before[1]) / asked if asked else 0.0,
                "r_proc": statistics.fmean(x for group in rewards for x in group),
            })  # fmt: skip
            print(name, {k: round(v, 3) for k, v in of[-1].items()}, flush=True)
    means = {name: {k: round(statistics.fmean(r[k] for r in runs), 3) for k in runs[0]} for name, runs in found.items()}
    for name, runs in found.items():  # what else a machine does makes a run slower, never faster
        means[name]["seconds_fastest"] = round(min(r["seconds"] for r in runs), 3)
    plain, dbs = means["8 regular"], means["4 regular + 4 DBS"]
    figures = {
        "command": f"python benchmarks/dbs_cost.py MODEL ROWS --engine {options.engine} --prompts {options.prompts} --max-tokens {options.max_tokens}",
        "date": date.today().isoformat(), "machine": f"{os.cpu_count()} cores, {platform.machine()}", "repeats": options.repeats, **means,
        "wall_ratio": round(dbs["seconds_fastest"] / plain["seconds_fastest"], 3), "token_ratio": round(dbs["tokens"] / plain["tokens"], 3),
    }  # fmt: skip
    print(json.dumps(figures, indent=1))
    if options.out:
        options.out.write_text(json.dumps(figures, indent=1) + "\n")


def build(options: Any, codec: Codec, longest: int) -> tuple[Sampler, Callable[[], tuple[float, float]]]:
    """The sampler, and a reader of ``(prefix tokens asked for, of them found in the cache)``."""
    if options.engine == "transformers":
        from transformers import AutoModelForCausalLM

        from ct_train.rollouts.transformers_sampler import TransformersSampler

        model = AutoModelForCausalLM.from_pretrained(options.model).eval()
        return TransformersSampler(model, codec, max_tokens=options.max_tokens, batch_size=256), lambda: (0.0, 0.0)

    from vllm import LLM

    from ct_train.rollouts.vllm_sampler import VllmSampler, engine_generate

    llm = LLM(str(options.model), dtype="float32", enforce_eager=True, block_size=32, enable_prefix_caching=True,
              enable_chunked_prefill=False, max_num_batched_tokens=8192,
              max_model_len=longest + options.max_tokens, disable_log_stats=False)  # fmt: skip

    def hits() -> tuple[float, float]:
        counters = {m.name: getattr(m, "value", 0) for m in llm.get_metrics()}
        return float(counters.get("vllm:prefix_cache_queries", 0)), float(counters.get("vllm:prefix_cache_hits", 0))

    return VllmSampler(engine_generate(llm), codec, max_tokens=options.max_tokens), hits


if __name__ == "__main__":
    main()
