"""Direct prediction (CRUXEval's first format): the completed assertion, without reasoning."""

from __future__ import annotations

from typing import ClassVar

from ct_tasks.paradigms.tags import Tagged


class Direct(Tagged):
    name = "direct"
    official = True
    # The answer comes first, so the closing tag ends the reply.
    until: ClassVar[tuple[str, ...]] = ("[/ANSWER]",)
    max_gen_toks = 1024
    task: ClassVar[dict[str, str]] = {
        "output": (
            "Below is a Python program, followed by an assertion whose right-hand side is missing (??). Work out what the "
            "call returns when the program runs exactly as written, even where the program looks wrong, and write the whole "
            "assertion with that value between [ANSWER] and [/ANSWER]. The value must be a plain Python literal: no "
            "function call and no expression left to evaluate. Write nothing else."
        ),
        "input": (
            "Below is a Python program, followed by an assertion whose call has no arguments yet (??). Find arguments for "
            "which the assertion holds when the program runs exactly as written; any such arguments will do, but give only "
            "one choice. Write the whole assertion between [ANSWER] and [/ANSWER], and nothing else."
        ),
    }


PARADIGM = Direct()
