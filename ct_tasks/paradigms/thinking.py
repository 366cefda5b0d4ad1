"""What of a reply is its answer, and what is thought: one reading for evaluation and for the training reward."""

from __future__ import annotations

from ct_tasks.paradigms.extraction import Missed

MARKS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("[THINK]", "[/THINK]"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("◁think▷", "◁/think▷"),
)


def visible(text: str, thinking: bool = False) -> str | Missed:
    """The reply without a reasoning model's thinking part and without white space around it, or ``Missed`` when that part
    never ends: a draft inside it is no answer.

    ``thinking``: the template had opened the part in the prompt, so the text holds only its closing mark, and without
    one it is all thought. A closing mark counts at the end of a line, so that one inside a string literal does not; where
    the part is known to be open and no mark stands at the end of a line, the first one anywhere closes it.
    """
    for opener, closer in MARKS:
        opened = text.lstrip()[: len(opener)] == opener
        end = text.rfind(closer)
        while end >= 0:
            after = end + len(closer)
            if text[after : after + 1] in ("", "\n", "\r"):
                return text[after:].strip()
            end = text.rfind(closer, 0, end)
        first = text.find(closer) if opened or (thinking and opener == "<think>") else -1
        if first >= 0:
            return text[first + len(closer) :].strip()
        if opened:
            return Missed("unclosed", f"the text stops inside {opener}")
    if thinking:
        return Missed("unclosed", "the prompt opened a thinking part that the text never closes")
    return text.strip()
