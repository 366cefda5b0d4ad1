"""What of a reply is its answer, and what is thought: one reading for evaluation and for the training reward."""

from __future__ import annotations

from ct_tasks.paradigms.extraction import Missed

MARKS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("[THINK]", "[/THINK]"),
    ("<thought>", "</thought>"),
    ("<seed:think>", "</seed:think>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("◁think▷", "◁/think▷"),
)


IN_PROMPT = (*MARKS, ("<reasoning>", "</reasoning>"))  # in a reply this one may be ExecVerify's own format


def visible(text: str, thinking: bool = False) -> str | Missed:
    """The reply without a reasoning model's thinking part and without white space around it, or ``Missed`` when that part
    never ends: a draft inside it is no answer.

    ``thinking``: the template had opened the part in the prompt, so the text holds only its closing mark, and without
    one it is all thought. A closing mark counts at the end of a line, so that one inside a string literal does not; where
    the part is known to be open and no mark stands at the end of a line, the first one anywhere closes it.
    """
    for opener, closer in IN_PROMPT if thinking else MARKS:
        opened = text.lstrip()[: len(opener)] == opener
        end = text.rfind(closer)
        while end >= 0:
            after = end + len(closer)
            if text[after : after + 1] in ("", "\n", "\r"):
                return text[after:].strip()
            end = text.rfind(closer, 0, end)
        first = text.find(closer) if opened or thinking else -1
        if first >= 0:
            return text[first + len(closer) :].strip()
        if opened:
            return Missed("unclosed", f"the text stops inside {opener}")
    if thinking:
        return Missed("unclosed", "the prompt opened a thinking part that the text never closes")
    return text.strip()


def opened_by(prompt: str) -> bool:
    """Whether a rendered prompt ends inside a thinking part that its template opened."""
    return prompt.rstrip().endswith(tuple(opener for opener, _ in IN_PROMPT))
