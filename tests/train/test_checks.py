"""Bad input of `grpo`, refused before a model loads: there is no model in any of these tests' folders."""

import json

import pytest

from ct_tasks.contra.trace import Truth
from ct_tasks.errors import ConfigError, DataError, UnknownNameError
from ct_train.__main__ import main
from ct_train.grpo.checks import answers, refuse_ties
from ct_train.grpo.config import GrpoSettings
from ct_train.grpo.data import load_rows, with_truths
from ct_train.grpo.run import train
from ct_train.micro.model import tokenizer
from ct_train.rewards import REWARDS, build
from ct_train.rewards.base import Sample


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


def test_the_command_says_what_to_change(tmp_path, capsys):
    arguments = ["grpo", "model=m", f"data={tmp_path}/none.jsonl", f"output_dir={tmp_path}/o"]
    assert main([*arguments, "reward=codethinkr"]) == 2
    assert "did you mean codethinker" in capsys.readouterr().err
    assert main(arguments) == 2
    assert "no training data at" in capsys.readouterr().err
    assert main(["sft", "model=m", f"data={tmp_path}/none.jsonl", f"output_dir={tmp_path}/o"]) == 2
    assert "no SFT data at" in capsys.readouterr().err
