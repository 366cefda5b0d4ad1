"""Run by a Python that has verl: its own code reads what ``ct_train.export verl`` wrote.

    VERL_PYTHON tests/train/export/check_verl.py EXPORT_FOLDER MODEL_FOLDER

Prints one JSON line a check. The engine is scripted (it replays a right trace, wrong in two sessions); configuration,
data set, reward loader, registry and agent-loop base class are verl's.
"""

import asyncio
import json
import os
import re
import shlex
import sys
from pathlib import Path

import hydra
import verl
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from transformers import AutoTokenizer
from verl.trainer.ppo.reward import get_custom_reward_fn
from verl.utils.dataset.rl_dataset import RLHFDataset
from verl.workers.rollout.replica import TokenOutput

from ct_tasks.contra.trace import Truth, render

folder, model = Path(sys.argv[1]).resolve(), sys.argv[2]
arguments = shlex.split(re.sub(r"\\\n", " ", (folder / "train.sh").read_text().split("main_ppo", 1)[1]))
overrides = [a for a in arguments if "=" in a]
with initialize_config_dir(str(Path(verl.__file__).parent / "trainer" / "config"), version_base=None):
    config = compose("ppo_trainer", [*overrides, f"actor_rollout_ref.model.path={model}"])
print(json.dumps({"check": "configuration", "overrides": len(overrides), "n": config.actor_rollout_ref.rollout.n}))

tokenizer = AutoTokenizer.from_pretrained(model)
rows = RLHFDataset(str(folder / "train.parquet"), tokenizer, config.data)
row = rows[0]
print(json.dumps({"check": "data", "rows": len(rows), "agent": row["agent_name"], "roles": [m["role"] for m in row["raw_prompt"]]}))

truth_text = row["reward_model"]["ground_truth"]
truth = Truth.from_json(json.loads(truth_text))
reward = get_custom_reward_fn(config)
gold = render(truth)
scores = [reward(row["data_source"], text, truth_text, row["extra_info"])["score"] for text in (gold, gold.replace("[/RETURN]", ""))]
print(json.dumps({"check": "reward", "gold": scores[0], "damaged": scores[1]}))


class Wrap:
    def __init__(self, config):
        self.config = config


class Engine:
    """Replays the right trace; sessions whose request count is odd at their first block write a wrong one."""

    def __init__(self):
        self.asked = 0
        self.prefixes = []

    async def generate(self, request_id, *, prompt_ids, sampling_params, **_):
        self.asked += 1
        self.prefixes.append(list(prompt_ids))
        done = tokenizer.decode(prompt_ids[start:])
        rest = gold[len(done):] if gold.startswith(done) else "\n[/TRACE]\n"
        cut = min((rest.find(s) + len(s) for s in sampling_params["stop"] if s in rest), default=len(rest))
        text = rest[:cut]
        if self.asked in (6, 8):
            text = text.replace("[LOCALS]\n{", "[LOCALS]\n{'wrong': 1, ")
        ids = tokenizer(text, add_special_tokens=False)["input_ids"][: sampling_params["max_tokens"]]
        sampling_params.pop("max_tokens")  # as verl's server does: a dict that is used twice would lose its limit
        return TokenOutput(token_ids=ids, log_probs=[-0.5] * len(ids))


async def group():
    entry = OmegaConf.load(folder / "agent_loop.yaml")[0]
    engine = Engine()
    loops = [hydra.utils.instantiate(
        config=entry, trainer_config=Wrap(config), server_manager=engine, tokenizer=tokenizer, processor=None,
        hf_model_type="llama", dataset_cls=RLHFDataset, data_config=Wrap(config.data)) for _ in range(8)]
    global start
    prompt = await loops[0].ct_build_initial_tokens(list(row["raw_prompt"]))
    start = len(prompt)
    fields = {k: row[k] for k in ("raw_prompt", "reward_model", "extra_info")}
    outputs = await asyncio.gather(*(loop.run({"temperature": 1.0, "top_p": 1.0}, uid="a", session_id=i, **fields)
                                     for i, loop in enumerate(loops)))
    return engine, outputs


start = 0
engine, outputs = asyncio.run(group())
texts = [tokenizer.decode(o.response_ids, skip_special_tokens=True) for o in outputs]
print(json.dumps({
    "check": "loop", "outputs": len(outputs), "halves": [o.extra_fields["half"] for o in outputs],
    "right": [t == gold for t in texts], "requests": engine.asked,
    "aligned": all(len(o.response_ids) == len(o.response_logprobs) == len(o.response_mask) for o in outputs),
}), flush=True)
os._exit(0)
