"""Vanilla tracing: one free account of the whole execution, then the answer."""

from __future__ import annotations

from typing import ClassVar

from ct_tasks.paradigms.tags import Tagged


class Vanilla(Tagged):
    name = "vanilla"
    lead = "[THOUGHT]"
    lead_close = "[/THOUGHT]"
    task: ClassVar[dict[str, str]] = {
        "output": (
            "You are a Python interpreter that thinks aloud. Below is a program and an assertion with a missing value (??). "
            "Between [THOUGHT] and [/THOUGHT], tell the whole execution of the call from the first line to the return: "
            "which line runs next, what each variable holds after it, and how each loop goes round. Leave nothing out, and "
            "trust the code, not what it seems to be meant for. Then give the completed assertion between [ANSWER] and "
            "[/ANSWER]; its right-hand side is a Python literal."
        ),
        "input": (
            "You are a Python interpreter that thinks aloud. Below is a program and an assertion whose arguments are missing "
            "(??). Between [THOUGHT] and [/THOUGHT], work out arguments that make it hold, then tell the whole execution "
            "with them to make sure: which line runs next and what each variable holds after it. Then give the completed "
            "assertion between [ANSWER] and [/ANSWER]."
        ),
    }


PARADIGM = Vanilla()
