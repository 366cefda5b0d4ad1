"""Both readings through ``benchmark.score``: statuses, thinking, REval's probes, CRUXEval-X's answers, and training's reading."""

import pytest

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.base import Answer, Item
from ct_tasks.benchmarks.cruxeval_x import reading
from ct_tasks.benchmarks.cruxeval_x.rows import take_apart
from ct_tasks.benchmarks.reval import flexible as reval
from ct_tasks.benchmarks.reval import flexible_path, flexible_state
from ct_tasks.contra.trace import render
from ct_tasks.execution.languages import get
from ct_tasks.options import TaskOptions
from ct_tasks.paradigms.extraction import Missed
from ct_tasks.score import Score
from ct_train.rewards.base import Sample, build

MINI = registry.get("ct_mini")
TRACED = TaskOptions(paradigm="contra")


def first(paradigm="cot"):
    item = MINI.items(TaskOptions())[0]
    return item, TaskOptions(paradigm=paradigm)


def score(text, paradigm="cot", **more) -> Score:
    item, options = first(paradigm)
    return MINI.score([Answer(item, text, **more)], options)[0]


def test_an_answer_that_is_no_value_is_unreadable_in_both_readings():
    for text in ("[ANSWER]1 + 1[/ANSWER]", f"[ANSWER]{first()[0].data['call']}[/ANSWER]"):
        found = score(text)
        assert (found.status, found.status_flexible, found.answer_flexible) == ("unreadable", "unreadable", None)


def test_the_flexible_reading_finds_what_the_strict_one_misses():
    item, options = first()
    right = f"So the assertion is:\n```python\nassert {item.data['call']} == {item.data['output']}\n```"
    found = MINI.score([Answer(item, right)], options)[0]
    assert (found.status, found.status_flexible, found.acc, found.acc_flexible) == ("no_answer", "right", False, True)
    assert found.answer_flexible == item.data["output"]


def test_gold_is_right_and_a_draft_in_a_thought_is_nothing_in_every_reading():
    for paradigm in ("direct", "cot", "contra"):
        item, options = first(paradigm)
        gold = MINI.gold(item, options)
        whole = MINI.score([Answer(item, f"hm\n</think>\n{gold}", thinking=True)], options)[0]
        assert whole.acc
        assert whole.acc_flexible
        draft = MINI.score([Answer(item, gold, thinking=True)], options)[0]
        assert (draft.status, draft.status_flexible) == ("unclosed", "unclosed")
        assert not draft.values.get("rcs")
        cut = MINI.score([Answer(item, gold, thinking=True, truncated=True)], options)[0]
        assert (cut.status, cut.status_flexible) == ("truncated", "truncated")


def corpus(gold):
    """Text, whether its prompt opened a thought, whether it earns the full reward."""
    wrong = gold.replace("[LOCALS]\n{", "[LOCALS]\n{'no such name': 0, ", 1)
    return [
        (gold, False, True), (f"<think>\nfirst\n</think>\n{gold}", False, True), (f"<think>\n{wrong}\n</think>\n\n{gold}\n", False, True),
        (f"\n{gold}", False, True), (f"  {gold}\n\n", False, True), (f"{gold} ", False, True), (f"first\n</think>\n\n{gold}", True, True),
        (gold, True, False), (f"<think>\n{gold}", False, False), (f"<think>\n{gold}\n</think>", False, False), (f"Sure!\n{gold}", False, False),
        (wrong, False, False), (f"<think>\n{gold}\n</think>\n{wrong}", False, False), ("", False, False),
    ]  # fmt: skip


def test_evaluation_and_training_read_one_corpus_alike():
    item, options = first("contra")
    truth = MINI.truths([item], options)[0]
    rewards = {name: build(name) for name in ("codethinker", "codereasoner", "execverify", "cwm", "format")}
    for text, thinking, full in corpus(render(truth)):
        evaluated = MINI.score([Answer(item, text, thinking=thinking)], options)[0]
        sample = Sample(text, truth, (), thinking)
        trained = {name: reward.score(sample) for name, reward in rewards.items()}
        for result in trained.values():
            assert [result.r_proc, result.r_res, result.rcs, float(result.fmt)] == [evaluated.values[k] for k in ("r_proc", "r_res", "rcs", "fmt")], text
        assert trained["codethinker"].reward == evaluated.values["reward"]
        assert (evaluated.values["reward"] == 4.0) == full, text
        if full:
            assert [trained[k].reward for k in ("codereasoner", "execverify", "cwm", "format")] == [2.0, 2.0, 1.0, 2.0]


def test_a_baselines_own_format_is_read_behind_its_thought():
    truth = MINI.truths([first()[0]], TRACED)[0]
    from ct_tasks.contra import literals

    own = f"[THOUGHT]\nso\n[/THOUGHT]\n[ANSWER]\nassert {truth.call} == {literals.dump(truth.returned)}\n[/ANSWER]"
    for text, thinking, reward in ((own, False, 2.0), (f"<think>x</think>\n{own}", False, 2.0), (own, True, 0.0), (f"<think>\n{own}", False, 0.0)):
        assert build("codereasoner").score(Sample(text, truth, (), thinking)).reward == reward


@pytest.mark.parametrize(("text", "expected"), [
    ("NO", "NO"), ("[answer]no[/answer]", "NO"), ("NO\n[/THOUGHT]", "NO"), ("No, line 3 is skipped.", "NO"), ("**YES**", "YES"), ("The answer is YES.", "YES"),
    ("First it is set.\n\nYES", "YES"), ("Line 3 is not executed.", "NO"), ("Line 3 will be executed twice.", "YES"), ("[ANSWER]YES[/ANSWER]\nWait, that is wrong.\n[ANSWER]NO[/ANSWER]", "NO"),
    ("maybe", "no_answer"), ("[ANSWER]YES and NO[/ANSWER]", "unreadable"), ("", "no_answer"), ("[ANSWER]YES[/ANSWER] Wait, no, that is wrong.", "no_answer"),
])  # fmt: skip
def test_coverage_answers(text, expected):
    found = reval.coverage(text, truncated=False)
    assert (found.status if isinstance(found, Missed) else found) == expected


@pytest.mark.parametrize(("text", "expected"), [
    ("[ANSWER]n = n + 1[/ANSWER]", "n = n + 1"), ("[ANSWER]3\t        n = n + 1[/ANSWER]", "n = n + 1"), ("3", "n = n + 1"), ("[ANSWER]Line 3[/ANSWER]", "n = n + 1"),
    ("`n = n + 1`", "n = n + 1"), ("-1", "-1"), ("The next line executed is line 3.", "n = n + 1"), ("The line `return n // 2` is executed right after it.", "return n // 2"),
    ("[ANSWER]5[/ANSWER]", "5"), ("return n//2", "return n // 2"), ("-1 because it ends", "-1"), ("n + 1", "n + 1"), ("[ANSWER]the return[/ANSWER]", "unreadable"),
])  # fmt: skip
def test_path_answers(text, expected):
    found = flexible_path.path(text, ["def halve(n):", "    if n % 2:", "        n = n + 1", "    return n // 2", ""], truncated=False)
    assert (found.status if isinstance(found, Missed) else found) == expected


@pytest.mark.parametrize(("text", "expected"), [
    ("[ANSWER]8; int[/ANSWER]", "8; int"), ("8; int\n[/ANSWER]", "8; int"), ("[ANSWER]8, int[/ANSWER]", "8; int"), ("[ANSWER]8 (int)[/ANSWER]", "8; int"), ("[ANSWER]8[/ANSWER]", "8; int"),
    ("['a', str]", "'a'; str"), ("[ANSWER]Value: 8; Type: int[/ANSWER]", "8; int"), ("Nil", "Nil"), ("Nil; list", "Nil"), ("The value of `n` is `8` and the type of `n` is `int`.", "8; int"),
    ("[ANSWER][1, 2]; list[/ANSWER]", "[1, 2]; list"), ("[1, 2]; List[int]", "[1, 2]; List[int]"), ("n = 8; int", "8; int"), ("[ANSWER]abc; str[/ANSWER]", "'abc'; str"),
    ("[ANSWER]8 int[/ANSWER]", "8; int"), ("The value of `n` is 8 and its type is int.", "8; int"), ("The answer is `8; int`.", "8; int"), ("Therefore, the answer is 8; int.", "8; int"), ("[ANSWER]n; int; maybe[/ANSWER]", "n; int; maybe"), ("[ANSWER]something[/ANSWER]", "unreadable"), ("", "no_answer"),
])  # fmt: skip
def test_state_answers(text, expected):
    found = flexible_state.state(text, truncated=False)
    assert (found.status if isinstance(found, Missed) else found) == expected


CHECK = "    candidate = f\n    assert candidate({}) == ????\n"


@pytest.mark.parametrize(("language", "check", "gold"), [
    ("cpp", "int main() {\n    auto candidate = f;\n    assert(candidate((3)) == (????));\n}\n", "6"),
    ("js", "  assert.deepEqual(candidate(3),????);\n", '"a;"'), ("rs", "    assert_eq!(candidate(3), ????);\n", "vec![1, 2]"), ("py", "    assert candidate(3) == ????\n", "'x'"),
    ("rb", "    assert_equal(????, candidate.call(3))\n", "[1]"), ("sh", '    [[ $(candidate "3") = ???? ]]\n', '"6"'),
])  # fmt: skip
def test_cruxeval_x_answers_are_unwrapped(language, check, gold):
    parts = take_apart("head\n" + check.replace("????", gold), check)
    assert parts is not None
    row = next(line for line in check.split("\n") if "????" in line).replace("????", gold)
    wrapped = [gold, f" {gold}\n", f"```{language}\n{gold}\n```", f"{gold};", row.strip(), f"```\n{row}\n```", f"{gold} ;".replace(" ;", ";")]
    if language != "sh":
        wrapped.append(f"`{gold}`")
    for text in wrapped:
        assert reading.bare(text, get(language), "output", parts) == gold, text
        found = reading.flexible(Answer(Item("1", {}), f"So:\n[answer]{text}[/answer]"), get(language), "output", parts, None)
        assert reading.bare(found or "", get(language), "output", parts) == gold
    said = reading.flexible(Answer(Item("1", {}), f"It doubles.\n```{language}\n{row}\n```"), get(language), "output", parts, None)
    assert reading.bare(said or "", get(language), "output", parts) == gold


def test_a_shells_backquotes_stay():
    parts = take_apart('head\n    [[ $(candidate "3") = "6" ]]\n', '    [[ $(candidate "3") = ???? ]]\n')
    assert parts is not None
    assert reading.bare("`true`", get("sh"), "output", parts) == "`true`"
