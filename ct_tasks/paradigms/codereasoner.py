"""CodeReasoner's format: reasoning in [THOUGHT], the final assertion in [ANSWER]; its reward looks at the latter alone."""

from __future__ import annotations

from typing import ClassVar

from ct_tasks.paradigms.tags import Tagged


class CodeReasoner(Tagged):
    name = "codereasoner"
    lead = "[THOUGHT]"
    lead_close = "[/THOUGHT]"
    task: ClassVar[dict[str, str]] = {
        "output": (
            "Predict what the program below returns and complete its assertion. Your reply has two parts and nothing else. "
            "[THOUGHT] ... [/THOUGHT]: follow the execution concisely, keep track of the values that matter, and do not go "
            "over the same steps twice. [ANSWER] ... [/ANSWER]: the assertion with ?? replaced by the literal value."
        ),
        "input": (
            "Find arguments with which the program below returns the given value, and complete its assertion. Your reply has "
            "two parts and nothing else. [THOUGHT] ... [/THOUGHT]: reason concisely from the result back to the arguments, "
            "and do not go over the same steps twice. [ANSWER] ... [/ANSWER]: the assertion with ?? replaced by one choice "
            "of arguments."
        ),
    }


PARADIGM = CodeReasoner()
