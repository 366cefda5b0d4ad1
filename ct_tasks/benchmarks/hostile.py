"""Replies that must not score, for every paradigm: hostile answers in the right format, and right answers out of it.

``texts`` gives raw replies, ``answer_texts`` the same attacks as extracted answers. ``selftest`` and the tests demand that
none of them scores.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from ct_tasks import paradigms
from ct_tasks.benchmarks import hostile_answers as bad
from ct_tasks.contra import literals
from ct_tasks.paradigms import cwm
from ct_tasks.paradigms.base import Layout, Paradigm, Problem
from ct_tasks.paradigms.tags import Tagged

BIG = 10_000_000  # characters
_BARE_VALUE = ("codeio", "cwm")  # formats whose answer is a value, not an assertion


def texts(problem: Problem, paradigm: str) -> Mapping[str, str]:
    """Hostile replies by kind."""
    asked = paradigms.get(paradigm)
    wrap = _wrapper(asked, problem)
    found: dict[str, str] = {}
    if problem.side == "output":
        for kind, value in bad.values(problem).items():
            found.update(_in_format(asked, problem, kind, value, wrap))
        if asked.name not in _BARE_VALUE:
            found.update({kind: wrap(statement) for kind, statement in bad.statements(problem).items()})
    else:
        found.update({kind: wrap(text) for kind, text in bad.inputs(problem).items()})
    found.update(_out_of_format(asked, problem, wrap))
    found.update(_big(asked, problem, wrap))
    return found


def answer_texts(problem: Problem) -> Mapping[str, str]:
    """Hostile texts that claim to be extracted answers, by kind."""
    found = bad.inputs(problem) if problem.side == "input" else {**bad.values(problem), **bad.statements(problem)}
    right = problem.assertion if problem.side == "output" else problem.call
    return {
        **found,
        "empty": "",
        "white space": " \n\t ",
        "prose": f"The answer is {right}.",
        "tags": f"[ANSWER]{right}[/ANSWER]",
        "10 MB of brackets": "[" * BIG,
        "10 MB of text": "a " * (BIG // 2),
        "10 MB of digits": "7" * BIG,
    }


def _right(problem: Problem) -> str:
    return problem.assertion


def _wrong(problem: Problem) -> str:
    if problem.side == "input":
        return f"assert {problem.entry}(no_such_name_) == {problem.output}"
    return f"assert {problem.call} == {literals.dump(bad.other(literals.parse(problem.output)))}"


def _wrapper(asked: Paradigm, problem: Problem) -> Callable[[str], str]:
    """A function that puts a statement where the paradigm expects its answer."""
    if isinstance(asked, Tagged):
        lead = f"{asked.lead}\nas follows\n{asked.lead_close}\n" if asked.lead else ""
        return lambda text: f"{lead}{asked.opener}\n{asked.wrapped(text)}\n{asked.closer}"
    if asked.name == "contra":
        return lambda text: f"[TRACE]\n[RETURN]\n{text}\n[/RETURN]\n[/TRACE]"
    if asked.name == "cwm":
        head = f"{cwm.CALL}{{}}{cwm.ACTION}def main():\n{cwm.FRAME}{cwm.RETURN}{{}}{cwm.ACTION}    return {problem.call}\n"
        return lambda text: f"{head}{cwm.ARGUMENT}{json.dumps(text)}{cwm.FRAME}"
    return lambda text: json.dumps({problem.side: text})


def _in_format(
    asked: Paradigm, problem: Problem, kind: str, value: str, wrap: Callable[[str], str]
) -> dict[str, str]:
    if asked.name == "codeio":
        found = {f"{kind}, as JSON": f'{{"output": {value}}}'}
        if value != literals.parse(problem.output):  # the text of a string is its right form in JSON
            found[f"{kind}, as a string"] = wrap(value)
        return found
    if asked.name == "cwm":
        return {kind: wrap(value)}
    found = {kind: wrap(f"assert {problem.call} == {value}")}
    if isinstance(asked, Tagged):
        found[f"{kind}, bare"] = wrap(value)
    return found


def _out_of_format(asked: Paradigm, problem: Problem, wrap: Callable[[str], str]) -> dict[str, str]:
    right, wrong = wrap(_answer(asked, problem, _right(problem))), wrap(_answer(asked, problem, _wrong(problem)))
    value = problem.output if problem.side == "output" else problem.call
    return {
        "empty": "",
        "white space": " \n\t\n ",
        "prose": f"After some thought, the answer is {value}, I believe.",
        "refusal": "I'm sorry, I can't execute code.",
        "two answers, right one first": f"{right}\n{wrong}",
        "right answer taken back": f"{right}\n{wrap('')}",
        "unfinished thinking": f"<think>\n{right}\nBut wait, let me check that again",
        "answer only in the thinking": f"<think>\n{right}\n</think>\n",
        "thinking, then another answer": f"<think>\n{right}\n</think>\n{wrong}",
        "boxed": f"\\boxed{{{value}}}",
        "after hashes": f"#### {value}",
        "key named answer": json.dumps({"answer": value}),
        "answer in quotes of another language": f"«{value}»",
        "prompt echoed": asked.prompt(problem, Layout(0, True)),
        "prompt echoed, base": asked.prompt(problem, Layout(0, False)),
        "prompt echoed, one-shot": asked.prompt(problem, Layout(min(1, asked.max_shots), True)),
        "spray of small numbers": "\n".join(wrap(_answer(asked, problem, _guess(problem, n))) for n in range(-1, 100)),
        **_wrong_tags(asked, problem),
        **_truncated(asked, problem, right),
    }


def _answer(asked: Paradigm, problem: Problem, assertion: str) -> str:
    """The assertion, or what the format wants in its place."""
    if asked.name not in _BARE_VALUE:
        return assertion
    if problem.side == "input":
        return assertion[len(f"assert {problem.entry}(") :].rsplit(") == ", 1)[0]
    return assertion.split(f"assert {problem.call} == ", 1)[1]


def _guess(problem: Problem, number: int) -> str:
    if problem.side == "output":
        return f"assert {problem.call} == {number}"
    return f"assert {problem.entry}({number}, no_such_name_) == {problem.output}"


def _wrong_tags(asked: Paradigm, problem: Problem) -> dict[str, str]:
    right = _right(problem)
    found = {
        "wrong tag: RESULT": f"[RESULT]\n{right}\n[/RESULT]",
        "wrong tag: OUTPUT": f"<output>{problem.output}</output>",
        "wrong tag: lower case": f"[answer] {right} [/answer]",
        "wrong tag: spaces inside": f"[ ANSWER ]\n{right}\n[ /ANSWER ]",
        "closing tag only": f"{right} is what I think.\n[/ANSWER]",
    }
    if asked.name not in ("execverify",):
        found["wrong tag: answer element"] = f"<answer>\n```python\n{right}\n```\n</answer>"
    if not isinstance(asked, Tagged) or asked.opener != "[ANSWER]":
        found["wrong tag: ANSWER"] = f"[ANSWER]\n{right}\n[/ANSWER]"
    if asked.name != "contra":
        found["wrong tag: RETURN"] = f"[TRACE]\n[RETURN]\n{right}\n[/RETURN]\n[/TRACE]"
    if asked.name != "codeio":
        found["wrong tag: JSON"] = json.dumps({problem.side: problem.output})
    return found


def _truncated(asked: Paradigm, problem: Problem, right: str) -> dict[str, str]:
    if isinstance(asked, Tagged):
        opener, closer = asked.opener, asked.closer
        return {
            "truncated opening tag": f"{opener[:-1]}\n{_right(problem)}\n{closer}",
            "truncated closing tag": f"{opener}\n{_right(problem)}\n{closer[:-2]}",
            "stops in the reasoning": f"{asked.lead or 'Let me see:'}\nfirst the loop",
            "stops after the opening tag": f"{asked.lead}\n{asked.lead_close}\n{opener}\n",
            "stops in the call": f"{opener}\n{_right(problem)[: len('assert ') + 3]}",
            "opening tags nested": f"{opener}\n{opener} the value {closer}\n{closer}",
        }
    if asked.name == "contra":
        return {
            "truncated closing tag": right.replace("[/RETURN]\n[/TRACE]", "[/RETU"),
            "truncated opening tag": right.replace("[RETURN]", "[RETUR"),
            "RETURN inside a line": right.replace("[RETURN]\n", "[RETURN] "),
            "stops in a block": "[TRACE]\n[CODE]\n[LINENO 0]    def f(",
            "two RETURN sections that differ": right + "\n[RETURN]\n" + _wrong(problem) + "\n[/RETURN]",
            "answer in a THOUGHT": right.replace("RETURN]", "THOUGHT]"),
        }
    return {
        "stops in the answer": right[: right.rfind(":") + 2],
        "stops at the first sign": right[:1],
        "tags dropped": _plain(right),
    }


def _plain(text: str) -> str:
    for token in (cwm.CALL, cwm.ACTION, cwm.FRAME, cwm.RETURN, cwm.ARGUMENT):
        text = text.replace(token, " ")
    return text.strip("{}")


def _big(asked: Paradigm, problem: Problem, wrap: Callable[[str], str]) -> dict[str, str]:
    """Ten megabytes each: they must be read in linear time."""
    opening = getattr(asked, "opener", {"contra": "[RETURN]", "cwm": cwm.CALL, "codeio": '{"output": '}.get(asked.name, "["))
    return {
        "10 MB of brackets": wrap("[" * BIG),
        "10 MB of bare brackets": "{[(" * (BIG // 3),
        "10 MB of opening tags": f"{opening}\n" * (BIG // (len(opening) + 1)),
        "10 MB of digits": wrap("7" * BIG),
        "10 MB of lines": "assert\n" * (BIG // 7),
        "10 MB of thinking marks": "</think>x" * (BIG // 9),
        "10 MB of spaces": " " * BIG + _wrong(problem),
    }
