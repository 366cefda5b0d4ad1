"""NaN and infinity in training: real runs that diverge end with a sentence, the last good checkpoint and no final model."""

import math

import pytest
import torch
from safetensors.torch import load_file
from torch import nn
from transformers import Trainer, TrainingArguments

from ct_tasks.errors import ConfigError, HarnessError
from ct_train.__main__ import main
from ct_train.finite import FiniteMixin, not_finite
from tests.train import tiny

COMMON = ["chat=false", "lora.r=0", "bf16=false", "gradient_checkpointing=false", "report_to=none", "schedule=constant", "max_steps=4", "save_steps=1"]
GRPO = ["prompts_per_rollout=2", "prompts_per_update=2", "completions_per_device=8", "group_size=4", "regular=2", "max_prompt_tokens=64", "max_response_tokens=200"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.make(tmp_path_factory.mktemp("tiny"), steps=400)


def command(name, folder, out, *more):
    given = [name, f"model={folder}", f"data={folder}/{'sft' if name == 'sft' else 'data'}.jsonl", f"output_dir={out}", *COMMON]
    return [*given, *(["batch_size=4", "keep_checkpoints=9"] if name == "sft" else GRPO), *more]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "engine"), [("sft", ""), ("grpo", "static"), ("grpo", "transformers")])
def test_a_run_that_diverges_stops_and_keeps_the_last_good_checkpoint(folder, tmp_path, capsys, name, engine):
    """The learning rate is 0 in step 1 and far too high from step 2: the weights of checkpoint-2 are finite, what they give is not."""
    more = [f"engine={engine}"] if engine else []
    assert main(command(name, folder, tmp_path / "o", "learning_rate=1e30", "schedule=constant_with_warmup", "warmup_steps=3", *more)) != 0
    said = capsys.readouterr().err
    assert "step 3: the " in said
    assert f"(rows: {'sft' if name == 'sft' else 'data'}.jsonl:" in said
    assert f"the last good checkpoint is {tmp_path / 'o' / 'checkpoint-1'} (checkpoint-2 holds the weights that gave this)" in said
    assert not (tmp_path / "o" / "final").exists()
    assert not (tmp_path / "o" / "history.json").exists()
    weights = load_file(tmp_path / "o" / "checkpoint-1" / "model.safetensors")
    assert all(bool(torch.isfinite(w).all()) for w in weights.values())
    assert not (tmp_path / "o" / "checkpoint-3").exists()


@pytest.mark.slow
def test_rows_of_a_packed_batch_are_named(folder, tmp_path, capsys):
    assert main(command("sft", folder, tmp_path / "o", "learning_rate=1e30", "packing=true", "max_tokens=512", "batch_size=1")) != 0
    assert "step 2: the loss is nan (rows: sft.jsonl:" in capsys.readouterr().err


@pytest.mark.slow
def test_weights_are_looked_at_before_they_are_saved(folder, tmp_path, capsys):
    """The step itself is too large for float32: loss and gradient of step 1 are finite, its weights are not."""
    assert main(command("sft", folder, tmp_path / "o", "learning_rate=1e39")) != 0
    said = capsys.readouterr().err
    assert "step 1: the weights of" in said
    assert "there is no checkpoint before it" in said
    assert not list((tmp_path / "o").glob("checkpoint-*"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sft", "grpo"])
def test_a_model_that_is_broken_already_is_refused(folder, tmp_path, capsys, name):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        model.model.norm.weight[3] = math.nan
    model.save_pretrained(tmp_path / "m")
    AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path / "m")
    for file in ("data.jsonl", "sft.jsonl"):
        (tmp_path / "m" / file).write_bytes((folder / file).read_bytes())
    assert main(command(name, tmp_path / "m", tmp_path / "o")) == 2
    assert "not finite in model.norm.weight" in capsys.readouterr().err


class Net(nn.Module):
    """``w`` is 0 and the loss its root: the loss is finite, the gradient is not."""

    def __init__(self, start):
        super().__init__()
        self.w = nn.Parameter(torch.tensor([start]))

    def forward(self, x, **_):
        return {"loss": (self.w * x).sqrt().sum()}


class Small(FiniteMixin, Trainer):
    def rows_of(self, inputs):
        return [f"row {int(i)}" for i in inputs["x"]]


@pytest.mark.parametrize(("start", "what"), [(0.0, "the gradient norm is (inf|nan)"), (-1.0, "the loss is nan")])
def test_loss_and_gradient_each_end_the_run_with_step_and_rows(tmp_path, start, what):
    arguments = TrainingArguments(output_dir=str(tmp_path), max_steps=2, per_device_train_batch_size=2, report_to=[], use_cpu=True, gradient_accumulation_steps=2)
    trainer = Small(model=Net(start), args=arguments, train_dataset=[{"x": float(i)} for i in range(1, 9)])
    with pytest.raises(HarnessError, match=rf"step 1: {what} \(rows: row \d, row \d"):
        trainer.train()
    assert math.isfinite(float(trainer.model.w.detach())), "the optimiser must not have moved"


def test_a_sum_that_overflows_is_no_infinity():
    net = nn.Linear(4, 1, bias=False)
    with torch.no_grad():
        net.weight.fill_(3e38)
    assert not_finite(net) == ""
    with torch.no_grad():
        net.weight[0, 2] = math.inf
    assert not_finite(net) == "weight"
    net.weight.requires_grad_(False)
    assert (not_finite(net), not_finite(net, frozen=True)) == ("", "weight")


def test_a_model_with_nan_is_not_trained(tmp_path):
    with pytest.raises(ConfigError, match="not finite in w"):
        Small(model=Net(math.nan), args=TrainingArguments(output_dir=str(tmp_path), report_to=[], use_cpu=True))
