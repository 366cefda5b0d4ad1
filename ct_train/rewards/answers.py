"""The final assertion of a reply, in ConTra or in a baseline's own format."""

from __future__ import annotations

from ct_tasks.contra import literals
from ct_tasks.contra.literals import LiteralError
from ct_tasks.contra.parser import Returned, parse_return
from ct_tasks.contra.trace import Truth


def is_contra(text: str) -> bool:
    """Whether the reply is a ConTra trace rather than a baseline's own format."""
    return text.lstrip().startswith("[TRACE]")


def thought_answer(text: str) -> str | None:
    """The ANSWER of CodeReasoner's format: one THOUGHT, then one ANSWER, and nothing else; ``None`` otherwise."""
    return _second_of(text, ("[THOUGHT]", "[/THOUGHT]"), ("[ANSWER]", "[/ANSWER]"))


def xml_answers(text: str) -> list[str] | None:
    """The answer lines of ExecVerify's format (``<reasoning>`` then ``<answer>``); ``None`` when the format is broken."""
    answer = _second_of(text, ("<reasoning>", "</reasoning>"), ("<answer>", "</answer>"))
    if answer is None:
        return None
    lines = [line for line in answer.split("\n") if line.strip()]
    if lines and lines[0].strip().startswith("```"):
        lines = lines[1:]
    if lines and lines[-1].strip() == "```":
        lines = lines[:-1]
    return lines


def _second_of(text: str, first: tuple[str, str], second: tuple[str, str]) -> str | None:
    """The content of the second of two sections that together are the whole text, each tag exactly once."""
    text = text.strip()
    if any(text.count(tag) != 1 for tag in (*first, *second)) or not text.startswith(first[0]):
        return None
    rest = text.partition(first[1])[2].strip()
    if not rest.startswith(second[0]) or not rest.endswith(second[1]):
        return None
    return rest[len(second[0]) : -len(second[1])].strip()


def assertion_right(text: str, truth: Truth) -> bool:
    """Whether ``text`` is one assertion about the entry function with the true value (typed; nothing is run)."""
    try:
        found: Returned = parse_return(text)
    except LiteralError:
        return False
    return found.function == truth.program.entry and literals.same(found.value, truth.returned)
