"""Run one program on several calls, in the sandbox's child."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

from ct_tasks.contra import literals

MAX_TEXT = 2000  # characters of a value that is asked about
MAX_LINES = 50_000  # a changed number can make a loop endless


class _TooLong(BaseException):
    pass


def outcomes(payload: Mapping[str, Any]) -> dict[str, Any]:
    """``{"outcomes": [[kind, text], ...]}``, one for each line of ``payload["call"]``: ``value`` with the literal text of the
    value, ``long`` with its hash where that is too long to ask about, ``raises`` with the type of the exception, or ``none``
    where no literal expresses the value or the run is too long.

    Each call meets a module of its own, so that none sees what another left.
    """
    code = compile(payload["source"], "<program>", "exec")
    found = []
    for call in payload["call"].split("\n"):
        left = MAX_LINES

        def watch(frame: FrameType, event: str, arg: object) -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                raise _TooLong
            return watch

        previous = sys.gettrace()
        try:
            namespace: dict[str, Any] = {"__name__": "__program__"}
            exec(code, namespace)
            expression = compile(call, "<call>", "eval")
            sys.settrace(watch)
            try:
                value = eval(expression, namespace)
            finally:
                sys.settrace(previous)
            plain = literals.plain(value)
            found.append(["none", ""] if plain is literals.OMIT else _told(literals.dump(plain)))
        except (_TooLong, literals.LiteralError, MemoryError):
            found.append(["none", ""])
        except BaseException as error:  # noqa: BLE001 - whatever the program raises is its result
            found.append(["raises", type(error).__name__])
    return {"outcomes": found}


def _told(text: str) -> list[str]:
    return ["value", text] if len(text) <= MAX_TEXT else ["long", hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()]
