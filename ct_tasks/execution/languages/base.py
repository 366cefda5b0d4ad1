"""What one language says of itself. Everything here is data that the in-container runner reads as JSON."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

FULL_IMAGE = "codethinker-eval-languages:full"
JULIA_IMAGE = "codethinker-eval-julia"


@dataclass(frozen=True, slots=True)
class Language:
    """``compile`` and ``run`` are argument lists in which ``{src}`` is the program's file, ``{dir}`` its folder and ``{exe}``
    an output path. Limits are the official runner's, in seconds of wall time on an idle machine; the runner counts CPU
    time against them and gives four times as much wall time, so that a busy machine changes no verdict.

    ``fail_text``: the program failed when one of these occurs in its output although it exited with 0. ``stderr_fails``: any
    text on stderr is a failure. ``slot``: the call that input prediction replaces. ``words``: names that a value of this
    language may be built from beyond those that the benchmark's own answers use; any other name in an answer is refused.
    ``extra_if``: compiler arguments for programs that hold a text (a precompiled header for those that include it).
    ``batch``: name of the runner's batch compiler, for languages whose compiler starts slowly.
    """

    name: str
    file: str
    run: tuple[str, ...]
    slot: str
    compile: tuple[str, ...] = ()
    compile_s: float = 15.0
    run_s: float = 15.0
    env: dict[str, str] = field(default_factory=dict)
    extra_if: tuple[str, tuple[str, ...]] | None = None
    fail_text: tuple[str, ...] = ()
    stderr_fails: bool = False
    words: frozenset[str] = frozenset()
    comments: tuple[str, ...] = ("//", "/*")
    quotes: str = "\"'"
    batch: str = ""
    memory_mb: int = 1024
    image: str = FULL_IMAGE
    fence: str = ""

    def recipe(self) -> dict[str, Any]:
        """The part that the in-container runner needs."""
        keep = ("file", "run", "compile", "compile_s", "run_s", "env", "extra_if", "fail_text", "stderr_fails", "batch")
        return {k: v for k, v in dataclasses.asdict(self).items() if k in keep}


def names(text: str) -> frozenset[str]:
    """A set of names from one line of text."""
    return frozenset(text.split())
