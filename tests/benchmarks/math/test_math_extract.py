"""Where the final answer of a reply is found, and when there is none."""

from __future__ import annotations

import pytest

from ct_tasks.benchmarks.math.extract import find_answer

LONG = "a" * 300


@pytest.mark.parametrize(("text", "answer"), [
    (r"So \boxed{\frac{1}{2}}.", r"\frac{1}{2}"),
    (r"\boxed{1} no: \boxed{2}", "2"),
    (r"\boxed{\{1,\{2\}\}}", r"\{1,\{2\}\}"),
    (r"\fbox{3}", "3"),
    (r"\boxed 7.", "7"),
    ("#### 5\n\nQ: next?\nA: steps\n#### 42", "5"),
    ("steps\n#### 5\nI must correct this.\n#### 42", "42"),
    ("#### -3", "-3"),
    ("#### -$3", "-3"),
    ("#### $1,234.50 ", "$1,234.50"),
    ("The answer is 18.", "18"),
    ("The answer is -3.", "-3"),
    ("**Final Answer:** 42", "42"),
    (r"The final answer is: $\frac{3}{4}$. I hope it is correct.", r"\frac{3}{4}"),
    ("The answer is 5. Wait. The answer is 6.", "6"),
    ("She has 3 apples and 4 pears, which makes 7", "7"),
    ("It falls to -12.5 degrees", "-12.5"),
    ("so x = $2\\sqrt{3}$", "2\\sqrt{3}"),
    (f"\\boxed{{{LONG} + 12345678901234567890}}", f"{LONG} + 12345678901234567890"),
    ("<think>maybe \\boxed{1}</think> \\boxed{2}", "2"),
    ("maybe \\boxed{1} </think>\nThe answer is 2.", "2"),
    ("\\boxed{5}\n\nQuestion: another one\n\\boxed{6}", "5"),
])
def test_the_last_answer_wins(text: str, answer: str) -> None:
    assert find_answer(text).answer == answer


@pytest.mark.parametrize("text", [
    "<think>it is \\boxed{5}, or 6", "<think>a</think> then <think>\\boxed{5}", "The answer is \\boxed{5", "[THINK]\\boxed{5}"])
def test_a_text_that_ends_too_early_is_truncated(text: str) -> None:
    found = find_answer(text)
    assert found.answer is None
    assert found.truncated


def test_a_cut_reply_keeps_a_complete_box_but_no_stray_number() -> None:
    assert find_answer("\\boxed{5} and now I check: 7 +", truncated=True).answer == "5"
    assert find_answer("first 3 + 4 = 7, then", truncated=True).truncated


@pytest.mark.parametrize("text", ["", "   ", "\\boxed{}", "I do not know.", "</think>"])
def test_no_answer_is_told_apart_from_truncation(text: str) -> None:
    found = find_answer(text)
    assert found.answer is None
    assert not found.truncated
