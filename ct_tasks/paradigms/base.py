"""What a paradigm is: a prompt, stop strings, room for the answer, how the answer is read, and a perfect model's text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

from ct_tasks.contra.trace import Truth
from ct_tasks.paradigms.extraction import Extraction, Found, Missed
from ct_tasks.paradigms.thinking import visible

__all__ = ["Extraction", "Found", "Layout", "Missed", "Paradigm", "Problem", "Side", "visible"]

Side = Literal["output", "input"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One question about one program.

    ``call`` is the call with its arguments (``"f(3)"``) and ``output`` the literal text of the value it returns. On the
    ``output`` side the value is asked for; on the ``input`` side arguments are asked for that give the value, and
    ``call`` is then one of many right answers, shown to nobody.
    """

    code: str
    entry: str
    call: str
    output: str
    side: Side = "output"

    @property
    def assertion(self) -> str:
        """The completed assertion: the answer in full."""
        return f"assert {self.call} == {self.output}"

    def question(self, gap: str = "??") -> str:
        """The assertion with a gap where the answer belongs."""
        if self.side == "output":
            return f"assert {self.call} == {gap}"
        return f"assert {self.entry}({gap}) == {self.output}"


@dataclass(frozen=True, slots=True)
class Layout:
    """How a prompt is laid out: ``shots`` worked examples; ``chat``: a user turn, else a text to continue."""

    shots: int = 0
    chat: bool = True
    segmentation: str = "statement"


class Paradigm(ABC):
    """One way of asking. ``until`` must not occur in any reply before its answer is complete; ``max_gen_toks`` is the
    room for a reply, in tokens; ``official``: the published benchmark has this format, so its extraction is known."""

    name: ClassVar[str]
    sides: ClassVar[tuple[Side, ...]] = ("output", "input")
    max_shots: ClassVar[int] = 1
    until: ClassVar[tuple[str, ...]] = ()
    max_gen_toks: ClassVar[int] = 4096
    official: ClassVar[bool] = False

    @abstractmethod
    def prompt(self, problem: Problem, layout: Layout) -> str:
        """The user turn, or the text to continue. Never contains the answer."""

    @abstractmethod
    def extract(self, text: str, problem: Problem) -> Extraction:
        """Read the answer from a raw reply, in time linear in its length. Never raises because of what the text holds."""

    def completed(self, text: str) -> str:
        """A reply that no length limit cut, with the tag that its stop string took away."""
        return text

    @abstractmethod
    def gold(self, problem: Problem, truth: Truth | None = None) -> str:
        """The raw text that a perfect model would write. ``truth`` is needed by paradigms that write a trace."""
