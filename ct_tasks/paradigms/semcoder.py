"""SemCoder's format: a monologue of comment lines tagged with line numbers, forward for outputs and backward for inputs."""

from __future__ import annotations

from typing import ClassVar

from ct_tasks.paradigms import example
from ct_tasks.paradigms.base import Problem
from ct_tasks.paradigms.tags import Tagged


class SemCoder(Tagged):
    name = "semcoder"
    lead = "[MONOLOGUE]"
    lead_close = "[/MONOLOGUE]"
    task: ClassVar[dict[str, str]] = {
        "output": (
            "Simulate the execution of the program below and complete its assertion. Write a forward monologue between "
            "[MONOLOGUE] and [/MONOLOGUE]: one comment line for each line of code in the order in which it runs, beginning "
            "with `# [Lx]`, where x is its number in the program counted from 1, saying what the line does to the "
            "variables. Then write the completed assertion, with a literal for ??, between [ANSWER] and [/ANSWER]."
        ),
        "input": (
            "Reason backward from the given result of the program below and complete its assertion. Write a backward "
            "monologue between [MONOLOGUE] and [/MONOLOGUE]: from the return value to the arguments, saying what must have "
            "been true before each step. Then write the assertion, completed with one choice of arguments for ??, between "
            "[ANSWER] and [/ANSWER]."
        ),
    }

    def reasoning(self, problem: Problem) -> str:
        if problem.code == example.CODE and problem.side == "output":
            return example.MONOLOGUE
        return super().reasoning(problem)


PARADIGM = SemCoder()
