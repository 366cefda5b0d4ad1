"""Every reward on worked rollouts, and what no rollout may do to any of them."""

import json

import pytest

from ct_tasks.contra.trace import render
from ct_tasks.contra.tracer import trace_call
from ct_tasks.errors import UnknownNameError
from ct_train.rewards import REWARDS, Sample, build
from ct_train.rewards.whitebox import questions_hook

SOURCE = "def f(n):\n    a = n + 1\n    b = a * 2\n    c = b - 3\n    while c > 0:\n        c -= 5\n    return c"
TRUTH = trace_call(SOURCE, "f(4)")
GOLD = render(TRUTH, ["x"] * 4)
BLOCK3 = GOLD.replace("'b': 10, 'c': 7}", "'b': 10, 'c': 8}")
THOUGHT_ANSWER = "[THOUGHT]\nfive, ten, seven\n[/THOUGHT]\n[ANSWER]\nassert f(4) == -3\n[/ANSWER]"
QUESTIONS = tuple(questions_hook({**TRUTH.to_json(), "seed": 0}))


def xml(*answers):
    return "<reasoning>\nstep by step\n</reasoning>\n<answer>\n" + "\n".join(answers) + "\n</answer>"


def answer_to(question):
    text = question["accepted"][0]
    return text if question["kind"] == "next_line" or text == "Nil" else f"{text}; int"


RIGHT = [answer_to(q) for q in QUESTIONS]


def reward(name, text, questions=(), **options):
    return build(name, options).score(Sample(text, TRUTH, tuple(questions)))


def test_worked_values_of_the_paper():
    assert reward("codethinker", GOLD).reward == 4
    assert reward("codethinker", BLOCK3).reward == pytest.approx(0.8)
    assert reward("codereasoner", GOLD).reward == 2
    assert reward("codereasoner", THOUGHT_ANSWER).reward == 2
    assert reward("execverify", GOLD).reward == 2
    five = QUESTIONS[:5]
    assert reward("execverify", xml("assert f(4) == -3", *RIGHT[:5]), five).reward == 2
    assert reward("execverify", xml("assert f(4) == -3", "nonsense", *RIGHT[1:5]), five).reward == pytest.approx(1.8)
    assert reward("execverify", xml("assert f(4) == -4", *RIGHT[:5]), five).reward == 0
    assert reward("execverify", xml("assert f(4) == -3", *RIGHT[:4]), five).reward == 1


def test_outcome_rewards_pay_for_a_wrong_trace_and_ours_does_not():
    assert reward("codereasoner", BLOCK3).reward == 2
    assert reward("cwm", BLOCK3).reward == 1
    found = reward("codethinker", BLOCK3)
    assert found.hack
    assert found.delta == (True, True, False, True)
    assert 0 < build("execverify", {"questions": 9}).score(Sample(BLOCK3, TRUTH)).reward <= 2


def test_whitebox_share_is_independent_of_order():
    every = {"questions": 99}
    first = GOLD.replace("{'n': 4, 'a': 5}", "{'n': 4, 'a': 6}", 1)
    last = GOLD.replace("'c': -3}", "'c': -2}")
    share = 1 - 1 / sum(len(b.locals) for b in TRUTH.blocks)
    for text in (first, last):
        assert build("execverify", every).score(Sample(text, TRUTH)).parts["whitebox"] == pytest.approx(share)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (THOUGHT_ANSWER.replace("-3", "-4"), 0),
        (THOUGHT_ANSWER.replace("== -3", "== f(4)"), 0),
        (THOUGHT_ANSWER + THOUGHT_ANSWER, 0),
        (THOUGHT_ANSWER.replace("[/ANSWER]", ""), 0),
        ("so: " + THOUGHT_ANSWER, 0),
        (THOUGHT_ANSWER.replace("assert f(4)", "assert f(4) == f(4) and f(4)"), 0),
        (THOUGHT_ANSWER.replace("f(4)", "g(4)"), 0),
        (GOLD.replace("-3\n[/RETURN]", "-4\n[/RETURN]"), 0),
        ("", 0),
    ],
)
def test_codereasoner_refuses(text, value):
    assert reward("codereasoner", text).reward == value


def test_execverify_does_not_take_a_call_compared_with_itself():
    assert reward("execverify", xml("assert f(4) == f(4)", *RIGHT), QUESTIONS).reward == 0


def test_cwm_format():
    tail = "<|return_sep|>return c<|arg_sep|>-3<|frame_sep|>"
    assert reward("cwm", "..." + tail).reward == 1
    assert reward("cwm", "..." + tail.replace("-3", "-4")).reward == -1
    assert reward("cwm", "").reward == -1


def test_format_only_pays_for_shape_not_values():
    assert reward("format", BLOCK3).reward == 2
    assert reward("format", GOLD.replace("[/TRACE]", "")).reward == 0


def test_questions_are_seeded_and_answerable():
    again = questions_hook({**TRUTH.to_json(), "seed": 0})
    assert tuple(again) == QUESTIONS
    kinds = [q["kind"] for q in QUESTIONS]
    assert 1 <= kinds.count("next_line") <= 5
    assert 1 <= kinds.count("state") <= 5
    assert questions_hook({**TRUTH.to_json(), "seed": 1}) != again
    assert json.loads(json.dumps(again)) == again
    loop = next(q for q in QUESTIONS if q["question"].startswith("what line") and "c -= 5" in q["question"])
    assert loop["accepted"] == ["    while c > 0:"]


@pytest.mark.parametrize("name", REWARDS)
@pytest.mark.parametrize("text", ["", "[TRACE]" * 1000, "\x00", "[" * 100_000, "<answer>" * 500, GOLD * 50, "<|return_sep|><|arg_sep|>" + "9" * 50_000])
def test_no_text_raises_or_earns(name, text):
    found = reward(name, text, QUESTIONS)
    assert found.reward <= 0
    json.dumps(found.to_json())


def test_unknown_names_are_suggested():
    with pytest.raises(UnknownNameError, match="did you mean codethinker"):
        build("codethinkr")
    with pytest.raises(UnknownNameError, match="did you mean alpha"):
        build("codethinker", {"alhpa": 2})
