"""What runs inside the sandbox's child for the data steps: nothing here may be called outside it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

from ct_tasks.contra.tracer import trace_hook  # before the sandbox closes: a child can import nothing any more


def count_lines(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Run ``payload["call"]`` in ``payload["source"]``; the lines executed in all frames of the program, loops unrolled."""
    namespace: dict[str, Any] = {"__name__": "__program__"}
    exec(compile(payload.get("prelude", ""), "<prelude>", "exec", dont_inherit=True), namespace)
    exec(compile(payload["source"], "<program>", "exec", dont_inherit=True), namespace)
    call = compile(payload["call"], "<call>", "eval", dont_inherit=True)
    lines = 0

    def watch(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal lines
        if frame.f_code.co_filename != "<program>":
            return None
        if event == "line":
            lines += 1
        return watch

    previous = sys.gettrace()
    sys.settrace(watch)
    try:
        eval(call, namespace)
    finally:
        sys.settrace(previous)
    return {"lines": lines}


def trace_group(payload: Mapping[str, Any]) -> dict[str, Any]:
    """``trace_hook`` for several calls of one program, one after the other, each in a fresh namespace: what a child process
    costs is paid once. A call that ends the process takes its neighbours with it; the caller then asks for each alone."""
    return {"replies": [trace_hook({**payload, "call": call}) for call in payload["calls"]]}


def count_group(payload: Mapping[str, Any]) -> dict[str, Any]:
    """``count_lines`` for several calls of one program; None where a call raises."""
    counts: list[int | None] = []
    for call in payload["calls"]:
        try:
            counts.append(count_lines({**payload, "call": call})["lines"])
        except Exception:  # noqa: BLE001 - whatever the program raises: the call has no length
            counts.append(None)
    return {"lines": counts}
