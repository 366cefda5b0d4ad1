"""Teachers: what fills in the THOUGHTs of a true trace. A teacher returns ConTra texts; ``reject`` decides about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from ct_tasks.contra.trace import Truth, render
from ct_tasks.errors import UnknownNameError
from ct_train.data.llm import Client, LlmSettings, Reply, Request, json_reply
from ct_train.synth import narrate
from ct_train.synth.record import Record

VERSION = 1
KNOWN = ("rules", "llm")
Proposal = tuple[str | None, Reply | None]

_TASK = """\
Below is a Python program, one call of it, and the true execution trace of the call, block by block: CODE (the lines of the \
block), THOUGHT (empty), LOCALS (all local variables at the end of the block), and RETURN (the result).

Write the missing THOUGHTs. Each explains, for its block only and from the state before it, how the values in its LOCALS come \
about: what each line computes, which way each condition goes and why, how a loop's variables change round by round. Do not \
say that you were shown the values; reason towards them. Never write a tag such as [LOCALS] inside a THOUGHT.

The program:
{program}

The call: {call}

The trace:
{trace}

"""
_WHOLE = "Reply with the complete trace, from [TRACE] to [/TRACE], every other character unchanged, with the THOUGHTs filled in."
_LIST = 'Reply with JSON only: {{"thoughts": ["...", ...]}}, exactly {count} strings, one a block in order.'


class Teacher(Protocol):
    """``settings`` goes into the step's key. ``tries``: how many attempts can differ."""

    name: str
    tries: int

    def settings(self) -> Mapping[str, Any]: ...

    def propose(self, truths: Sequence[Truth], records: Sequence[Record], attempt: int) -> list[Proposal]:
        """One text for each truth; None with the failed reply where there is none."""
        ...


class RuleTeacher:
    """Narrates the record of the true execution; the second attempt tells less, for traces that are too long."""

    name = "rules"
    tries = 2

    def settings(self) -> Mapping[str, Any]:
        return {"rules": VERSION, "full": narrate.FULL, "brief": narrate.BRIEF}

    def propose(self, truths: Sequence[Truth], records: Sequence[Record], attempt: int) -> list[Proposal]:
        detail = narrate.BRIEF if attempt else narrate.FULL
        return [(render(t, narrate.thoughts(t, r, detail)), None) for t, r in zip(truths, records, strict=True)]


class LlmTeacher:
    """A model behind an OpenAI-compatible server. ``whole``: it copies the trace with the THOUGHTs filled in, as in the
    paper; else it gives the THOUGHTs alone as JSON, and cannot spoil the rest."""

    name = "llm"

    def __init__(self, settings: LlmSettings, journal: Path, *, tries: int, whole: bool) -> None:
        self.client = Client(settings, journal)
        self.tries, self.whole = tries, whole

    def settings(self) -> Mapping[str, Any]:
        return {"prompt": VERSION, "whole": self.whole, **self.client.settings.identity()}

    def propose(self, truths: Sequence[Truth], records: Sequence[Record], attempt: int) -> list[Proposal]:
        requests = [self._request(truth, attempt) for truth in truths]
        replies = self.client.ask_all(requests)
        return [(self._text(reply.text, t), reply) for reply, t in zip(replies, truths, strict=True)]

    def _request(self, truth: Truth, attempt: int) -> Request:
        text = _TASK.format(program=truth.program.runnable.rstrip("\n"), call=truth.call, trace=render(truth))
        if self.whole:
            return Request(text + _WHOLE, _nothing, None, attempt)
        count = len(truth.blocks)

        def check(reply: str) -> None:
            told = _thoughts(reply)
            if len(told) != count:
                raise ValueError(f"{len(told)} thoughts for {count} blocks")
            render(truth, told)

        strings = {"type": "array", "items": {"type": "string"}, "minItems": count, "maxItems": count}
        schema = {"type": "object", "properties": {"thoughts": strings}, "required": ["thoughts"]}
        return Request(text + _LIST.format(count=count), check, schema, attempt)

    def _text(self, reply: str | None, truth: Truth) -> str | None:
        if reply is None:
            return None
        return cleaned(reply) if self.whole else render(truth, _thoughts(reply))


def cleaned(reply: str) -> str:
    """The reply without a thinking part and without a Markdown fence around it."""
    text = reply.rpartition("</think>")[2].strip()
    if text.startswith("```"):
        text = text.partition("\n")[2].rstrip().removesuffix("```").strip()
    return text


def _nothing(text: str) -> None:
    """Whatever comes back is judged by the rejection rules."""


def _thoughts(reply: str) -> list[str]:
    data = json_reply(reply)
    told = data.get("thoughts") if isinstance(data, dict) else None
    if not isinstance(told, list) or not all(isinstance(t, str) and t.strip() for t in told):
        raise ValueError('the reply is not {"thoughts": [text, ...]}')
    return [t.strip() for t in told]


def make(name: str, llm: LlmSettings, journal: Path, tries: int, whole: bool) -> Teacher:
    """The teacher of that name. Raises ``UnknownNameError``."""
    if name == "rules":
        return RuleTeacher()
    if name == "llm":
        return LlmTeacher(llm, journal, tries=tries, whole=whole)
    raise UnknownNameError("teacher", name, KNOWN)
