"""``locals()`` for a program that is being traced, as it is for one that is not.

Up to Python 3.12 a function has one dictionary for ``locals()``. A plain run fills it when the program asks; a trace function
has it filled at every line, so that a program that keeps it would see later assignments and lose its own changes. The
traced function gets a dictionary of its own instead, filled when it asks. Python 3.13 hands out copies, which nothing changes.
"""

from __future__ import annotations

import builtins
import re
import sys
from types import FrameType
from typing import Any, Final

_NEEDED: Final = sys.version_info < (3, 13)
_ASKS: Final = re.compile(r"\b(?:locals|vars)\b")


class ShadowLocals:
    """``locals`` and ``vars`` for one traced function; ``frame`` is its frame once it has been entered."""

    def __init__(self) -> None:
        self.frame: FrameType | None = None
        self.shown: dict[Any, Any] = {}

    def install(self, namespace: dict[str, Any], text: str) -> None:
        """Give the program these two built-ins where its text names them."""
        if _NEEDED and _ASKS.search(text):
            namespace["__builtins__"] = {**vars(builtins), "locals": self._locals, "vars": self._vars}

    def _locals(self) -> Any:
        return self._of(sys._getframe(1))

    def _vars(self, *of: Any) -> Any:
        return vars(*of) if of else self._of(sys._getframe(1))

    def _of(self, frame: FrameType) -> Any:
        if frame is not self.frame:
            return frame.f_locals
        held, code = frame.f_locals, frame.f_code
        own = dict.fromkeys((*code.co_varnames, *code.co_cellvars, *code.co_freevars))
        for name in own:
            if name in held:
                self.shown[name] = held[name]
            else:
                self.shown.pop(name, None)
        self.shown.update((name, value) for name, value in held.items() if name not in own)
        return self.shown
