"""R_proc, R_res, R, RCS and partial scores: worked values, switches, and properties that no text may break."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import CASES

from ct_tasks.contra.parser import parse_prefix
from ct_tasks.contra.scoring import RewardOptions, partial_score, score_trace
from ct_tasks.contra.trace import render
from ct_tasks.contra.tracer import trace_call

# Weights 1, 1, 1, 2, as in the paper's appendix E.
SOURCE = "def f(n):\n    a = n + 1\n    b = a * 2\n    c = b - 3\n    while c > 0:\n        c -= 5\n    return c"
TRUTH = trace_call(SOURCE, "f(4)")
GOLD = render(TRUTH)
BLOCK3 = GOLD.replace("{'n': 4, 'a': 5, 'b': 10, 'c': 7}", "{'n': 4, 'a': 5, 'b': 10, 'c': 8}")
ANSWER = GOLD.replace("== -3", "== -4")


def test_worked_values():
    assert TRUTH.weights == (1, 1, 1, 2)
    right = score_trace(GOLD, TRUTH)
    assert (right.r_proc, right.r_res, right.reward, right.rcs, right.fmt) == (2, 2, 4, 1, True)
    for text in (BLOCK3, BLOCK3.replace("== -3", "== -4")):
        score = score_trace(text, TRUTH)
        assert score.r_proc == pytest.approx(0.8)
        assert score.reward == pytest.approx(0.8)
        assert score.rcs == 0.5
        assert score.first_wrong == 2
        assert score.blocks[2].wrong == ("c",)
    assert score_trace(BLOCK3, TRUTH).hack
    assert not score_trace(BLOCK3.replace("== -3", "== -4"), TRUTH).hack
    wrong = score_trace(ANSWER, TRUTH)
    assert (wrong.r_proc, wrong.r_res, wrong.reward) == (2, 0, 2)


def test_alpha_scales_after_the_gate():
    assert score_trace(GOLD, TRUTH, RewardOptions(alpha=0.5)).reward == 3
    assert score_trace(GOLD, TRUTH, RewardOptions(alpha=2)).reward == 6


@pytest.mark.parametrize(
    ("options", "gold", "block3", "answer"),
    [
        (RewardOptions(), 4, 0.8, 2),
        (RewardOptions(prm=False), 2, 2, 0),
        (RewardOptions(rcc=False), 4, 2 * 4 / 5 + 2, 2),
        (RewardOptions(orm=False), 2, 0.8, 2),
        (RewardOptions(ccw=False), 4, 1.0, 2),
        (RewardOptions(rcc=False, ccw=False), 4, 2 * 3 / 4 + 2, 2),
        (RewardOptions(prm=False, orm=False), 0, 0, 0),
    ],
)
def test_ablation_switches(options, gold, block3, answer):
    assert [score_trace(t, TRUTH, options).reward for t in (GOLD, BLOCK3, ANSWER)] == pytest.approx([gold, block3, answer])


def test_typed_values_decide():
    truth = trace_call("def f(b):\n    c = not b\n    return c", "f(False)")
    text = render(truth)
    assert score_trace(text, truth).reward == 4
    assert score_trace(text.replace("'c': True", "'c': 1"), truth).reward == 0
    assert score_trace(text.replace("== True", "== 1"), truth).reward == 2


@pytest.mark.parametrize("change", [("'a': 5}", "'a': 5, 'zz': 1}"), ("{'n': 4, 'a': 5}", "{'a': 5}"), ("{'n': 4, 'a': 5}", "{'n': 4, 'A': 5}")])
def test_invented_and_missing_variables_are_wrong(change):
    assert score_trace(GOLD.replace(*change, 1), TRUTH).rcs == 0


def test_partial_scores_follow_the_blocks():
    cuts = [i + len("[/LOCALS]") for i in range(len(GOLD)) if GOLD.startswith("[/LOCALS]", i)]
    assert [partial_score(GOLD[:c], TRUTH) for c in cuts] == pytest.approx([0.4, 0.8, 1.2, 2.0])
    assert [partial_score(GOLD[:c] + "\n", TRUTH) for c in cuts] == pytest.approx([0.4, 0.8, 1.2, 2.0])
    assert partial_score("", TRUTH) == 0
    assert partial_score("Sure! " + GOLD[: cuts[1]], TRUTH) == 0
    assert partial_score(BLOCK3[: cuts[3]], TRUTH) == pytest.approx(0.8)
    assert partial_score(GOLD, TRUTH) == score_trace(GOLD, TRUTH).r_proc


ATTACKS = {
    "repeated tags": GOLD.replace("[/LOCALS]", "[/LOCALS]\n[/LOCALS]"),
    "two returns": GOLD.replace("[/RETURN]", "[/RETURN]\n[RETURN]\nassert f(4) == -3\n[/RETURN]"),
    "two returns in one": GOLD.replace("== -3", "== -3\nassert f(4) == -3"),
    "trace after trace": GOLD + "\n" + GOLD,
    "wrong trace then right": ANSWER + "\n" + GOLD,
    "copied prompt": SOURCE + "\n" + GOLD,
    "locals with calls": GOLD.replace("'a': 5", "'a': int('5')"),
    "locals by reference": GOLD.replace("'a': 5}", "'a': n + 1}"),
    "always equal": GOLD.replace("== -3", "== type('E', (), {'__eq__': lambda s, o: True})()"),
    "or true": GOLD.replace("== -3", "== 0 or True"),
    "echoed call": GOLD.replace("== -3", "== f(4)"),
    "answer only": "[TRACE]\n[RETURN]\nassert f(4) == -3\n[/RETURN]\n[/TRACE]",
    "one block for all": "[TRACE]\n[CODE]\n" + "\n".join(f"[LINENO {i}]    {line}" for i, line in enumerate(TRUTH.program.lines))
    + "\n[/CODE]\n[THOUGHT]\n[/THOUGHT]\n[LOCALS]\n{'n': 4, 'a': 5, 'b': 10, 'c': -3}\n[/LOCALS]\n[RETURN]\nassert f(4) == -3\n[/RETURN]\n[/TRACE]",
    "literal bomb": GOLD.replace("'a': 5", "'a': " + "[" * 5000),
    "huge integer": GOLD.replace("'a': 5", "'a': " + "9" * 100_000),
    "nan locals": GOLD.replace("'a': 5", "'a': nan"),
    "unicode minus": GOLD.replace("== -3", "== −3"),
    "fullwidth digit": GOLD.replace("'a': 5", "'a': ５"),
    "duplicate keys": GOLD.replace("{'n': 4, 'a': 5}", "{'n': 4, 'a': 6}", 1),
    "empty": "",
    "tags only": "[TRACE]\n[/TRACE]",
    "thought holds answer": GOLD.replace("[THOUGHT]\n", "[THOUGHT]\n[RETURN]\n", 1),
    "crlf": GOLD.replace("\n", "\r\n"),
    "fenced": "```\n" + GOLD + "\n```",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_get_no_result_reward(name):
    text = ATTACKS[name]
    assert text != GOLD
    score = score_trace(text, TRUTH)
    assert score.reward < 4
    assert score.reward - score.r_proc == 0


corruptions = st.sampled_from(["'extra': 1", "'n': 99999"])


@given(st.sampled_from([(c[1], c[2]) for c in CASES]), st.data())
def test_making_a_block_wrong_never_raises_any_score(case, data):
    truth = trace_call(*case)
    text = render(truth)
    wrong: set[int] = set()
    for options in (RewardOptions(), RewardOptions(rcc=False), RewardOptions(ccw=False), RewardOptions(orm=False)):
        before = score_trace(text, truth, options).reward
        index = data.draw(st.integers(0, len(truth.blocks) - 1))
        head, *tail = text.split("[LOCALS]\n{")
        tail[index] = data.draw(corruptions) + ", " + tail[index]
        worse = "[LOCALS]\n{".join([head, *tail])
        score = score_trace(worse, truth, options)
        assert score.reward <= before
        if options == RewardOptions():
            wrong = {i for i, d in enumerate(score.deltas) if not d}
            assert index in wrong or "99999" in worse
            if index in wrong:
                assert score.reward < 4
                assert score.reward == score.r_proc


@given(st.text(max_size=200))
def test_text_without_the_trace_earns_nothing(text):
    assert score_trace(text, TRUTH).reward == 0


def test_json_form_is_json():
    import json

    data = json.loads(json.dumps(score_trace(BLOCK3, TRUTH).to_json()))
    assert data["blocks"][2]["wrong"] == ["c"]
    assert parse_prefix(BLOCK3, TRUTH).ok
