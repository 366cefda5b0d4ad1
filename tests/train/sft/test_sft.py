"""SFT: what is refused before a model loads, whose tokens carry loss, buckets, real runs that resume and load elsewhere."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from trl import SFTConfig

from ct_tasks.contra.trace import render
from ct_tasks.contra.tracer import trace_call
from ct_tasks.errors import ConfigError, DataError, UnknownNameError
from ct_train import config
from ct_train.micro.make import MicroSettings, make
from ct_train.micro.model import tokenizer
from ct_train.sft.buckets import BucketSampler
from ct_train.sft.config import SftSettings
from ct_train.sft.data import IGNORED, complete, load_rows, tokenize
from ct_train.sft.run import trl_arguments

ROOT = Path(__file__).parents[3]
BASE = {"model": "m", "data": "d", "output_dir": "o"}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return make(MicroSettings(output_dir=str(tmp_path_factory.mktemp("world")), sft=48, grpo=16, held_out=8, hidden=64, layers=2, inner=64))


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"model": ""}, ConfigError, "needs model"), ({"optimizer": "muon"}, ConfigError, "lora.r=0"), ({"optimizer": "muonn"}, UnknownNameError, "did you mean muon"), ({"schedule": "cosin"}, UnknownNameError, "cosine"), ({"batch_size": 0}, ConfigError, "batch_size"),
        ({"probe": 4}, ConfigError, "eval_data"), ({"epochs": 0.0}, ConfigError, "train nothing"), ({"eval_data": "x", "eval_steps": 0}, ConfigError, "eval_steps"),
    ],
)
def test_bad_settings_are_refused_with_what_to_change(change, error, match):
    with pytest.raises(error, match=match):
        SftSettings(**{**BASE, **change}).check()


@pytest.mark.parametrize("file", sorted((ROOT / "harness_configs" / "train").glob("sft*.yaml")), ids=lambda p: p.name)
def test_shipped_configs_load(file, tmp_path):
    settings = config.load(SftSettings, file, ["model=m", f"output_dir={tmp_path}", "report_to=none"])
    settings.check()
    assert SFTConfig(**trl_arguments(settings)).bf16 is settings.bf16  # transformers refuses what this machine cannot do
    assert file.read_text().startswith("# ")


@pytest.mark.parametrize("file", sorted((ROOT / "harness_configs" / "accelerate").glob("*.yaml")), ids=lambda p: p.name)
def test_accelerate_reads_its_configs(file):
    from accelerate.commands.config.config_args import load_config_from_file

    assert load_config_from_file(str(file)).distributed_type.value in ("FSDP", "DEEPSPEED")
    assert yaml.safe_load(file.read_text())["mixed_precision"] == "bf16"


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "holds no rows"), ("{", r":1 is not JSON"), ('{"prompt": "x"}', "needs prompt and completion"), ('{"messages": [{"role": "user", "content": "x"}]}', "last of messages"),
    ],
)
def test_data_errors_name_the_line(tmp_path, text, match):
    path = tmp_path / "d.jsonl"
    with pytest.raises(DataError, match="no SFT data"):
        load_rows(path)
    path.write_text(text + "\n")
    with pytest.raises(DataError, match=match):
        load_rows(path)


def test_rows_without_completion_get_the_perfect_trace():
    source = "def f(n):\n    a = n + 1\n    b = a * 2\n    return b"
    rows = [{"program": source, "call": "f(1)"}, {"program": "def f(n):\n    return 1 // n", "call": "f(0)"}]
    made = complete(rows, lambda truth: truth.call, "statement")
    assert [(r["prompt"], r["completion"]) for r in made] == [("f(1)", render(trace_call(source, "f(1)")))]
    with pytest.raises(DataError, match="ZeroDivisionError"):
        complete(rows[1:], lambda truth: truth.call, "statement")


def test_loss_is_on_the_completion_and_its_end_alone(world):
    tokens = tokenizer()
    row = load_rows(world / "sft.jsonl")[0]
    made = tokenize([row], tokens, 512)[0]
    learned = [t for t, label in zip(made["input_ids"], made["labels"], strict=True) if label != IGNORED]
    assert tokens.decode(learned) == row["completion"] + "<eos>"
    assert tokens.decode([t for t, label in zip(made["input_ids"], made["labels"], strict=True) if label == IGNORED]) == f"<user>{row['prompt']}<assistant>"
    with pytest.raises(ConfigError, match="longer than max_tokens = 5"):
        tokenize([row], tokens, 5)


def test_messages_need_a_template_that_keeps_the_prompt():
    tokens = tokenizer()
    rows = [{"prompt": [{"role": "user", "content": "a"}], "completion": "b"}]
    tokens.chat_template = None
    with pytest.raises(ConfigError, match="no chat template"):
        tokenize(rows, tokens, 99)
    tokens.chat_template = "{{ messages | length }}{% for m in messages %}{{ m['content'] }}{% endfor %}"
    with pytest.raises(ConfigError, match="differently once an answer follows"):
        tokenize(rows, tokens, 99)


def test_buckets_hold_every_row_once_with_like_lengths_and_differ_by_epoch():
    lengths = [(i * 37) % 101 for i in range(330)]
    sampler = BucketSampler(lengths, 10, 0)
    order = list(sampler)
    assert sorted(order) == list(range(330)) == sorted(BucketSampler(lengths, 10, 0))
    spread = [max(lengths[i] for i in order[k : k + 10]) - min(lengths[i] for i in order[k : k + 10]) for k in range(0, 330, 10)]
    assert sum(spread) / len(spread) < 15
    means = [sum(lengths[i] for i in order[k : k + 10]) for k in range(0, 160, 10)]
    assert means != sorted(means)
    assert means != sorted(means, reverse=True)
    assert list(sampler) == order
    sampler.set_epoch(1)
    assert list(sampler) != order


def settings(world, out, **more):
    return SftSettings(**{
        "model": str(world / "init"), "data": str(world / "sft.jsonl"), "eval_data": str(world / "held_out.jsonl"), "output_dir": str(out), "learning_rate": 5e-3, "max_steps": 6, "batch_size": 8, "max_tokens": 512, "bf16": False,
        "gradient_checkpointing": False, "eval_steps": 3, "probe": 4, "probe_tokens": 24, "save_steps": 3, "report_to": "none", **more})


SCRIPT = """
import json, sys
from ct_train.sft.config import SftSettings
from ct_train.sft.run import train
values = json.loads(sys.argv[1])
stop = values.pop("stop", 0)
from ct_train.grpo.config import LoraSettings
values["lora"] = LoraSettings(**values["lora"])
if stop:
    import ct_train.sft.trainer as t
    step = t.ContraSFTTrainer.training_step
    def killing(self, *a, **k):
        if self.state.global_step >= stop:
            import os, signal; os.kill(os.getpid(), signal.SIGKILL)
        return step(self, *a, **k)
    t.ContraSFTTrainer.training_step = killing
train(SftSettings(**values), lambda truth: "")
"""


@pytest.mark.slow
def test_a_killed_muon_run_ends_with_the_same_weights(world, tmp_path):
    import dataclasses

    def start(out, stop=0):
        made = settings(world, out, optimizer="muon", schedule="linear", lora={"r": 0})
        values = {**dataclasses.asdict(made), "stop": stop}
        return subprocess.run([sys.executable, "-c", SCRIPT, json.dumps(values)], capture_output=True, text=True)

    whole = start(tmp_path / "whole")
    assert whole.returncode == 0, whole.stderr[-2000:]
    assert start(tmp_path / "killed", stop=4).returncode == -9
    resumed = start(tmp_path / "killed")
    assert resumed.returncode == 0, resumed.stderr[-2000:]
    a, b = ((tmp_path / name / "final" / "model.safetensors").read_bytes() for name in ("whole", "killed"))
    assert a == b
    history = json.loads((tmp_path / "whole" / "history.json").read_text())
    assert [h["step"] for h in history if "eval_loss" in h] == [3, 6]
    assert [h["step"] for h in history if "probe/fmt" in h] == [0, 3, 6]
    losses = [h["eval_loss"] for h in history if "eval_loss" in h]
    assert losses[1] < losses[0]


@pytest.mark.slow
def test_lora_and_merged_models_load_in_lm_eval_and_agree(world, tmp_path):
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    from ct_train.grpo.config import LoraSettings
    from ct_train.sft.run import train

    out = tmp_path / "lora"
    final = train(settings(world, out, lora=LoraSettings(r=4, alpha=8), probe=0, packing=True, max_steps=3), lambda truth: "")
    assert (final / "adapter_model.safetensors").is_file()
    request = Instance("loglikelihood", {}, ("12", "3 = 4"), 0)
    common = {"device": "cpu", "dtype": "float32", "batch_size": 1}
    found = [
        HFLM(pretrained=str(world / "init"), peft=str(final), **common).loglikelihood([request])[0][0],
        HFLM(pretrained=str(out / "merged"), **common).loglikelihood([request])[0][0],
        HFLM(pretrained=str(world / "init"), **common).loglikelihood([request])[0][0],
    ]
    assert found[0] == pytest.approx(found[1], abs=1e-3)
    assert abs(found[0] - found[2]) > 1e-2
    with pytest.raises(ConfigError, match="fresh output_dir"):
        train(settings(world, out, lora=LoraSettings(r=0)), lambda truth: "")


def test_a_model_without_template_is_refused_before_it_loads(world, tmp_path):
    from ct_train.sft.run import train

    tokens = tokenizer()
    tokens.chat_template = None
    tokens.save_pretrained(tmp_path / "bare")  # no weights there: loading the model would fail otherwise
    with pytest.raises(ConfigError, match="chat=false"):
        train(settings(world, tmp_path / "o", model=str(tmp_path / "bare"), probe=0), lambda truth: "")


def test_a_model_that_is_not_there_is_told_with_what_to_change(world, tmp_path):
    from ct_train.sft.run import train

    with pytest.raises(ConfigError, match=r"no/such/model cannot be loaded .*model=\.\.\."):
        train(settings(world, tmp_path / "o", model=str(tmp_path / "no/such/model"), probe=0), lambda truth: "")
