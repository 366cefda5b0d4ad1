"""Replies that must not score, for every paradigm.

``texts`` gives raw replies, ``answer_texts`` the same attacks as extracted answers: ``selftest`` and the tests demand that none
of them scores in any reading. ``loose`` gives right answers out of the format: not right strictly, right for a careful person.
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


def loose(problem: Problem, paradigm: str) -> Mapping[str, str]:
    """Right answers that the paradigm's own format does not admit, and that the flexible reading takes."""
    asked = paradigms.get(paradigm)
    right, wrap = _right(problem), _wrapper(asked, problem)
    value = problem.output if problem.side == "output" else problem.call
    found = {
        "prose": f"After some thought, the answer is `{value}`, I believe.",
        "boxed": f"\\boxed{{{value}}}" if "\\" not in value and "{" not in value else f"[answer]{value}[/answer]",
        "tag: RESULT": f"[RESULT]\n{right}\n[/RESULT]",
        "tag: OUTPUT": f"<output>{value}</output>",
        "tag: lower case": f"[answer] {right} [/answer]",
        "tag: bold": f"**[Answer]** {right} **[/Answer]**",
        "tag: spaces inside": f"[ ANSWER ]\n{right}\n[ /ANSWER ]",
        "tag: RETURN": f"[RETURN]\n{right}\n[/RETURN]",
        "tag: closed by a second opening tag": f"So:\n[ANSWER] {right} [ANSWER]",
        "tag: closing tag only": f"Let us see.\n\n{right}\n[/ANSWER]",
        "assertion in prose": f"So `{right}`.",
        "assertion in a fence, with a message": f"It is this:\n```python\n{problem.code}\n\n{right}, 'as asked'\n```\nThat is all.",
        "function redefined": f"```python\ndef {problem.entry}(*a, **k): return 1\n{right}\n```\nThat is all.",
        "under an if": wrap(f"if True:\n    {right}") if asked.name not in _BARE_VALUE else f"So {right}.",
    }
    if asked.name == "contra":
        del found["tag: RETURN"]  # its own tag
    if problem.side == "output":
        found["other way round"] = f"So `assert {problem.output} == {problem.call}` holds."
        found["arrow"] = f"So `{problem.call}` -> `{problem.output}`."
        found["returns"] = f"So `{problem.call}` returns `{problem.output}`."
    return found


def answer_texts(problem: Problem) -> Mapping[str, str]:
    """Hostile texts that claim to be extracted answers, by kind."""
    found = bad.inputs(problem) if problem.side == "input" else {**bad.values(problem), **bad.statements(problem)}
    right = problem.assertion if problem.side == "output" else problem.call
    return {
        **found,
        "empty": "",
        "white space": " \n\t ",
        "an answer taken back": f"The answer is {right}. No, that is wrong.",
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
        "prose, taken back": f"The answer is {value}. Wait, that is wrong.",
        "refusal": "I'm sorry, I can't execute code.",
        "two answers, right one first": f"{right}\n{wrong}",
        "right answer taken back": f"{right}\n{wrap('')}",
        "unfinished thinking": f"<think>\n{right}\nBut wait, let me check that again",
        "answer only in the thinking": f"<think>\n{right}\n</think>\n",
        "thinking, then another answer": f"<think>\n{right}\n</think>\n{wrong}",
        "one of two": f"The answer is {value} or something else.",
        **({"key named answer": json.dumps({"answer": value}), "answer in quotes of another language": f"«{value}»"}
           if problem.side == "output" else {}),
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
    return {"wrong tag: JSON": json.dumps({problem.side: problem.output})} if asked.name != "codeio" else {}


def _truncated(asked: Paradigm, problem: Problem, right: str) -> dict[str, str]:
    if isinstance(asked, Tagged):
        opener, closer = asked.opener, asked.closer
        return {
            "stops in the reasoning": f"{asked.lead or 'Let me see:'}\nfirst the loop",
            "stops after the opening tag": f"{asked.lead}\n{asked.lead_close}\n{opener}\n",
            "stops in the call": f"{opener}\n{_right(problem)[: len('assert ') + 3]}",
            "opening tags nested": f"{opener}\n{opener} the value {closer}\n{closer}",
        }
    if asked.name == "contra":
        return {
            "stops in a block": "[TRACE]\n[CODE]\n[LINENO 0]    def f(",
            "two RETURN sections that differ": right + "\n[RETURN]\n" + _wrong(problem) + "\n[/RETURN]",
        }
    return {
        "stops in the answer": right[: right.rfind(":") + 2],
        "stops at the first sign": right[:1],
    }


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
