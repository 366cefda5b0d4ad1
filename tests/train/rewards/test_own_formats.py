"""Each baseline in its own format: the prompt of a training row asks all that its reward pays for, and a perfect reply earns it."""

import json

import pytest

from ct_tasks import paradigms
from ct_tasks.contra import literals
from ct_tasks.contra.trace import render
from ct_tasks.contra.tracer import trace_call
from ct_tasks.errors import ConfigError, UnknownNameError
from ct_train import prompts
from ct_train.__main__ import main
from ct_train.grpo.config import GrpoSettings
from ct_train.grpo.data import with_prompts, with_truths
from ct_train.rewards import Sample, build
from ct_train.rewards.whitebox import answer, questions_hook

SOURCE = "def f(n):\n    a = n + 1\n    b = a * 2\n    c = b - 3\n    while c > 0:\n        c -= 5\n    return c"
TRUTH = trace_call(SOURCE, "f(4)")
FULL = {"codethinker": 4, "codereasoner": 2, "execverify": 2, "cwm": 1, "format": 2}


class Plain:
    """A tokenizer without a chat template: prompts stay texts."""

    chat_template = None

    def __call__(self, text):
        return {"input_ids": text.split()}


def training_row(paradigm, row=None):
    """A row as GRPO makes it."""
    rows = with_truths([row or {"program": SOURCE, "call": "f(4)"}], questions=paradigm == "execverify")
    return with_prompts(rows, Plain(), lambda truth: "contra's", 4096, paradigm)[0]


def perfect(paradigm, row):
    form = paradigms.get(paradigm)
    asked = row.get("questions") or ()
    if paradigm == "execverify":
        return form.reply(prompts.problem_of(TRUTH), [answer(q) for q in asked])
    return form.gold(prompts.problem_of(TRUTH), TRUTH)


def earned(reward, text, row):
    return build(reward).score(Sample(text, TRUTH, tuple(row.get("questions") or ()))).reward


@pytest.mark.parametrize(("paradigm", "reward"), [(p, r) for p, rewards in prompts.READS.items() for r in rewards])
def test_a_perfect_reply_to_the_training_prompt_earns_the_whole_reward(paradigm, reward):
    row = training_row(paradigm)
    assert earned(reward, perfect(paradigm, row), row) == FULL[reward]


def test_execverifys_prompt_asks_every_question_that_its_reward_counts():
    row = training_row("execverify")
    assert 2 <= len(row["questions"]) <= 10
    for number, question in enumerate(row["questions"], 1):
        assert f"\n{number}. {question['question'][:1].upper()}{question['question'][1:]}" in row["prompt"]
    assert row["prompt"].startswith(prompts.prompt(TRUTH, "execverify"))  # evaluation's own, byte for byte
    told = row["prompt"].split("exactly one line for each")[0]
    assert "assert f(4) == ????" in told
    assert "-3" not in row["prompt"].replace("b - 3", "")


def test_worked_values_with_five_questions():
    row = training_row("execverify")
    five = {**row, "questions": row["questions"][:5]}
    right = [answer(q) for q in five["questions"]]
    form, problem = paradigms.get("execverify"), prompts.problem_of(TRUTH)
    assert earned("execverify", form.reply(problem, right), five) == 2
    assert earned("execverify", form.reply(problem, ["nonsense", *right[1:]]), five) == pytest.approx(1.8)
    assert earned("execverify", form.reply(problem, right).replace("== -3", "== -2"), five) == 0
    assert earned("execverify", form.reply(problem, right[:4]), five) == 1
    assert earned("execverify", form.reply(problem, []), {"questions": []}) == 2  # nothing more was asked


def test_a_prompt_of_another_format_is_not_kept():
    own = {"program": SOURCE, "call": "f(4)", "prompt": "mine"}
    assert training_row("contra", own)["prompt"] == "mine"
    assert training_row("codereasoner", own)["prompt"] == prompts.prompt(TRUTH, "codereasoner")
    assert training_row("codereasoner", {**own, "paradigm": "codereasoner"})["prompt"] == "mine"
    assert training_row("contra", {**own, "paradigm": "codereasoner"})["prompt"] == "contra's"
    asked = questions_hook({**TRUTH.to_json(), "seed": 7})[:2]
    kept = training_row("execverify", {**own, "paradigm": "execverify", "questions": asked})
    assert (kept["prompt"], kept["questions"]) == ("mine", asked)
    assert training_row("execverify", {**own, "paradigm": "execverify"})["prompt"] != "mine"


def test_no_question_whose_answers_are_not_all_known():
    long = trace_call("def f(n):\n    a = 0\n    for i in range(n):\n        a += i\n    return a", "f(1200)")
    assert questions_hook({**long.to_json(), "seed": 0}) == []
    typed = trace_call(
        "from collections import deque\ndef f(n):\n    d = deque([n])\n    x = [n]\n    return x", "f(1)"
    )
    asked = [q for q in questions_hook({**typed.to_json(), "seed": 0}) if q["kind"] == "state"]
    assert [q["question"].split(" after ")[0] for q in asked] == ["what are the value and type of x"]
    assert [literals.parse(q["accepted"][0]) for q in asked] == [[1]]


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [({"paradigm": "codereasonr"}, UnknownNameError, "did you mean codereasoner"),
     ({"paradigm": "codereasoner"}, ConfigError, "reward codethinker cannot read replies in the format codereasoner"),
     ({"paradigm": "execverify", "reward": "execverify"}, ConfigError, "have no blocks; set regular to 8")],
)
def test_what_could_never_earn_is_refused(change, error, match):
    with pytest.raises(error, match=match):
        GrpoSettings(model="m", data="d", output_dir="o", **change).check()
    GrpoSettings(model="m", data="d", output_dir="o", paradigm="execverify", reward="execverify", regular=8).check()


def test_the_command_scores_replies_to_the_questions_that_the_row_or_the_prompt_asks(tmp_path, capsys):
    row = training_row("execverify")
    form, problem = paradigms.get("execverify"), prompts.problem_of(TRUTH)
    base = {"program": SOURCE, "call": "f(4)"}
    own = row["questions"][1:3]
    rows = [{**base, "completion": perfect("execverify", row)},
            {**base, "completion": form.reply(problem, [answer(q) for q in own]), "questions": own},
            {**base, "completion": form.reply(problem, [])},
            {**base, "completion": render(TRUTH)}]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    assert main(["reward", str(tmp_path / "r.jsonl"), "--reward", "execverify", "--json"]) == 0
    assert [json.loads(line)["reward"] for line in capsys.readouterr().out.splitlines()] == [2, 2, 1, 2]
