"""Reading answers from replies: layouts that must be read, layouts that must not, and why a reply has no answer."""

import json
import time

import pytest

from ct_tasks import paradigms
from ct_tasks.contra.tracer import trace_call
from ct_tasks.options import PARADIGMS
from ct_tasks.paradigms import example
from ct_tasks.paradigms.base import Found, Layout, Missed, Problem

ASKED = Problem("def f(x):\n    return x * 2", "f", "f(3)", "6")
TEXT = Problem("def f(x):\n    return x", "f", "f('a==b')", "'a==b'")
PAIR = Problem("def f(x):\n    return x, x", "f", "f(1)", "(1, 1)")
INPUT = Problem("def f(x):\n    return x * 2", "f", "f(3)", "6", "input")


def read(paradigm, text, problem=ASKED):
    return paradigms.get(paradigm).extract(text, problem)


@pytest.mark.parametrize(("paradigm", "text", "problem", "answer"), [
    ("direct", "assert f(3) == 6\n", ASKED, "6"),
    ("direct", "6", ASKED, "6"),
    ("direct", "[ANSWER]\nassert f(3) == 6\n[/ANSWER]", ASKED, "6"),
    ("direct", "[ANSWER]f(3) == 6", ASKED, "6"),
    ("direct", "```python\nassert f(3) == 6\n```", ASKED, "6"),
    ("direct", "assert f(3) == 6\n[/ANSWER]\n\n[PYTHON]\ndef f(x): pass\n[ANSWER]\nassert f(1) == 9\n[/ANSWER]", ASKED, "6"),
    ("direct", "assert f(3) == 6\n\ndef g(y):", ASKED, "6"),
    ("direct", "assert f('a==b') == 'a==b'", TEXT, "'a==b'"),
    ("direct", "[ANSWER]\nassert f('x') == '# no comment'\n[/ANSWER]", TEXT, "'# no comment'"),
    ("cot", "[THOUGHT]\nI write [ANSWER] and [/ANSWER] tags.\n[/THOUGHT]\n[ANSWER]\nassert f(3) == 6\n[/ANSWER]", ASKED, "6"),
    ("cot", "<think>\n[ANSWER]7[/ANSWER]\n</think>\n\n[ANSWER] 6 [/ANSWER]", ASKED, "6"),
    ("cot", "steps [/THOUGHT]\n[ANSWER]\nassert f(3) == 6\n[/ANSWER]\n[ANSWER]\n6\n[/ANSWER]", ASKED, "6"),
    ("cot", "[ANSWER]\nassert f('x') == '</think>'\n[/ANSWER]", TEXT, "'</think>'"),
    ("execverify", "<reasoning>so</reasoning>\n<answer>\n```python\nassert f(3) == 6\n```\n</answer>", ASKED, "6"),
    ("codeio", 'First {"output": 5}? No: {"output": 6}', ASKED, "6"),
    ("codeio", '```json\n{"output": 6}\n```\n' + "-" * 200, ASKED, "6"),
    ("codeio", '{"output": "(1, 1)"}', PAIR, "(1, 1)"),
    ("cwm", '<|call_sep|>{}<|action_sep|>a<|frame_sep|><|call_sep|>{}<|frame_sep|><|return_sep|>{}<|arg_sep|>"9"<|frame_sep|><|return_sep|>{}<|action_sep|>r\n<|arg_sep|>"6"<|frame_sep|>', ASKED, "6"),
    ("contra", "So:\n[TRACE]\n[RETURN]\nassert f(3) == 6\n[/RETURN]", ASKED, "6"),
    ("direct", "[ANSWER]\nassert f(3) == 6\n[/ANSWER]", INPUT, "f(3)"),
    ("codeio", '{"input": "3"}', INPUT, "f(3)"),
    ("codeio", '{"input": {"x": 3}}', INPUT, "f(x=3)"),
])  # fmt: skip
def test_read(paradigm, text, problem, answer):
    found = read(paradigm, text, problem)
    assert isinstance(found, Found), found
    assert found.text == answer


@pytest.mark.parametrize(("paradigm", "text", "status"), [
    ("direct", "", "no_answer"),
    ("direct", "assert f(3) == f(3)", "unreadable"),
    ("direct", "[ANSWER]\nassert g(3) == 6\n[/ANSWER]", "unreadable"),
    ("direct", "assert f(3) == 6\nassert f(3) == 7", "no_answer"),
    ("cot", "no tags, but 6", "no_answer"),
    ("cot", "[THOUGHT]\nfirst we", "unclosed"),
    ("cot", "[THOUGHT]\nx\n[/THOUGHT]\n[ANSWER]\nassert f(", "unclosed"),
    ("cot", "[ANSWER]6[/ANSWER] [ANSWER]7[/ANSWER]", "no_answer"),
    ("cot", "<think>\n[ANSWER]6[/ANSWER]", "unclosed"),
    ("cot", "[ANSWER]list(range(3))[/ANSWER]", "unreadable"),
    ("execverify", "[ANSWER]\nassert f(3) == 6\n[/ANSWER]", "no_answer"),
    ("codeio", '{"output": 6, "output": 7}', "unclosed"),
    ("codeio", '{"output": [1, 2', "unclosed"),
    ("codeio", '{"result": 6}', "no_answer"),
    ("cwm", "<|call_sep|>{}<|frame_sep|><|line_sep|>", "unclosed"),
    ("cwm", "<|call_sep|>{}<|frame_sep|><|exception_sep|>", "unreadable"),
    ("cwm", "the value is 6", "no_answer"),
    ("contra", "[TRACE]\n[CODE]\n", "unclosed"),
    ("contra", "6", "no_answer"),
    ("contra", "[TRACE]\n[RETURN]\nassert f(3) == f(3)\n[/RETURN]\n[/TRACE]", "unreadable"),
])  # fmt: skip
def test_no_answer_unclosed_and_unreadable_are_told_apart(paradigm, text, status):
    missed = read(paradigm, text)
    assert isinstance(missed, Missed), missed
    assert missed.status == status, missed
    assert missed.reason


def test_json_keeps_types_apart():
    yes = Problem("def f(x):\n    return x > 0", "f", "f(3)", "True")
    assert read("codeio", '{"output": true}', yes) == Found("True", True)
    assert read("codeio", '{"output": 1}', yes).value is not True
    assert read("codeio", '{"output": "True"}', yes).value == "True"  # text, where JSON has the value itself


@pytest.mark.parametrize("paradigm", PARADIGMS)
@pytest.mark.parametrize("unit", ["[ANSWER]\n", "</think>", "{[(", '{"output": ', "<answer>", "[RETURN]\n[/RETURN]\n", "<|return_sep|>", "<|call_sep|>", "assert f(", "`", "-"])
def test_time_grows_with_length_not_faster(paradigm, unit):
    asked = paradigms.get(paradigm)
    began = time.process_time()
    result = asked.extract(unit * (2_000_000 // len(unit)), ASKED)
    assert isinstance(result, Missed)
    assert time.process_time() - began < 20  # quadratic reading would take hours


@pytest.mark.parametrize("paradigm", PARADIGMS)
def test_prompts(paradigm):
    asked = paradigms.get(paradigm)
    for side in asked.sides:
        problem = ASKED if side == "output" else INPUT
        for shots in range(asked.max_shots + 1):
            for chat in (True, False):
                prompt = asked.prompt(problem, Layout(shots, chat))
                hidden = problem.assertion if side == "output" else problem.call
                assert hidden not in prompt
                assert "return x * 2" in prompt
                assert ("weave" in prompt) == (shots == 1)
    assert asked.sides[0] == "output"


@pytest.mark.parametrize("paradigm", [p for p in PARADIGMS if p != "cwm"])
def test_the_worked_example_is_a_reply_that_would_be_right(paradigm):
    asked, problem = paradigms.get(paradigm), example.problem("output")
    truth = example.truth("statement")
    assert asked.extract(asked.gold(problem, truth), problem).value == truth.returned
    assert not any(stop in asked.gold(problem, truth)[:-15] for stop in asked.until)


def test_the_examples_values_are_computed():
    assert example._FILE.read_text() == example.compute()
    assert example.truth("adaptive") == trace_call(example.CODE, example.CALL, segmentation="adaptive")
    assert len(example.THOUGHTS) == len(example.truth("statement").blocks)


def test_codeio_gold_is_typed():
    asked = paradigms.get("codeio")
    assert json.loads(asked.gold(PAIR).splitlines()[-1]) == {"output": "(1, 1)"}
    assert json.loads(asked.gold(TEXT).splitlines()[-1]) == {"output": "a==b"}
