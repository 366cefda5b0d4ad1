"""ExecVerify's format: ``<reasoning>``, then ``<answer>`` with a fenced Python block that completes ``????`` in an assertion."""

from __future__ import annotations

from typing import ClassVar

from ct_tasks.paradigms.base import Problem
from ct_tasks.paradigms.tags import Tagged


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

    def shown(self, problem: Problem) -> str:
        return f"```python\n{problem.code}\n\n{problem.question('????')}\n```"

    def wrapped(self, assertion: str) -> str:
        return f"```python\n{assertion}\n```"


PARADIGM = ExecVerify()
