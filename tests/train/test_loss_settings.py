"""Settings of the loss reach trl, wrong ones are refused, and a real step in a baseline's own format feels them."""

import json

import pytest

from ct_tasks.errors import ConfigError, UnknownNameError
from ct_train.__main__ import main
from ct_train.grpo.config import GrpoSettings
from ct_train.grpo.run import trl_arguments
from ct_train.grpo.trim import by_rows


def arguments(**more):
    return trl_arguments(GrpoSettings(model="m", data="d", output_dir="o", bf16=False, report_to="none", **more), 1, 1)


def test_the_papers_text_is_the_default():
    found = arguments()
    assert {k: found[k] for k in ("loss_type", "beta", "entropy_coef", "scale_rewards", "epsilon", "epsilon_high", "num_generations", "num_train_epochs")} == {
        "loss_type": "grpo", "beta": 0.0, "entropy_coef": 0.0, "scale_rewards": "group", "epsilon": 0.2, "epsilon_high": None, "num_generations": 8, "num_train_epochs": 3.0}


@pytest.mark.parametrize(("setting", "value", "trl"), [
    ("loss_type", "dr_grpo", "loss_type"), ("beta", 0.04, "beta"), ("entropy", 0.01, "entropy_coef"), ("scale_rewards", "none", "scale_rewards"), ("clip_high", 0.28, "epsilon_high"),
    ("weight_decay", 0.1, "weight_decay"), ("max_grad_norm", 0.5, "max_grad_norm")])
def test_each_reaches_trl(setting, value, trl):
    from trl import GRPOConfig

    given = arguments(**{setting: value})
    assert given[trl] == value
    assert getattr(GRPOConfig(**{**given, "per_device_train_batch_size": 8}), trl) == value


@pytest.mark.parametrize(("change", "error", "match"), [
    ({"loss_type": "drgrpo"}, UnknownNameError, "did you mean dr_grpo"), ({"scale_rewards": "groups"}, UnknownNameError, "did you mean group"), ({"beta": -0.1}, ConfigError, "beta -0.1 must be 0 or more"),
    ({"beta": float("nan")}, ConfigError, "beta nan"), ({"clip_high": 0.0}, ConfigError, "clip_high 0.0 must be greater"), ({"halve": "test"}, UnknownNameError, "did you mean tests")])
def test_wrong_ones_are_refused(change, error, match):
    with pytest.raises(error, match=match):
        GrpoSettings(model="m", data="d", output_dir="o", **change).check()


def test_a_loss_over_all_tokens_is_not_cut_into_rows():
    assert by_rows("grpo", 0.0)
    assert by_rows("dr_grpo", 0.0)
    assert not by_rows("dapo", 0.0)
    assert not by_rows("bnpo", 0.0)
    assert not by_rows("grpo", 0.01)


@pytest.mark.slow
def test_a_step_in_execverifys_own_format_with_every_term_of_the_loss(tmp_path):
    assert main(["micro", f"output_dir={tmp_path}", "sft=2", "grpo=4", "held_out=2", "hidden=32", "layers=1", "heads=2", "groups=1", "inner=32"]) == 0
    small = ("engine=static", "lora.r=0", "group_size=4", "regular=4", "prompts_per_rollout=2", "prompts_per_update=2", "completions_per_device=8", "max_steps=1", "max_prompt_tokens=4096",
             "max_response_tokens=8", "bf16=false", "gradient_checkpointing=false", "save_steps=0", "report_to=none")
    assert main(["grpo", f"model={tmp_path}/init", f"data={tmp_path}/grpo.jsonl", f"output_dir={tmp_path}/o", "paradigm=execverify", "reward=execverify",
                 "loss_type=dapo", "beta=0.04", "entropy=0.01", "clip_high=0.28", "scale_rewards=none", *small]) == 0
    (step,) = (h for h in json.loads((tmp_path / "o" / "history.json").read_text()) if "entropy" in h)
    assert step["kl"] == pytest.approx(0, abs=1e-6)  # the policy is still its own reference
    assert step["loss"] == pytest.approx(-0.01 * step["entropy"], rel=1e-3)  # no advantage, no KL: the bonus alone
    rollouts = [json.loads(line) for line in (tmp_path / "o" / "rollouts.jsonl").read_text().splitlines()]
    assert len(rollouts) == 8
    assert all(r["reward"] == 0 and "whitebox" in r["parts"] for r in rollouts)
