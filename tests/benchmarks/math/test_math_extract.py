"""Where the final answer of a reply is found, and when there is none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    ("#### $1,234.50 ", "1,234.50"),
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


@pytest.mark.parametrize(("text", "answer"), [
    ("#### 42 and so on", "42"), ("#### **42**", "42"), ("#### $1,200 in all", "1,200"), ("####42.", "42"),
    ("The answer is: **$18** per day", "18 per day"), ("The answer is eighteen (18).", "18"), ("The answer is 18 (eighteen).", "18"),
    ("eighteen (18)", "18"), ("18 because 9 * 2 = 18", "18"), ("18 because 3*6", "18"), ("The answer is 18 because he sold 6.", "18"),
    ("The final answer is 18, since 3 * 6 = 18.", "18"), ("= 18", "18"), ("The answer = 18", "18"), ("Answer: the total is 18", "18"),
    ("1e3 dollars", "1e3"), ("It costs 1.5e-3 dollars", "1.5e-3"), ("It is 2 × 10^5 metres", "2 × 10^5"), ("The answer is about $1,000.", "1,000"),
    ("The answer is:\n\n$$\n18\n$$", "18"), ("The answer is:\n\\[ 18 \\]", "18"), ("**Final Answer**\n\n18 dollars", "18 dollars"),
    ("The answer is $2$ and $3$.", "2, 3"), ("The answer is 3, 5 and 7", "3, 5 and 7"), ("The answer is (3, 4)", "(3, 4)"),
    ("The answer is y = 3x+5", "y = 3x+5"), ("The answer is 5 - 3i.", "5 - 3i"), ("The answer is 18 = 3*6", "18"), ("The answer is 3*6 = 18", "18"),
    ("The answer is 3 hours and 20 minutes", "3 hours and 20 minutes"), ("The answer is 45 degrees", "45 degrees"), ("The answer is even because 2 divides it", "even"),
    ("The answer is not 5 but 6.", "6"), ("The answer is 5. No, it is 6.", "6"), ("The answer is 5. Wait, that's wrong. It should be 6.", "6"),
    ("\\boxed{5}. That is wrong: \\boxed{6}", "6"), ("\\boxed{5}. Correction: the answer is 6.", "6"), ("\\boxed{5}. That is wrong, it is 6.", "6"),
    ("\\boxed{5}. If you got 6, that is wrong.", "5"), ("\\boxed{5}\nThat is correct.", "5"), ("boxed{5}", "5"), ("\\\\boxed{5}", "5"),
    ("The answer to the question is 18", "18"), ("The answer (in dollars) is 18", "18"), ("Answer:\n**18**", "18"), ("The answer is \\mathrm{e}", "\\mathrm{e}"),
])
def test_a_careful_reader_takes_the_value_out_of_its_prose(text: str, answer: str) -> None:
    assert find_answer(text).answer == answer


@pytest.mark.parametrize("text", [
    "<think>it is \\boxed{5}, or 6", "<think>a</think> then <think>\\boxed{5}", "The answer is \\boxed{5", "[THINK]\\boxed{5}"])
def test_a_text_that_ends_too_early_has_no_answer(text: str) -> None:
    """Truncated only where the length limit is known to have cut it."""
    for truncated, missing in ((None, "unclosed"), (False, "unclosed"), (True, "truncated")):
        found = find_answer(text, truncated=truncated)
        assert (found.answer, found.missing) == (None, missing)


def test_a_thinking_part_that_the_template_opened() -> None:
    assert find_answer("it is \\boxed{5}, or 6", thinking=True).missing == "unclosed"
    assert find_answer("it is \\boxed{5}, or 6", thinking=True, truncated=True).missing == "truncated"
    assert find_answer("it is \\boxed{5}</think> \\boxed{6}", thinking=True).answer == "6"


def test_a_cut_reply_keeps_a_complete_box_but_no_stray_number() -> None:
    assert find_answer("\\boxed{5} and now I check: 7 +", truncated=True).answer == "5"
    assert find_answer("first 3 + 4 = 7, then", truncated=True).missing == "truncated"


@pytest.mark.parametrize("text", ["", "   ", "\\boxed{}", "I do not know.", "</think>", "\\boxed{5}. Wait, that is wrong.", "The answer is 5. Scratch that.",
                                  "\\boxed{5}. This is incorrect.", "The answer is not known."])
def test_no_answer_and_an_answer_taken_back(text: str) -> None:
    found = find_answer(text)
    assert (found.answer, found.missing) == (None, "no_answer")


PIECES = st.lists(st.sampled_from([
    "\\boxed{", "\\boxed ", "}", "{", "\\", "####", "#### 4 ", "The answer is", "answer:", "**", "$", "$$", "\\(", "\\)", "\\[", "\\]", "=", "18", "-", "1e9", "1/2",
    "eighteen", "(", ")", " because ", ".", "\n", "<think>", "</think>", "not ", " but ", "Question:", "wait, it is ", "that is wrong", "\x00", "½", "\\frac", "%", ","]), max_size=25)


@settings(max_examples=1500, deadline=None)
@given(PIECES, st.sampled_from([None, True, False]), st.booleans())
def test_no_text_raises(parts: list[str], truncated: bool | None, thinking: bool) -> None:
    found = find_answer("".join(parts), truncated=truncated, thinking=thinking)
    assert found.answer is None or found.answer.strip()
    assert found.missing != "truncated" or truncated


@pytest.mark.parametrize("unit", ["\\boxed{", "\\boxed{5}", "\\(", "$", "$$ ", "The answer is ", "Question:\n", "#### ", "#### 5\n", "1,", "answer to ", "**", "18 = ", "<think>", "a ",
                                  "wait, it is 5. ", "not ", "e1", "(", "\n", "18 ", "\\boxed {"])
def test_megabytes_are_read(unit: str) -> None:
    """Whatever a reply repeats, it ends: no step takes more than time in proportion to the text."""
    find_answer(unit * (3_000_000 // len(unit)))


def test_a_last_sentence_that_is_an_equation_comes_to_its_last_value():
    assert find_answer("So 3 * 240 = 720 cookies for 30 days.").answer == "720"
    assert find_answer("The total for 30 days.\nShe needs 10800 - 360 = 10440 to make 30 days.").answer == "10440"
    assert find_answer("It takes 3 hours and costs 12 dollars.").answer == "12"


def test_a_conclusion_repeated_until_the_cut_is_an_answer():
    assert find_answer("We add.\n" + "So the total is 18.\n" * 3 + "So the", truncated=True).answer == "18"
    assert find_answer("We add.\nSo the total is 18.\nSo the", truncated=True).missing == "truncated"
    assert find_answer("We set 2 * 40 = 80.\n" * 5, truncated=True).missing == "truncated"
