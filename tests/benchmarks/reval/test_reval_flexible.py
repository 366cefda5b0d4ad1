"""What a careful person reads as the answer to REval's questions: from a tag, a line, a fence or a sentence, whole or cut."""

from __future__ import annotations

import pytest

from ct_tasks.benchmarks.reval import flexible, flexible_path, flexible_state

LINES = ["def halve(n):", "    if n % 2:", "        n = n + 1", "    return n // 2", "", "class A:", "    def f(self):", "        return False"]
LAST, OTHER = "return n // 2", "return n // 3"
MASKED = "a = A()\nassertEqual(a.f(), ??)"
LOOP = "The function ends.\n" * 4 + "The func"


def path(text, truncated=False):
    found = flexible_path.path(text, LINES, 3, truncated=truncated)
    return found if isinstance(found, str) else found.status


def state(text, truncated=False):
    found = flexible_state.state(text, "n", truncated=truncated)
    return found if isinstance(found, str) else found.status


@pytest.mark.parametrize(("text", "expected"), [
    ("4", LAST), ("[ANSWER]line 4[/ANSWER]", LAST), ("4\treturn n // 2", LAST), ("5", "5"), ("99", "99"), ("**4**", LAST), ("The answer is **4**.", LAST), ("Answer: 4", LAST),
    (f"The answer is {LAST}.", LAST), (f"{LAST} is executed right after it.", LAST), (f"The next line is:\n```python\n{LAST}\n```", LAST), ("Line 4 is the next line.", LAST),
    ("After line 3, line 4 is executed.", LAST), ("After `n = n + 1`, the program executes `return n // 2`.", LAST), ("Line 4 is executed.", LAST), ("The next line is line 4.", LAST),
    (f"[ANSWER]The line executed right after it is `{LAST}`[/ANSWER]", LAST), (f"The line `{LAST}` is executed right after the test code runs.", LAST), ("if n % 2", "if n % 2:"),
    ("-1\n\nThe line is not executed.", "-1"), ("It is not executed, so -1.", "-1"), ("1\n\nThe answer is 4.", LAST),
    # A line that the program does not have is an answer.
    (OTHER, OTHER), (f"[ANSWER]\n{OTHER}\n[/ANSWER]", OTHER), ("halve(7)", "halve(7)"), ("[ANSWER]n // 2[/ANSWER]", "n // 2"), ("The next line is `halve(7)`.", "halve(7)"),
    # The question, the program or a list of steps again is none; neither is a word.
    ("Line 3 (`        n = n + 1`) may be executed when `halve(7)` runs. Which line of the program is executed right after it? Answer -1 if it is not executed.", "no_answer"),
    ("Line 3 is executed.", "no_answer"), ("\n".join(LINES[:4]), "no_answer"), ("1\tdef halve(n):\n2\t    if n % 2:\n3\t        n = n + 1", "no_answer"),
    ("1. First, the function runs.\n2. Then it stops.", "no_answer"), ("[ANSWER]maybe[/ANSWER]", "unreadable"), ("[ANSWER]None[/ANSWER]", "unreadable"), ("The answer is not provided.", "no_answer"),
    (f"{LAST} or not {LAST}", "no_answer"), ("The program ends with line 4", "no_answer"),
])  # fmt: skip
def test_which_line_a_reply_names(text, expected):
    assert path(text) == expected


@pytest.mark.parametrize(("text", "expected"), [
    ("8; int\n\nThe value is even.", "8; int"), ("[ANSWER]8; int, because 7 is odd[/ANSWER]", "8; int"), ("[ANSWER]8; int (even)[/ANSWER]", "8; int"), ("[ANSWER]\n8; int\nas 7 is odd\n[/ANSWER]", "8; int"),
    ("The value of `n` is 8. The type of `n` is `int`.", "8; int"), ("The value of n is 8.", "8; int"), ("`n` is 8 and its type is `int`.", "8; int"), ("The type of `n` is `int` and its value is `8`.", "8; int"),
    ("The value of `n` is `8` (int).", "8; int"), ("The value of `n` after line 3 is 8, which is an integer.", "8; integer"), ("The value of `n` is the integer `8`.", "8; integer"), ("`n` is a list: `[1]`", "[1]; list"),
    ("`n` is of type `int` and has the value `8`.", "8; int"), ("The value and type of `n` are `8` and `int`, respectively.", "8; int"), ("The value of `n` is `8` of type `int`.", "8; int"),
    ("The value of `n` is `{}` and the type is `Foo`.", "{}; Foo"), ("The value of `n` is `abc` and the type of `n` is `str`.", "'abc'; str"), ("The value of `n` is `1/6` and its type is `int`.", "1/6; int"),
    ("The value is `None` and the type is `NoneType`.", "None; NoneType"), ("[ANSWER][1]; list of int[/ANSWER]", "[1]; list"), ("[ANSWER]int; 8[/ANSWER]", "int; 8"), ("After line 3, n is 8; int", "8; int"),
    ("Nil; list", "Nil"), ("[ANSWER]Nil, because it is not executed[/ANSWER]", "Nil"), ("Line 3 is not executed.", "Nil"), ("n = 8", "8; int"),
    # The form or the question again, and assignments of a program, are none.
    ("value; type", "no_answer"), ("[ANSWER]value; type[/ANSWER]", "unreadable"), ("What are the value and the type of `n` after it? Answer Nil if it is not executed.", "no_answer"),
    ("The answer is Nil if it is not executed.", "no_answer"), ("```python\ndef f():\n    n = 3\n    return n\n```", "no_answer"), ("Nil or not Nil", "no_answer"),
    ("The value of `n` is `None` and its type is `int`.\nThe answer is `NoneType`.", "no_answer"),
])  # fmt: skip
def test_which_value_and_type_a_reply_gives(text, expected):
    assert state(text) == expected


@pytest.mark.parametrize(("text", "expected"), [
    ("YES because 7 is odd", "YES"), ("NO (it is skipped)", "NO"), ("Therefore, NO.", "NO"), ("[ANSWER]Line 3 is not executed.[/ANSWER]", "NO"), ("So no line is left", "no_answer"),
])  # fmt: skip
def test_yes_or_no(text, expected):
    found = flexible.coverage(text, truncated=False)
    assert (found if isinstance(found, str) else found.status) == expected


def test_a_cut_reply_counts_by_its_first_line_its_finished_place_or_what_it_repeats():
    assert path(f"{LAST}\n\n{LOOP}", truncated=True) == LAST
    assert path("The next line is line 4.\n" * 3 + "The nex", truncated=True) == LAST
    assert path("It runs.\nThe next line is line 4.\nBut th", truncated=True) == "no_answer"
    assert path("The next line is line 4", truncated=True) == "no_answer"
    assert path("[ANSWER]\nreturn n // 2\nIt ret", truncated=True) == LAST
    assert path("[ANSWER]\nreturn n", truncated=True) == "no_answer"
    assert state(f"The value of `n` is 8 and its type is int.\n\n{LOOP}", truncated=True) == "8; int"
    assert state("[THOUGHT]\nThe value of `n` is 8.\nThen", truncated=True) == "no_answer"


@pytest.mark.parametrize(("text", "truncated", "expected"), [
    ("[ANSWER]5[/ANSWER]", False, "a = A()\nassertEqual(a.f(), 5)"), ("The missing value is `5`.", False, "a = A()\nassertEqual(a.f(), 5)"), ("```python\n5\n```", False, "a = A()\nassertEqual(a.f(), 5)"),
    ("So the test says `assertEqual(a.f(), 5)` and it holds for all of them.", False, "assertEqual(a.f(), 5)"), ("It is clear to me that this is so:\nassertEqual(a.f(), 5)", False, "assertEqual(a.f(), 5)"),
    ("```python\nassertEqual(a.f(), 5)\n```\nIt", True, "assertEqual(a.f(), 5)"), ("```python\nassertEqual(a.f(), 5", True, "no_answer"), ("`assertEqual(a.f(), ??)` is asked for and I do not know it", False, "no_answer"),
])  # fmt: skip
def test_the_completed_test(text, truncated, expected):
    found = flexible.completed_test(text, MASKED, truncated=truncated)
    assert (found if isinstance(found, str) else found.status) == expected


def test_a_value_alone_fills_one_gap_only():
    found = flexible.completed_test("The missing value is `5`.", "assertEqual(a, ??)\nassertEqual(b, ??)", truncated=False)
    assert not isinstance(found, str)
