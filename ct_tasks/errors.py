"""The exception tree. Every error a user can cause says what was wrong with which input, and what to do.

``CodeThinkerError``
    ``ConfigError``           a bad option, config file or command line
        ``UnknownNameError``  a name that is not in a closed list; carries suggestions
        ``ConfigErrors``      several of these at once
    ``DataError``             benchmark or training data absent, damaged, or not what its hash says
    ``HarnessError``          the evaluation machinery failed (dead daemon, missing tool chain, full disk); never "wrong"
    ``TraceError``            a program could not be traced
        ``TraceTimeout`` / ``TraceMemory`` / ``ProgramRaised``
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


class CodeThinkerError(Exception):
    """Root of every error this project raises on purpose."""


class ConfigError(CodeThinkerError):
    """A bad option, configuration file or command line."""


class UnknownNameError(ConfigError):
    """``name`` is not one of ``known``; the message lists close matches, or all names when none is close."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name, self.known = kind, name, sorted(known)
        close = difflib.get_close_matches(name, self.known, n=3)
        hint = f"did you mean {', '.join(close)}?" if close else f"known: {', '.join(self.known)}"
        super().__init__(f"unknown {kind} {name!r}; {hint}")


class ConfigErrors(ConfigError):
    """Everything that is wrong with one input; ``errors`` holds each."""

    def __init__(self, errors: Sequence[ConfigError]) -> None:
        self.errors = tuple(errors)
        super().__init__("\n".join(map(str, errors)))


def refuse(errors: Sequence[ConfigError]) -> None:
    """Raise what was found: the one error itself, or all of them together."""
    if errors:
        raise errors[0] if len(errors) == 1 else ConfigErrors(errors)


def each(error: ConfigError) -> list[ConfigError]:
    """The errors that one exception stands for."""
    return list(error.errors) if isinstance(error, ConfigErrors) else [error]


class DataError(CodeThinkerError):
    """Data that is absent, damaged, or not the version it should be."""


class HarnessError(CodeThinkerError):
    """The machinery failed. A sample it touches is counted as ``harness_error``, never as a wrong answer."""


class TraceError(CodeThinkerError):
    """A program has no usable trace."""


class TraceTimeout(TraceError):
    """The program ran longer than its limit."""


class TraceMemory(TraceError):
    """The program or its trace needed more memory than its limit."""


class ProgramRaised(TraceError):
    """The program raised; it has no ground truth for output prediction."""
