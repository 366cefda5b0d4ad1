"""Bad input of `grpo`, refused before a model loads: there is no model in any of these tests' folders."""

import json
from dataclasses import replace

import pytest
import torch
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from ct_tasks.contra.trace import Truth
from ct_tasks.errors import ConfigError, DataError, UnknownNameError
from ct_train.__main__ import main
from ct_train.checkpoints import last_checkpoint, set_aside
from ct_train.grpo.checks import answers, refuse_ties
from ct_train.grpo.config import GrpoSettings
from ct_train.grpo.data import load_rows, with_truths
from ct_train.grpo.plan import plan
from ct_train.grpo.run import train
from ct_train.micro.model import tokenizer
from ct_train.models import load_model, set_pad
from ct_train.rewards import REWARDS, build
from ct_train.rewards.base import Sample
from tests.train.tiny import checkpoint


@pytest.fixture(scope="module")
def rows():
    import tiny

    return [{"program": tiny.SOURCE, "call": t.call, "truth": json.dumps(t.to_json())} for t in tiny.TRUTHS]


def settings(tmp_path, **more):
    import tiny

    (tmp_path / "d.jsonl").write_text("".join(json.dumps({"truth": t.to_json()}) + "\n" for t in tiny.TRUTHS))
    return GrpoSettings(**{"model": str(tmp_path / "model"), "data": str(tmp_path / "d.jsonl"), "output_dir": str(tmp_path / "o"), **more})


@pytest.mark.parametrize("name", sorted(REWARDS))
def test_every_reward_tells_some_answers_apart(rows, name):
    asked = with_truths(rows, questions=True) if name == "execverify" else rows
    refuse_ties(asked, name, {})
    truth = Truth.from_json(json.loads(asked[0]["truth"]))
    perfect, nothing = (build(name, {}).score(Sample(text, truth, tuple(asked[0].get("questions") or ()))).reward for text in (answers(truth)[0], ""))
    assert perfect > nothing


@pytest.mark.parametrize("options", [{"prm": False, "orm": False}, {"alpha": 0.0, "orm": False}])
def test_a_reward_that_always_ties_is_refused(rows, options):
    with pytest.raises(ConfigError, match="every group ties"):
        refuse_ties(rows, "codethinker", options)


def test_the_candidates_are_what_they_say(rows):
    from ct_tasks.contra.scoring import score_trace

    truth = Truth.from_json(json.loads(rows[0]["truth"]))
    assert [score_trace(text, truth).reward for text in answers(truth)] == [4.0, 1.0, 2.0, 0.0, 0.0]


def test_errors_come_before_the_model(tmp_path):
    prompt = str
    with pytest.raises(UnknownNameError, match="did you mean codethinker"):
        train(settings(tmp_path, reward="codethinkr"), prompt)
    with pytest.raises(DataError, match="set data="):
        train(settings(tmp_path, data=str(tmp_path / "none.jsonl")), prompt)
    with pytest.raises(ConfigError, match="one of"):
        train(settings(tmp_path, completions_per_device=7), prompt)
    with pytest.raises(ConfigError, match="every group ties"):
        train(settings(tmp_path, reward_options={"prm": False, "orm": False}), prompt)
    (tmp_path / "d.jsonl").write_text("\n")
    with pytest.raises(DataError, match="holds no rows"):
        load_rows(tmp_path / "d.jsonl")
    tokens = tokenizer()
    tokens.chat_template = None
    tokens.save_pretrained(tmp_path / "model")
    with pytest.raises(ConfigError, match="chat=false"):
        train(settings(tmp_path), prompt)


def test_too_few_rows_for_one_rollout(tmp_path, capsys):
    """trl would drop the rollout that is not full, take no step and end well."""
    tokenizer().save_pretrained(tmp_path / "model")
    with pytest.raises(ConfigError, match="4 usable rows are fewer than prompts_per_rollout 128"):
        train(settings(tmp_path), str)
    made = [f"{k}={v}" for k, v in {"model": "m", "data": tmp_path / "d.jsonl", "output_dir": tmp_path / "o"}.items()]
    assert main(["grpo", "--dry-run", *made]) == 2
    assert "lower prompts_per_rollout" in capsys.readouterr().err


def test_what_several_processes_cannot_do(tmp_path, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    with pytest.raises(ConfigError, match="engine transformers cannot sample from a model that FSDP splits"):
        train(settings(tmp_path), str)
    with pytest.raises(DataError, match="no training data"):  # this engine has a model of its own: the next check is reached
        train(settings(tmp_path, engine="vllm", data=str(tmp_path / "none.jsonl")), str)


def test_the_plan_counts_whole_rollouts(tmp_path):
    made = settings(tmp_path, epochs=3)
    assert plan(made, made.check(), rows=4571)["updates"] == 4571 // 128 * 2 * 3
    assert plan(replace(made, max_steps=7), made.check(), rows=4571)["updates"] == 7


def test_a_fresh_run_leaves_nothing_to_go_on_from(tmp_path):
    checkpoint(tmp_path, 200)
    (tmp_path / "final").mkdir()
    for name in ("rollouts.jsonl", "config.json"):
        (tmp_path / name).write_text("")
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-200"
    first = set_aside(tmp_path)
    assert last_checkpoint(tmp_path) is None
    assert sorted(p.name for p in first.iterdir()) == ["checkpoint-200", "config.json", "final", "rollouts.jsonl"]
    assert set_aside(tmp_path) is None
    (tmp_path / "checkpoint-50").mkdir()
    assert set_aside(tmp_path).name == "before-fresh-2"


def test_a_whole_model_is_trained_in_float32(tmp_path):
    """In bfloat16 a step of 1e-6 would be rounded away."""
    import tiny

    tiny.make(tmp_path, steps=1)
    for whole, dtype in ((True, torch.float32), (False, torch.bfloat16)):
        assert load_model(str(tmp_path), bf16=True, whole=whole).dtype == dtype
    assert load_model(str(tmp_path), bf16=False, whole=False).dtype == torch.float32


def test_llama_3_pads_with_a_reserved_token():
    inner = Tokenizer(models.WordLevel({"<|begin_of_text|>": 0, "<|eot_id|>": 1, "<|reserved_special_token_0|>": 2}))
    tokens = PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<|eot_id|>")
    set_pad(tokens)
    assert tokens.pad_token_id == 2
    bare = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"<|eot_id|>": 0})), eos_token="<|eot_id|>")
    with pytest.raises(ConfigError, match=r"set tokenizer\.pad_token"):
        set_pad(bare)


def test_the_command_says_what_to_change(tmp_path, capsys):
    arguments = ["grpo", "model=m", f"data={tmp_path}/none.jsonl", f"output_dir={tmp_path}/o"]
    assert main([*arguments, "reward=codethinkr"]) == 2
    assert "did you mean codethinker" in capsys.readouterr().err
    assert main(arguments) == 2
    assert "no training data at" in capsys.readouterr().err
    assert main(["sft", "model=m", f"data={tmp_path}/none.jsonl", f"output_dir={tmp_path}/o"]) == 2
    assert "no SFT data at" in capsys.readouterr().err
