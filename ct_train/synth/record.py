"""What happened line by line in one call: the material of the rule-based teacher. ``record`` runs in the sandbox's child."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from ct_tasks.contra import literals
from ct_tasks.contra.program import Program
from ct_tasks.contra.tracer import trace_hook
from ct_tasks.errors import HarnessError
from ct_tasks.execution.jobs import Job, Limits, Result

MAX_EVENTS = 300  # lines written down; what comes after them is told by the block's end alone
MAX_TEXT = 160  # characters of one value; a longer one is cut
_LIMITS = Limits(20.0, 40.0, 1024)


@dataclass(frozen=True)
class Event:
    """One executed line of the entry function (``LINENO``) and the variables that it changed, as text. ``raised``: an
    exception passed through it. ``next_line``: the line executed after it, None at the end of the record."""

    line: int
    changed: Mapping[str, str]
    raised: bool = False
    next_line: int | None = None


@dataclass(frozen=True)
class Record:
    """The first events of a call; ``cut`` when there were more."""

    events: tuple[Event, ...]
    cut: bool


def record(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Run the call; ``{"events": [[line, {name: text}, raised], ...], "cut": bool}`` of the entry function's first activation."""
    namespace: dict[str, Any] = {"__name__": "__program__"}
    offset, entry = payload["offset"], payload["entry"]
    code = compile(payload["source"], "<program>", "exec")
    call = compile(payload["call"], "<call>", "eval")
    exec(code, namespace)
    events: list[list[Any]] = []
    state: dict[str, str] = {}
    watched: list[FrameType] = []
    cut = False

    def settle(frame: FrameType) -> None:
        now = {n: t for n, v in list(frame.f_locals.items()) if not n.startswith(".") and (t := _text(v)) is not None}
        if events:
            events[-1][1] = {n: t for n, t in now.items() if state.get(n) != t}
        state.clear()
        state.update(now)

    def inside(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal cut
        if event in ("line", "return") and not cut:
            settle(frame)
        if event == "line":
            cut = cut or len(events) >= MAX_EVENTS
            if not cut:
                events.append([frame.f_lineno - 1 - offset, {}, False])
        elif event == "exception" and events and not cut:
            events[-1][2] = True
        return inside

    def entered(frame: FrameType, event: str, arg: object) -> Any:
        if not watched and frame.f_code.co_name == entry and frame.f_code.co_filename == "<program>":
            watched.append(frame)
            return inside
        return None

    previous = sys.gettrace()
    sys.settrace(entered)
    try:
        eval(call, namespace)
    finally:
        sys.settrace(previous)
    return {"events": events, "cut": cut}


def _text(value: object) -> str | None:
    plain = literals.plain(value, budget=20_000)
    if plain is literals.OMIT:
        return None
    try:
        text = literals.dump(plain)
    except literals.LiteralError:
        return None
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + " …"


def trace_and_record(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Truth and record of several calls of one program: what a child process costs is paid once."""
    replies = []
    for call in payload["calls"]:
        reply = trace_hook({**payload, "call": call})
        if "truth" in reply:
            truth = reply["truth"]
            program = Program(tuple(truth["lines"]), truth["entry"], truth["before"], truth["after"])
            reply["record"] = record(
                {"source": program.runnable, "offset": program.offset, "entry": program.entry, "call": call}
            )
        replies.append(reply)
    return {"replies": replies}


def job(program: str, entry: str | None, calls: Sequence[str], segmentation: str) -> Job:
    """One job for calls of one program."""
    payload = {"source": program, "entry": entry, "calls": list(calls), "segmentation": segmentation}
    return Job(code="", hook="ct_train.synth.record:trace_and_record", payload=payload, limits=_LIMITS)


def read(result: Result) -> list[Mapping[str, Any]] | None:
    """The replies of a job, each with ``truth`` and ``record`` or with ``error`` and ``message``; None where the child did not
    live to tell."""
    if result.status == "harness_error":
        raise HarnessError(
            f"the sandbox failed while tracing: {result.error}; the same command goes on where it stopped"
        )
    return list(json.loads(result.value)["replies"]) if result.status == "ok" and result.value else None


def from_json(found: Mapping[str, Any]) -> Record:
    """What ``record`` returned."""
    return Record(_events(found["events"]), found["cut"])


def _events(rows: Sequence[Sequence[Any]]) -> tuple[Event, ...]:
    following = [*(row[0] for row in rows[1:]), None]
    return tuple(Event(row[0], row[1], row[2], after) for row, after in zip(rows, following, strict=False))
