"""ExecVerify's format: ``<reasoning>``, then ``<answer>`` with a fenced Python block that completes ``????`` in an assertion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ct_tasks.paradigms.base import Problem
from ct_tasks.paradigms.tags import Tagged

_RULES = """\
Answer the questions below too. Their answers follow the completed assertion in the same code block, one a line, in the order \
of the questions, without numbers: exactly one line for each. Lines of the function are counted from 0, which is its def \
line. Where a line runs more than once, what holds for any one of its runs is right.
- What line is executed next: the source text of that line, or -1 when the function returns instead.
- Value and type of a variable: `value; type`, such as `[1, 2]; list`, or Nil when the variable does not exist."""


class ExecVerify(Tagged):
    name = "execverify"
    opener = "<answer>"
    closer = "</answer>"
    lead = "<reasoning>"
    lead_close = "</reasoning>"
    next_problem = "\n```python\n"
    until: ClassVar[tuple[str, ...]] = ("</answer>\n\n```python",)
    task: ClassVar[dict[str, str]] = {
        "output": (
            "Fill the gap (????) in the assertion below with the value that the call really returns. Reason about the "
            "execution between <reasoning> and </reasoning>. Then put the completed assertion, with a literal in the gap, in "
            "a Python code block between <answer> and </answer>."
        ),
        "input": (
            "Fill the gap (????) in the assertion below with arguments that make it hold; one choice is enough. Reason "
            "between <reasoning> and </reasoning>. Then put the completed assertion in a Python code block between <answer> "
            "and </answer>."
        ),
    }

    def asked(self, prompt: str, questions: Sequence[str]) -> str:
        """The output prompt of a training row with its white-box questions: one answer a line below the assertion.

        In evaluation nothing but the assertion is asked (Tang et al. 2026 ask the questions in training only), so its prompt
        is ``prompt`` itself, and so it is here where there are no questions.
        """
        if not questions:
            return prompt
        listed = "\n".join(f"{number}. {question[:1].upper()}{question[1:]}" for number, question in enumerate(questions, 1))
        return f"{prompt}\n\n{_RULES}\n\n{listed}"

    def reply(self, problem: Problem, given: Sequence[str]) -> str:
        """A whole reply to such a prompt: the assertion, then ``given``, the answers to the questions in their order."""
        answer = f"{self.opener}\n{self.wrapped(chr(10).join([problem.assertion, *given]))}\n{self.closer}"
        return f"{self.lead}\n{self.reasoning(problem)}\n{self.lead_close}\n{answer}"

    def shown(self, problem: Problem) -> str:
        return f"```python\n{problem.code}\n\n{problem.question('????')}\n```"

    def wrapped(self, assertion: str) -> str:
        return f"```python\n{assertion}\n```"


PARADIGM = ExecVerify()
