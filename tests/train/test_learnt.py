"""A GRPO run that learns nothing says so while it runs and at its end; the figures about cut completions agree."""

import json

import pytest

from ct_train.__main__ import main
from ct_train.grpo.config import GrpoSettings
from ct_train.grpo.learnt import learnt_nothing
from ct_train.grpo.rollout_log import length_figures
from tests.train import tiny
from tests.train.test_finite import command

MADE = GrpoSettings(model="m", data="d", output_dir="o")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.make(tmp_path_factory.mktemp("tiny"), steps=400)


def steps(*norms, equal=1.0, truncated=0.0):
    return [{"grad_norm": n, "loss": 0.0, "reward": 0.0, "rollout/equal_groups": equal, "rollout/truncated": truncated} for n in norms]


@pytest.mark.parametrize(
    ("history", "settings", "said"),
    [
        (steps(0.0, 0.0), MADE, "2 of 2 steps had no gradient, so the model is the one it started from; in each group all rewards are equal (mean 0)"), (steps(0.0, 0.0, 0.5), MADE, "2 of 3 steps had no gradient, so they taught nothing"), (steps(0.0, 0.5), MADE, ""), (steps(1e-12), MADE, ""), ([], MADE, ""),
        (steps(0.0, equal=0.5, truncated=1.0), GrpoSettings(mask_truncated=True), "mask_truncated leaves out every rollout"), ([{"loss": 0.0}], MADE, ""),
    ],
)
def test_what_a_history_without_gradients_says(history, settings, said):
    assert said in learnt_nothing(history, settings)
    assert bool(said) == bool(learnt_nothing(history, settings))


def test_cut_is_what_the_length_limit_cut():
    assert length_figures([False, True, False], [3, 9, 5]) == {"completions/clipped_ratio": pytest.approx(1 / 3), "completions/mean_terminated_length": 4.0, "completions/min_terminated_length": 3.0, "completions/max_terminated_length": 5.0}
    assert length_figures([True], [9])["completions/mean_terminated_length"] == 0.0


@pytest.mark.slow
def test_a_run_whose_groups_all_tie_warns_in_its_log_and_at_its_end(folder, tmp_path, capsys):
    assert main(command("grpo", folder, tmp_path / "o", "engine=static", "max_response_tokens=4", "learning_rate=1e-3")) == 0
    said = capsys.readouterr().err
    assert "grpo: warning: step 1: this step had no gradient; in each group all rewards are equal (mean 0)" in said
    assert "step 2: the last 2 steps" in said
    assert "step 3:" not in said
    assert "grpo: warning: 4 of 4 steps had no gradient, so the model is the one it started from" in said
    assert (tmp_path / "o" / "final" / "model.safetensors").read_bytes() == (tmp_path / "o" / "checkpoint-1" / "model.safetensors").read_bytes()


@pytest.mark.slow
def test_a_run_that_learns_is_silent_and_its_figures_agree(folder, tmp_path, capsys):
    """Its traces end with their tag and no end token, which trl alone would count as clipped."""
    assert main(command("grpo", folder, tmp_path / "o", "engine=static", "learning_rate=1e-4", "seed=3")) == 0
    assert "warning: 4" not in capsys.readouterr().err
    history = json.loads((tmp_path / "o" / "history.json").read_text())
    logged = [h for h in history if "rollout/truncated" in h]
    assert len(logged) == 4
    assert all(h["completions/clipped_ratio"] == pytest.approx(h["rollout/truncated"]) for h in logged)
    assert any(h["completions/clipped_ratio"] < 1 for h in logged)
