"""Replies whose answer stands between tags, with or without reasoning before it: the reading that most paradigms share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ct_tasks.contra.trace import Truth
from ct_tasks.paradigms import answers, example
from ct_tasks.paradigms.base import Extraction, Found, Layout, Missed, Paradigm, Problem, visible

MAX_BLOCKS = 64  # a text that answers more often than this does not answer


@dataclass(frozen=True, slots=True)
class Block:
    """What stands after an opening tag. ``closed``: its closing tag was there."""

    text: str
    closed: bool
    end: int


def blocks(text: str, opener: str, closer: str, limit: int = MAX_BLOCKS) -> list[Block]:
    """The last ``limit`` + 1 blocks at most. A block ends at its closing tag, at the next opening tag, or with the text."""
    starts: list[int] = []
    at = text.rfind(opener)
    while at >= 0 and len(starts) <= limit:
        starts.append(at)
        at = text.rfind(opener, 0, at)
    found = []
    for i, start in enumerate(starts):
        stop = starts[i - 1] if i else len(text)
        begin = start + len(opener)
        close = text.find(closer, begin, stop)
        found.append(Block(text[begin : close if close >= 0 else stop], close >= 0, close if close >= 0 else stop))
    return found[::-1]


class Tagged(Paradigm):
    """``opener`` and ``closer`` enclose the answer. Without reasoning (``lead`` empty) a text with no tag at all is the
    answer itself, since a base model is given the opening tag in the prompt."""

    opener: ClassVar[str] = "[ANSWER]"
    closer: ClassVar[str] = "[/ANSWER]"
    lead: ClassVar[str] = ""
    lead_close: ClassVar[str] = ""
    next_problem: ClassVar[str] = "\n[PYTHON]"
    until: ClassVar[tuple[str, ...]] = ("[/ANSWER]\n\n[PYTHON]", "[/ANSWER]\n[PYTHON]")
    task: ClassVar[dict[str, str]]

    def prompt(self, problem: Problem, layout: Layout) -> str:
        parts = [self.task[problem.side]]
        if layout.shots:
            parts.append(self.shown(example.problem(problem.side)) + "\n" + self.gold(example.problem(problem.side)))
        parts.append(self.shown(problem) + ("" if layout.chat else f"\n{self.lead or self.opener}\n"))
        return "\n\n".join(parts)

    def shown(self, problem: Problem) -> str:
        """The program and the question."""
        return f"[PYTHON]\n{problem.code}\n{problem.question()}\n[/PYTHON]"

    def reasoning(self, problem: Problem) -> str:
        """The reasoning of a perfect reply: the worked example's, else one sentence."""
        return example.prose(problem) or "Following the program line by line gives the value below."

    def gold(self, problem: Problem, truth: Truth | None = None) -> str:
        answer = f"{self.opener}\n{self.wrapped(problem.assertion)}\n{self.closer}"
        return f"{self.lead}\n{self.reasoning(problem)}\n{self.lead_close}\n{answer}" if self.lead else answer

    def wrapped(self, assertion: str) -> str:
        """The assertion as it stands between the answer tags."""
        return assertion

    def extract(self, text: str, problem: Problem) -> Extraction:
        shown = visible(text)
        if isinstance(shown, Missed):
            return shown
        shown = self._first_reply(shown)
        found = blocks(shown, self.opener, self.closer)
        if found:
            return self._from_blocks(found, problem)
        if self.lead:
            cut = self.lead in shown and self.lead_close not in shown
            return Missed("unclosed" if cut else "no_answer", f"no {self.opener} in the text")
        head, closed, _ = shown.partition(self.closer)
        return self._untagged(head, problem, not closed)

    def completed(self, text: str) -> str:
        return text if text.rfind(self.opener) <= text.rfind(self.closer) else text + self.closer

    def _first_reply(self, text: str) -> str:
        """Without what a base model adds after its answer: a next problem of its own making."""
        done = text.find(self.closer)
        if done < 0:
            return text
        after = text.find(self.next_problem, done)
        return text if after < 0 else text[:after]

    def _from_blocks(self, found: list[Block], problem: Problem) -> Extraction:
        if len(found) > MAX_BLOCKS:
            return Missed("no_answer", f"more than {MAX_BLOCKS} answers in the text")
        read = [answers.read(block.text, problem, open_end=not block.closed) for block in found]
        last = read[-1]
        if isinstance(last, Missed):  # the last word counts: an earlier answer was taken back
            if not found[-1].closed and last.status == "unreadable":
                return Missed("unclosed", f"the text stops inside {self.opener}", last.text)
            return last
        return answers.agree([r for r in read if isinstance(r, Found)], problem)

    def _untagged(self, text: str, problem: Problem, open_end: bool) -> Extraction:
        whole = answers.read(text, problem, open_end=open_end)
        if isinstance(whole, Found):
            return whole
        marker = f"assert {problem.entry}("
        lines: list[str] = []
        if text.lstrip()[: len(marker)] == marker:  # a base model that answers and then goes on with something else
            lines = [line for line in text.split("\n") if line.lstrip().startswith(marker)][: MAX_BLOCKS + 1]
        read = [r for line in lines if isinstance(r := answers.read(line.strip(), problem, open_end=open_end), Found)]
        if not lines or len(read) < len(lines) or len(lines) > MAX_BLOCKS:
            status: Literal["no_answer", "unreadable"] = "unreadable" if lines else "no_answer"
            return Missed(status, f"no {self.opener} in the text, and {whole.reason}", whole.text)
        return answers.agree(read, problem)
