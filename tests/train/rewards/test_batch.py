"""Batches in scoring processes: order, deadlines, failures that are counted, and both trainers' signatures."""

import json
import os
import time

import pytest

from ct_tasks.contra.trace import render
from ct_tasks.contra.tracer import trace_call
from ct_tasks.errors import ConfigError, HarnessError
from ct_tasks.execution.deadline import DeadlinePool
from ct_train.rewards.batch import BatchScorer, compute_score, text_of, trl_reward

TRUTHS = [trace_call("def f(n):\n    a = n + 1\n    return a * 2", f"f({n})") for n in range(40)]
COLUMN = [json.dumps(t.to_json()) for t in TRUTHS]
TEXTS = [render(t) if i % 3 else "nothing" for i, t in enumerate(TRUTHS)]


def test_batch_keeps_order():
    results = BatchScorer("codethinker", workers=2).score(TEXTS, COLUMN)
    assert [r.reward for r in results] == [4 if i % 3 else 0 for i in range(40)]


def test_trl_signature_with_strings_and_messages():
    seen, logged = [], {}
    function = trl_reward(BatchScorer("codethinker", workers=2), keep=seen.append)
    assert function.__name__ == "reward_codethinker"
    messages = [[{"role": "assistant", "content": t}] for t in TEXTS]
    for completions in (TEXTS, messages):
        rewards = function(prompts=[""] * 40, completions=completions, completion_ids=[[1]] * 40, truth=COLUMN, log_metric=lambda k, v: logged.update({k: v}), trainer_state=None)
        assert rewards == [4 if i % 3 else 0 for i in range(40)]
    assert logged["rewards/unscored"] == 0
    assert logged["rewards/rcs"] == pytest.approx(26 / 40)
    assert len(seen) == 2
    with pytest.raises(ConfigError, match="needs a column 'truth'"):
        function(prompts=[], completions=[])


def test_what_cannot_be_scored_is_none_and_counted():
    scorer = BatchScorer("codethinker", workers=1)
    results = scorer.score([TEXTS[1], TEXTS[2]], [COLUMN[1], "not json"])
    assert results[0].reward == 4
    assert results[1] is None
    assert scorer.failed == 1
    assert "JSONDecodeError" in scorer.last_error
    with pytest.raises(ConfigError, match="2 completions but 1"):
        scorer.score(["", ""], [COLUMN[0]])


def test_verl_signature():
    found = compute_score("leetcode", TEXTS[1], COLUMN[1], {"index": 0})
    assert found["score"] == 4
    assert found["r_proc"] == 2
    assert compute_score("leetcode", TEXTS[1], COLUMN[1], None, reward="codethinker", alpha=0.5)["score"] == 3
    assert compute_score("leetcode", TEXTS[1], COLUMN[1], None, reward="codereasoner")["score"] == 2


def test_text_of():
    assert text_of("a") == "a"
    assert text_of([{"role": "assistant", "content": "a"}, {"role": "assistant", "content": None}]) == "a"


def behave(item):
    """What the pool calls in its children; named below."""
    kind, value = item
    if kind == "sleep":
        time.sleep(value)
    elif kind == "burn":
        while True:
            pass
    elif kind == "die":
        os._exit(7)
    elif kind == "raise":
        raise ValueError("no")
    elif kind == "print":
        print("noise")
    return value


@pytest.fixture
def behaving(monkeypatch):
    monkeypatch.syspath_prepend(os.path.dirname(__file__))
    return f"{__name__}:behave"


def test_deadline_kills_only_the_item_that_hangs(behaving):
    items = [["ok", i] for i in range(30)]
    items[7], items[11], items[19], items[23] = ["burn", 0], ["die", 0], ["raise", 0], ["print", 5]
    with DeadlinePool(behaving, workers=2, deadline_s=1) as pool:
        outcomes = pool.map(items)
        children = [c.process.pid for c in pool._children]
    assert [o.value for i, o in enumerate(outcomes) if i not in (7, 11, 19)] == [5 if i == 23 else i for i in range(30) if i not in (7, 11, 19)]
    assert outcomes[7].timed_out
    assert outcomes[7].error == "no result within 1 s of CPU time"
    assert "code 7" in outcomes[11].error
    assert not outcomes[11].timed_out
    assert "ValueError: no" in outcomes[19].error
    for pid in children:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_deadline_counts_work_and_not_waiting(behaving):
    """What a busy machine does to an item, without one: it takes four times its deadline and uses no CPU time."""
    with DeadlinePool(behaving, workers=1, deadline_s=0.5) as pool:
        assert [o.value for o in pool.map([["ok", 1], ["sleep", 2], ["ok", 3]])] == [1, 2, 3]


def test_an_item_that_waits_for_ever_ends_too(behaving):
    with DeadlinePool(behaving, workers=1, deadline_s=10, wall_s=5) as pool:
        outcomes = pool.map([["sleep", 600], ["ok", 1]])
    assert (outcomes[0].timed_out, outcomes[0].error) == (True, "no result within 5 s")
    assert outcomes[1].value == 1


def test_items_larger_than_a_pipe_wait_for_no_one(behaving):
    large = "x" * 300_000
    with DeadlinePool(behaving, workers=1, deadline_s=10, wall_s=5) as pool:
        outcomes = pool.map([["sleep", 600], *[["ok", large]] * 4])
    assert [o.timed_out for o in outcomes] == [True] + [False] * 4
    assert [o.value for o in outcomes[1:]] == [large] * 4


def test_a_function_that_cannot_load_is_a_harness_error():
    with DeadlinePool("no.such.module:f", workers=1) as pool, pytest.raises(HarnessError, match="did not start"):
        pool.map([1])
