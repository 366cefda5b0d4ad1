"""The flexible reading: what a careful person takes as the answer, what they do not, and that nothing hurts the reader."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ct_tasks import paradigms
from ct_tasks.benchmarks import hostile, registry
from ct_tasks.benchmarks.base import Answer, Item
from ct_tasks.options import PARADIGMS, TaskOptions
from ct_tasks.paradigms import flexible
from ct_tasks.paradigms.base import Found, Problem, visible
from ct_tasks.paradigms.readings import readings, status_of
from ct_tasks.paradigms.returns import kind
from ct_tasks.paradigms.thinking import opened_by

ASKED = Problem("def f(x):\n    return x * 2", "f", "f(3)", "6")
TEXT = Problem("def f(x):\n    return x.upper()", "f", "f('oop')", "'OOP'")
ANY = Problem("def f(x):\n    return g(x)", "f", "f('oop')", "'OOP'")
PAIR = Problem("def f(x, y=1):\n    return x, y", "f", "f([1], y='a')", "([1], 'a')")
INPUT = Problem("def f(x, y):\n    return x * y", "f", "f(3, 2)", "6", "input")
PROGRAM = "def f(x):\n    return x * 2"


def answer(text, problem=ASKED, **more):
    found = flexible.read(text, problem, **more)
    return found.text if isinstance(found, Found) else found.status


@pytest.mark.parametrize("text", [
    "[ANSWER]6[/ANSWER]", "[ANSWER]\nassert f(3) == 6\n[/ANSWER]\nThe loop runs twice.", "[ANSWER] 6", "[answer]6[/answer]", "[Answer] 6 [/Answer]",
    "**[ANSWER]** 6 **[/ANSWER]**", "**[ANSWER] 6 [/ANSWER]**", "`[ANSWER]6[/ANSWER]`", "`[ANSWER]6`[/ANSWER]", "[ANSWER]6[ANSWER]", "[ANSWER]\n6\n[ANSWER]\n",
    "6\n[/ANSWER]", "Twice three.\n\n6\n[/ANSWER]", "[/THOUGHT]\n[ANSWER]\n6", "[ANSWER]6[/THOUGHT]", "[ANSWER]6;[/ANSWER]", "[ANSWER]`6`[/ANSWER]",
    "[ANSWER]```python\n6\n```[/ANSWER]", "[ANSWER]\n```\nassert f(3) == 6\n```\n", "[ANSWER]assert f(3) == 6, 'twice'[/ANSWER]", "[ANSWER]6 == f(3)[/ANSWER]",
    "[ANSWER]f(3) -> 6[/ANSWER]", "[ANSWER]The output is 6.[/ANSWER]", "[ANSWER]6[/ANSWER][ANSWER]6[/ANSWER]", "[ANSWER]5[/ANSWER]\nWait, that is wrong.\n[ANSWER]6[/ANSWER]",
    f"[ANSWER]\n{PROGRAM}\nassert f(3) == 6\n[/ANSWER]", "[ANSWER]6\n\nThe function doubles its argument.", "<answer>6</answer>", "[RETURN]\nassert f(3) == 6\n[/RETURN]",
    "ANSWER:\n6", "**Answer:** 6", "**Answer:** `6`", "Answer: 6", "The answer is 6.", "The answer is: **6**", "So $\\boxed{6}$.", "\\[ \\boxed{6} \\]",
    "assert f(3) == 6", "assert 6 == f(3)", "So `assert f(3) == 6`.", "```python\nassert f(3) == 6\n```\nIt doubles.", f"```python\n{PROGRAM}\n\nassert f(3) == 6, 'twice'\n```",
    "`f(3)` returns `6`.", "Calling f(3) returns 6", "f(3) = 6", "f(3) => 6", "print(f(3))  # Output: 6", "The result of `f(3)` is `6`.", "f(x=3) == 6", "The call to `f` returns `6` when the input is 3.", "The value is 6.",
    "The function returns 6.", "Therefore, the output is `6`.", "Therefore the final value of `x` is 6.", "The final answer is:\n\n```\n6\n```", "The output of the code will be `6`.",
    "6", "`6`", "**6**", "Let me see.\n\n6", "First 3, then 3 again.\n\n**6**", "f(2) == 4\nassert f(3) == 6", "assert f(30) == 60\nassert f(3) == 6\n",
    "[ANSWER]5[/ANSWER] No, that is wrong. The answer is 6.", "x = 3\n[ANSWER]\n6\n[/ANSWER]\n[PYTHON]\ndef g(): pass\n[/PYTHON]\n[ANSWER]\n7\n[/ANSWER]",
    "I write [ANSWER] and [/ANSWER] tags.\n[ANSWER]6[/ANSWER]",
])  # fmt: skip
def test_a_careful_reader_reads_six(text):
    assert answer(text) == "6"


@pytest.mark.parametrize(("text", "status"), [
    ("", "no_answer"), ("[/ANSWER]", "no_answer"), ("I cannot run code.", "no_answer"), ("assert f(3) == ??", "no_answer"), ("[ANSWER]\nassert f(3) == ??\n[/ANSWER]", "no_answer"),
    (f"[PYTHON]\n{PROGRAM}\nassert f(3) == ??\n[/PYTHON]", "no_answer"), (f"```python\n{PROGRAM}\n```", "no_answer"), ("f(2) == 4 would follow, but f(3)?", "no_answer"),
    ("[ANSWER]6[/ANSWER]\nWait, no, that is wrong.", "no_answer"), ("The answer is 6. No, that is incorrect.", "no_answer"), ("[ANSWER]6[/ANSWER]\n[ANSWER][/ANSWER]", "no_answer"),
    ("The output is 6 or 7.", "no_answer"), ("The function returns 6 if x is odd.", "no_answer"), ("The function returns 6 when x is 3.", "no_answer"), ("The value is a plain Python literal: no call.", "no_answer"), ("If f(3) == 6, then x is 3.", "no_answer"),
    ("\n".join(f"[ANSWER]{n}[/ANSWER]" for n in range(40)), "no_answer"),
    ("[ANSWER]f(3)[/ANSWER]", "unreadable"), ("[ANSWER]2 * 3[/ANSWER]", "unreadable"), ("[ANSWER][1, 2[/ANSWER]", "unreadable"), ("assert f(3) == 6 or True", "unreadable"),
    ("assert f(3) == f(3)", "unreadable"), ("assert f(3) == 6 == 6", "unreadable"), ("[ANSWER]6 7[/ANSWER]", "unreadable"), ("[ANSWER]6\n7[/ANSWER]", "unreadable"), ("[ANSWER]assert f(3) == 6\n7[/ANSWER]", "unreadable"),
    ("[ANSWER]true[/ANSWER]", "unreadable"), ("[ANSWER]print(6)[/ANSWER]", "unreadable"), ("[ANSWER]6\x00[/ANSWER]", "unreadable"), ("[ANSWER]g(3) == 6[/ANSWER]", "unreadable"),
])  # fmt: skip
def test_what_gives_no_answer_is_not_read(text, status):
    assert answer(text) == status


def test_the_last_word_counts():
    assert answer("[ANSWER]5[/ANSWER] and again [ANSWER]7[/ANSWER]") == "7"
    assert answer("assert f(3) == 5\nSo:\nassert f(3) == 7") == "7"
    assert answer("[ANSWER]6[/ANSWER]\n[ANSWER]2 * 3[/ANSWER]") == "unreadable"


@pytest.mark.parametrize(("text", "problem", "expected"), [
    ("[ANSWER]OOP[/ANSWER]", TEXT, "'OOP'"), ("[ANSWER]OOP", TEXT, "'OOP'"), ("[ANSWER]assert f('oop') == OOP[/ANSWER]", TEXT, "'OOP'"), ("[ANSWER]OOP![/ANSWER]", TEXT, "'OOP!'"),
    ("[ANSWER]OOP[/ANSWER]", ANY, "'OOP'"), ("[ANSWER]OOP![/ANSWER]", ANY, "unreadable"), ("[ANSWER]OOP[/ANSWER]", ASKED, "unreadable"), ("[ANSWER]x[/ANSWER]", TEXT, "unreadable"),
    ("[ANSWER]x.upper()[/ANSWER]", TEXT, "unreadable"), ("[ANSWER]<value>[/ANSWER]", TEXT, "unreadable"), ("[ANSWER]'OOP[/ANSWER]", TEXT, "unreadable"), ("[ANSWER]12[/ANSWER]", TEXT, "12"),
    ("[ANSWER]None[/ANSWER]", TEXT, "None"),
])  # fmt: skip
def test_a_bare_word_is_a_string_only_where_nothing_else_can_be_meant(text, problem, expected):
    assert answer(text, problem) == expected


def test_kinds_of_values_that_a_program_returns():
    assert kind("def f(a):\n    b = ''\n    for c in a:\n        b += c\n    return b", "f", "f('ab')") == "text"
    assert kind("def f(a):\n    return a[1:]", "f", "f('ab')") == "text"
    assert kind("def f(a):\n    return a[1:]", "f", "f(['ab'])") == "other"
    assert kind("def f(a):\n    return a[1]", "f", "f(['ab'])") == "unknown"
    assert kind("def f(a):\n    return len(a)", "f", "f('ab')") == "other"
    assert kind("def f(a):\n    if a: return 'x'\n    return 1", "f", "f('ab')") == "unknown"
    assert kind("def f(a:", "f", "f(1)") == "unknown"


@pytest.mark.parametrize(("text", "expected"), [
    ("[ANSWER]f(3, 2)[/ANSWER]", "f(3, 2)"), ("[ANSWER]\nassert f(3, 2) == 6\n[/ANSWER]", "f(3, 2)"), ("[ANSWER]3, 2[/ANSWER]", "f(3, 2)"), ("[ANSWER](3, 2)[/ANSWER]", "f(3, 2)"),
    ("[ANSWER](3, 2) == 6[/ANSWER]", "f(3, 2)"), ("[ANSWER]x=3, y=2[/ANSWER]", "f(x=3, y=2)"), ("[ANSWER]x = 3\ny = 2[/ANSWER]", "f(x=3, y=2)"), ("So `assert f(3, 2) == 6`.", "f(3, 2)"),
    ("Try f(1, 1): that is 1.\nassert f(3, 2) == 6", "f(3, 2)"), ("The arguments are `x = 3, y = 2`.", "f(x = 3, y = 2)"), ("f(3, 2)", "f(3, 2)"), ("```python\nf(3, 2)\n```", "f(3, 2)"),
    ("assert f(??) == 6", "no_answer"), ("def f(x, y):\n    return x * y\nassert f(??) == 6", "no_answer"), ("`f(x, y)` multiplies.", "no_answer"), ("[ANSWER]anything[/ANSWER]", "unreadable"),
    ("f(3, 2) or so", "unreadable"), ("assert 6 == 6", "unreadable"),
])  # fmt: skip
def test_arguments_are_read_as_a_call(text, expected):
    assert answer(text, INPUT) == expected


def test_the_asked_call_may_be_spelled_differently():
    assert answer("f(y='a', x=[1]) returns ([1], 'a')", PAIR) == "([1], 'a')"
    assert answer('f([1], y="a") == ([1], "a")\nassert f([2], "a") == ([2], "a")', PAIR) == '([1], "a")'


@pytest.mark.parametrize(("text", "expected"), [
    ("[ANSWER]6[/ANSWER] because", "6"), ("assert f(3) == 6\nbecause", "6"), ("assert f(3) == 6", "no_answer"), ("[ANSWER]6", "no_answer"), ("The output is 6 and", "no_answer"),
    ("6", "no_answer"), ("\\boxed{6} and", "6"), ("[ANSWER]\n6\nThe function dou", "6"), ("[ANSWER]\nassert f(3) == 6\nThe", "6"), ("[ANSWER]\n[1,\n2", "no_answer"),
    ("The output is 6.\n\nThe function", "6"), ("It doubles.\nThe output is 6.\nBut", "no_answer"), ("It doubles.\n" + "The output is 6.\n" * 3 + "The out", "6"), ("The function loops.\n" * 9, "no_answer"),
    ("[THOUGHT]\n" + "So it returns 6.\n" * 5, "no_answer"), ("The function returns 6.\nThe", "no_answer"),
])  # fmt: skip
def test_a_cut_reply_has_an_answer_only_where_it_is_certainly_complete(text, expected):
    assert answer(text, truncated=True) == expected


@pytest.mark.parametrize(("text", "expected"), [
    ("assert f(3, 2) == [4, 4, 4, ", "f(3, 2)"), ("[ANSWER]\nassert f(3, 2) == [4, 4, ", "f(3, 2)"), ("assert f(3, 2", "no_answer"), ("assert f(range(1, 11), 2) == [4, ", "f(range(1, 11), 2)"),
])  # fmt: skip
def test_a_call_is_complete_whatever_its_value_is_said_to_be(text, expected):
    assert answer(text, Problem("def f(x, y):\n    for i in range(y):\n        x = x * y\n    return x", "f", "f(3, 2)", "6", "input"), truncated=True) == expected


def test_truncated_needs_to_be_known():
    direct = paradigms.get("cot")
    item = Item("x", {})
    for text, statuses in (("[THOUGHT]\nfirst", ("unclosed", "truncated", "unclosed")), ("well", ("no_answer", "truncated", "no_answer")),
                           ("[ANSWER]2 * 3[/ANSWER]", ("unreadable",) * 3), ("[ANSWER]2 *", ("unclosed", "truncated", "unreadable"))):
        for truncated, status in zip((None, True, False), statuses, strict=True):
            given = Answer(item, text, truncated=truncated)
            assert status_of(readings(given, ASKED, direct).strict, given) == status, (text, truncated)


@pytest.mark.parametrize("opener", ["<think>", "<thinking>", "[THINK]"])
def test_a_thought_that_never_ends_is_no_answer(opener):
    closer = opener.replace("<", "</").replace("[", "[/")
    draft = "[ANSWER]6[/ANSWER]"
    assert visible(f"{opener}\n{draft}\n{closer}\n{draft}\n") == draft
    assert visible(f"{opener}{draft}{closer} {draft}") == draft
    assert visible(f"{draft}\n{closer}\n\n{draft}", thinking=True) == draft
    assert visible(f"{draft} {closer}{draft}", thinking=True) == draft
    for text, thinking in ((f"{opener}\n{draft}", False), (draft, True), (f"{opener}\n{draft}", True)):
        given = Answer(Item("x", {}), text, thinking=thinking)
        both = readings(given, ASKED, paradigms.get("cot"))
        assert (both.strict.status, both.flexible.status) == ("unclosed", "unclosed")
    assert opened_by(f"user: hi\nassistant: {opener}\n")
    assert not opened_by(f"user: what does {opener} mean?\nassistant:")


def test_without_thinking_a_text_is_itself():
    assert visible(" [ANSWER]6[/ANSWER]\n") == "[ANSWER]6[/ANSWER]"
    assert visible("[ANSWER]'</think>'[/ANSWER]") == "[ANSWER]'</think>'[/ANSWER]"


@pytest.mark.parametrize("paradigm", PARADIGMS)
def test_right_answers_out_of_format_are_right_flexibly_and_not_strictly(paradigm):
    task, options = registry.get("ct_mini"), TaskOptions(paradigm=paradigm)
    items = task.items(options)[::29]
    for item in items:
        texts = hostile.loose(task.problem(item), paradigm)
        scores = task.score([Answer(item, text) for text in texts.values()], options)
        assert [k for k, s in zip(texts, scores, strict=True) if s.acc and not k.startswith("tag: closed")] == []
        assert [k for k, s in zip(texts, scores, strict=True) if not s.acc_flexible] == []
        assert all(s.answer_flexible for s in scores)


@pytest.mark.parametrize("unit", ["[ANSWER]\n", "</think>", "{[(", "\\boxed{", "f(", "f(3) == ", "assert f(3) == '", "The output is ", "`", "```\n", "'''", "wait, no ", "**", "the answer the answer "])
def test_time_grows_with_length_not_faster(unit):
    began = time.process_time()
    for problem in (ASKED, TEXT, INPUT):
        flexible.read(unit * (200_000 // len(unit)), problem)
    assert time.process_time() - began < 20


WORDS = ("[ANSWER]", "[/ANSWER]", "assert", " f(3)", "==", "6", "'", '"', "\\", "(", ")", "[", "]", "{", "}", "`", "```", "\n", "**", "??", "or", "\\boxed{", "returns",
         "the output is", "wait, no", "\x00", "\ud800", ";", ",", "x", "=", "<think>", "</think>", "#", "[RETURN]", "lambda", "-" * 90)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=40), st.sampled_from(["", " "]), st.booleans())
def test_no_text_hurts_a_reader(parts, glue, truncated):
    text = glue.join(parts)
    for problem in (ASKED, TEXT, INPUT):
        for paradigm in ("direct", "cot", "codeio", "execverify", *(() if problem is INPUT else ("contra", "cwm"))):
            readings(Answer(Item("x", {}), text, truncated=truncated), problem, paradigms.get(paradigm))
