"""Chain of thought (CRUXEval's second format): step by step between [THOUGHT] tags, then the completed assertion."""

from __future__ import annotations

from typing import ClassVar

from ct_tasks.paradigms.tags import Tagged


class ChainOfThought(Tagged):
    name = "cot"
    official = True
    lead = "[THOUGHT]"
    lead_close = "[/THOUGHT]"
    task: ClassVar[dict[str, str]] = {
        "output": (
            "Below is a Python program, followed by an assertion whose right-hand side is missing (??). First execute the "
            "program step by step, exactly as written, between [THOUGHT] and [/THOUGHT]. Then write the whole assertion "
            "between [ANSWER] and [/ANSWER], with the returned value as a plain Python literal: no function call and no "
            "expression left to evaluate."
        ),
        "input": (
            "Below is a Python program, followed by an assertion whose call has no arguments yet (??). Find arguments for "
            "which the assertion holds; any such arguments will do, but settle on one choice. First think step by step "
            "between [THOUGHT] and [/THOUGHT]. Then write the whole assertion between [ANSWER] and [/ANSWER]."
        ),
    }


PARADIGM = ChainOfThought()
