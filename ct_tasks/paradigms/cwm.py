"""The Code World Model's trace format: frames between special tokens; the entry function's return frame holds the answer.

A tokenizer that drops special tokens from its output also drops the frames: such a reply has no answer. Decode with
``skip_special_tokens=False``.
"""

from __future__ import annotations

import json
import re
from typing import ClassVar

from ct_tasks.contra import literals
from ct_tasks.contra.trace import Truth
from ct_tasks.paradigms import answers
from ct_tasks.paradigms.base import Extraction, Found, Layout, Missed, Paradigm, Problem, Side, visible

CONTEXT, FRAME, CALL, LINE = "<|trace_context_start|>", "<|frame_sep|>", "<|call_sep|>", "<|line_sep|>"
RETURN, EXCEPTION, ACTION, ARGUMENT = "<|return_sep|>", "<|exception_sep|>", "<|action_sep|>", "<|arg_sep|>"
MARK = "  # << START_OF_TRACE"
_KINDS = re.compile(r"<\|(call|return|exception)_sep\|>")
_MAX_ANSWER = 200_000
_MAX_TRACES = 16
_MAX_RETURNS = 64  # a text that answers more often than this does not answer


class Cwm(Paradigm):
    name = "cwm"
    sides: ClassVar[tuple[Side, ...]] = ("output",)
    max_shots = 0
    until: ClassVar[tuple[str, ...]] = (CONTEXT,)
    max_gen_toks = 8192

    def prompt(self, problem: Problem, layout: Layout) -> str:
        """The model's own input format, for chat and base models alike: it was trained on it without any instruction."""
        return f"{CONTEXT}{problem.code}\n\ndef main():{MARK}\n    return {problem.call}\n{FRAME}"

    def gold(self, problem: Problem, truth: Truth | None = None) -> str:
        """The call of ``main`` and its return. A model writes a frame for each line between; none of them is read."""
        value = json.dumps(literals.dump(literals.parse(problem.output)))
        head = f"{CALL}{{}}{ACTION}def main():{MARK}\n{FRAME}"
        return f"{head}{RETURN}{{}}{ACTION}    return {problem.call}\n{ARGUMENT}{value}{FRAME}"

    def extract(self, text: str, problem: Problem) -> Extraction:
        shown = visible(text)
        if isinstance(shown, Missed):
            return shown
        depth = 0
        read: list[Extraction] = []
        for match in _KINDS.finditer(shown):
            depth += 1 if match[1] == "call" else -1
            if depth > 0:
                continue
            if match[1] == "exception":
                return Missed("unreadable", "the trace ends with an exception")
            if len(read) == _MAX_TRACES:
                return Missed("no_answer", f"more than {_MAX_TRACES} traces in the text")
            read.append(self._returned(shown, match.end()))
            depth = 0
        if depth > 0:
            return Missed("unclosed", "the trace stops before main returns")
        if not read:
            return Missed("no_answer", "no frame in the text (were special tokens dropped?)")
        last = next((r for r in read[::-1] if isinstance(r, Missed)), None)
        return last or answers.agree([r for r in read if isinstance(r, Found)], problem)

    def _returned(self, text: str, at: int) -> Extraction:
        stop = text.find(FRAME, at)
        end = stop if stop >= 0 else len(text)
        begin = text.find(ARGUMENT, at, end)
        if begin < 0:
            return Missed("unclosed" if stop < 0 else "unreadable", f"the return frame has no {ARGUMENT}")
        begin += len(ARGUMENT)
        if end - begin > _MAX_ANSWER:
            return Missed("unreadable", "the returned value is too long")
        value = text[begin:end].strip()
        if stop < 0 and value[:1] == '"' and (len(value) == 1 or not value.endswith('"')):
            return Missed("unclosed", "the text stops inside the returned value", value)
        if value.startswith('"'):
            try:
                inner = json.loads(value)
            except (ValueError, RecursionError):
                inner = None
            if isinstance(inner, str):
                value = inner
        return answers.literal(value, open_end=stop < 0)


PARADIGM = Cwm()
