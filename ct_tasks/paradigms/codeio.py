"""CodeIO's format: reasoning in plain words, then a JSON object ``{"output": ...}`` or ``{"input": ...}``; the last one counts.

JSON has no tuples, sets, bytes or complex numbers. A value that JSON expresses must be written in JSON, so that ``1`` is
not ``true`` and ``"1"`` is not ``1``; any other is written as a string that holds its Python literal. Arguments are an
object from parameter names to values under the same rule, or one string that holds the argument list.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any, ClassVar

from ct_tasks.contra import literals
from ct_tasks.contra.literals import LiteralError
from ct_tasks.contra.trace import Truth
from ct_tasks.paradigms import answers, example
from ct_tasks.paradigms.base import Extraction, Found, Layout, Missed, Paradigm, Problem, visible

_START = re.compile(r'\{\s{0,64}"(?:output|input)"\s{0,64}:')
_MAX_OBJECTS = 64

_NOTE = (
    "A value that JSON cannot express (a tuple, a set, bytes, a complex number, an infinite number, a dict with keys that "
    "are not strings, or anything holding one of these) is written as a JSON string that holds its Python literal."
)
_TASK = {
    "output": (
        "You are given a question about a function, its input, and reference code as a tip. Predict the output for this "
        "input by reasoning in natural language, without writing any code. End your reply with one JSON object of the form "
        '{"output": <the value>}. ' + _NOTE
    ),
    "input": (
        "You are given a question about a function, its output, and reference code as a tip. Predict an input that gives "
        "this output by reasoning in natural language, without writing any code. End your reply with one JSON object of the "
        'form {"input": "<the arguments as they stand between the brackets of the call>"}, for instance {"input": "[1, 2], '
        'key=\'a\'"}.'
    ),
}


class _Duplicate(ValueError):
    pass


class CodeIO(Paradigm):
    name = "codeio"
    until: ClassVar[tuple[str, ...]] = ("\n[NEXT QUESTION]",)

    def prompt(self, problem: Problem, layout: Layout) -> str:
        parts = [_TASK[problem.side]]
        if layout.shots:
            shot = example.problem(problem.side)
            parts += [_question(shot) + "\n\nAnswer:\n" + self.gold(shot), "[NEXT QUESTION]"]
        parts.append(_question(problem) + ("" if layout.chat else "\n\nAnswer:\n"))
        return "\n\n".join(parts)

    def gold(self, problem: Problem, truth: Truth | None = None) -> str:
        words = example.prose(problem) or "Working through the function by hand gives the following."
        value: Any
        if problem.side == "input":
            value = problem.call[len(problem.entry) + 1 : -1]
        else:
            value = literals.parse(problem.output)
            value = value if expressible(value) else problem.output
        return f"{words}\n{json.dumps({problem.side: value}, ensure_ascii=False)}"

    def extract(self, text: str, problem: Problem) -> Extraction:
        shown = visible(text)
        if isinstance(shown, Missed):
            return shown
        shown = shown.split("\n[NEXT QUESTION]", 1)[0]
        found = last_object(shown)
        if isinstance(found, Missed):
            return found
        if problem.side not in found:
            return Missed("no_answer", f'the last JSON object has no "{problem.side}"')
        value = found[problem.side]
        return _output(value, problem) if problem.side == "output" else _input(value, problem)


def last_object(text: str) -> dict[str, Any] | Missed:
    """The last complete JSON object that begins with the key ``output`` or ``input``; objects inside it do not count."""
    decoder = json.JSONDecoder(object_pairs_hook=_unique)
    starts = [match.start() for match in _START.finditer(text)][-_MAX_OBJECTS:]
    end, found, cut = 0, None, bool(starts)
    for start in starts:
        if start < end:
            continue
        try:
            found, length = decoder.raw_decode(text[start : start + literals.MAX_TEXT])
            end, cut = start + length, False
        except (ValueError, RecursionError):
            found, cut = None, True
    if isinstance(found, dict):
        return found
    return Missed("unclosed" if cut else "no_answer", "no complete JSON object with the answer")


def expressible(value: object) -> bool:
    """Whether JSON has a form for the value."""
    if isinstance(value, float):
        return value == value and abs(value) != float("inf")
    if isinstance(value, list):
        return all(map(expressible, value))
    if isinstance(value, dict):
        return all(isinstance(k, str) and expressible(v) for k, v in value.items())
    return value is None or isinstance(value, (bool, int, str))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Duplicate("a key stands twice in one JSON object")
    return found


def _output(value: Any, problem: Problem) -> Extraction:
    try:
        if not isinstance(value, str) or expressible(literals.parse(problem.output)):
            return Found(literals.dump(value), value)
    except LiteralError as error:
        return Missed("unreadable", f"the answer is no value: {error}")
    return answers.literal(value)


def _input(value: Any, problem: Problem) -> Extraction:
    if isinstance(value, str):
        for text in (f"{problem.entry}({value})", f"{problem.entry}({value!r})"):
            read = answers.read(text, problem)
            if isinstance(read, Found):
                return read
        return read
    try:
        if isinstance(value, dict) and value and set(value) <= set(_parameters(problem)):
            arguments = ", ".join(f"{name}={literals.dump(given)}" for name, given in value.items())
        else:
            arguments = literals.dump(value)
    except LiteralError as error:
        return Missed("unreadable", f"the answer is no value: {error}")
    return answers.read(f"{problem.entry}({arguments})", problem)


def _parameters(problem: Problem) -> list[str]:
    for node in ast.parse(problem.code).body:
        if isinstance(node, ast.FunctionDef) and node.name == problem.entry:
            spec = node.args
            return [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    return []


def _question(problem: Problem) -> str:
    if problem.side == "output":
        return (
            f"Question: what does `{problem.entry}` return?\nInput and output: the input is the call's arguments; the output "
            f"is the value returned.\nInput: {problem.call}\n\nTip, the reference code:\n```python\n{problem.code}\n```"
        )
    return (
        f"Question: which input makes `{problem.entry}` return the given output?\nInput and output: the input is the call's "
        f"arguments; the output is the value returned.\nOutput: {problem.output}\n\nTip, the reference code:\n"
        f"```python\n{problem.code}\n```"
    )


PARADIGM = CodeIO()
