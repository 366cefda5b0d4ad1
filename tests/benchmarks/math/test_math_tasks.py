"""The mathematical tasks on their real data: gold as raw text, hostile replies, statuses, prompts."""

from __future__ import annotations

from pathlib import Path

import pytest

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.base import Answer, Item
from ct_tasks.benchmarks.math.tasks import EXAMPLES, Math500
from ct_tasks.errors import ConfigError
from ct_tasks.options import TaskOptions

TASKS = registry.GROUPS["codethinker_math"]
OPTIONS = TaskOptions()
ITEM = Item("x", {"problem": "?", "answer": r"\frac{1}{2}", "solution": ""})


def scored(text: str, **kwargs: object) -> tuple[str, str | None]:
    score = Math500().score([Answer(ITEM, text, **kwargs)], OPTIONS)[0]  # type: ignore[arg-type]
    return score.status, score.answer


@pytest.mark.parametrize("name", TASKS)
def test_every_gold_text_is_right(data_dir: Path, name: str) -> None:
    """The authors' own solutions, whole and as raw text: every row of the benchmark."""
    benchmark = registry.get(name)
    items = benchmark.items(OPTIONS)
    scores = benchmark.score([Answer(item, benchmark.gold(item, OPTIONS)) for item in items], OPTIONS)
    assert [i.id for i, s in zip(items, scores, strict=True) if not s.acc or not s.acc_flexible or not s.acc_official] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_no_hostile_text_scores(data_dir: Path, name: str) -> None:
    benchmark = registry.get(name)
    items = benchmark.items(OPTIONS)[:: len(benchmark.items(OPTIONS)) // 12 or 1]
    texts = [(item, kind, text) for n, item in enumerate(items) for kind, text in benchmark.hostile(item, OPTIONS).items()
             if kind != "tower" or (n == 0 and name == "ct_math")]
    scores = benchmark.score([Answer(item, text) for item, _, text in texts], OPTIONS)
    bad = [(item.id, kind, s) for (item, kind, _), s in zip(texts, scores, strict=True) if s.acc or s.acc_flexible or s.status == "harness_error"]
    assert bad == []


def test_statuses() -> None:
    assert scored(r"so \boxed{0.5}") == ("right", "0.5")
    assert scored(r"so \boxed{0.6}") == ("wrong", "0.6")
    assert scored("I cannot say.") == ("no_answer", None)
    assert scored("") == ("no_answer", None)
    assert scored(r"<think>\boxed{0.5}") == ("unclosed", None)
    assert scored(r"so \boxed{0.5") == ("unclosed", None)
    assert scored(r"so \boxed{0.5", truncated=True) == ("truncated", None)
    assert scored(r"\boxed{0.5}, or not?", thinking=True) == ("unclosed", None)
    assert scored("we get 1 + 2 and", truncated=True) == ("truncated", None)
    assert scored("1/2", extracted=True) == ("right", "1/2")


@pytest.mark.parametrize(("gold", "text"), [
    ("18", "The answer is: **$18** per day"), ("18", "eighteen (18)"), ("18", "18 because 3 * 6"), ("18", "The answer is eighteen."), ("42", "#### 42 and so on"),
    ("1000", "1e3 dollars"), ("e", r"\boxed{\mathrm{e}}"), (r"\mathrm{e}", r"\boxed{e}"), (r"\mathrm{e}", r"\boxed{\mathrm{e}}"), ("i", r"\boxed{\mathrm{i}}"),
    (r"\mathrm{i}", r"\boxed{i}"), (r"3+2\mathrm{i}", r"\boxed{3+2i}"), (r"e^{2i}", r"\boxed{\mathrm{e}^{2\mathrm{i}}}"), (r"2\pi i", r"\boxed{2\pi\mathrm{i}}"),
    (r"-i", r"\boxed{-\operatorname{i}}"), ("18", r"\boxed{= 18}"), ("1234", "The answer is $1,234."), ("0.25", r"The answer is 25\%.")])
def test_both_readings_take_what_a_person_takes(gold: str, text: str) -> None:
    item = Item("x", {"problem": "?", "answer": gold, "solution": ""})
    score = Math500().score([Answer(item, text)], OPTIONS)[0]
    assert (score.status, score.status_flexible) == ("right", "right")
    assert score.answer == score.answer_flexible is not None
    other = Math500().score([Answer(Item("y", {**item.data, "answer": "0.5319"}), text)], OPTIONS)[0]
    assert (other.status, other.status_flexible) == ("wrong", "wrong")


def test_prompts_hold_the_problem_and_never_the_answer(data_dir: Path) -> None:
    benchmark = Math500()
    for item in benchmark.items(OPTIONS)[:50]:
        for chat in (True, False):
            prompt = benchmark.prompt(item, OPTIONS, chat=chat)
            assert item.data["problem"] in prompt
            assert item.data["solution"] not in prompt
            assert "\\boxed{}" in prompt


def test_worked_examples_are_scored_right_by_the_own_extraction(data_dir: Path) -> None:
    """The layout that the examples show is one that the extraction reads, and no example is an item."""
    problems = {i.data["problem"] for name in TASKS for i in registry.get(name).items(OPTIONS)}
    for question, solution in EXAMPLES:
        assert question not in problems
        item = Item("e", {"problem": question, "answer": solution.rsplit("\\boxed{", 1)[1].rsplit("}", 1)[0]})
        assert Math500().score([Answer(item, solution)], OPTIONS)[0].acc
    with pytest.raises(ConfigError, match="shots=9"):
        Math500().prompt(ITEM, TaskOptions(shots=9), chat=True)
