"""What goes into an executor and what comes out: one ``Job``, one ``Result``, whatever the language or the sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

RunStatus = Literal["ok", "wrong", "exception", "timeout", "memory", "output_limit", "killed", "harness_error"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for one job. The clock starts when the child starts, never while the job waits in a queue.

    ``cpu_s`` is what a verdict depends on. ``wall_s`` ends a program that waits; time for which it was ready and the machine
    had no processor for it does not count (up to ten times ``wall_s``, and where the kernel tells).
    """

    cpu_s: float = 5.0
    wall_s: float = 10.0
    memory_mb: int = 512
    output_bytes: int = 64 * 1024
    disk_mb: int = 16


@dataclass(frozen=True, slots=True)
class Job:
    """One program to run.

    ``code`` is executed as a module in a fresh namespace. With ``expr`` the expression is then evaluated in that
    namespace and its value comes back as literal text (``ct_tasks.contra.literals.dump``), to be compared by the caller
    in its own process. With ``stdin`` the program is run as a script with real standard input. ``hook`` names a trusted
    function of ours (``package.module:function``) that the child calls with ``payload`` instead of evaluating ``expr``;
    its return value (JSON-able) comes back as ``value``. With both, the hook is called before the script and its value
    is dropped.
    """

    code: str
    expr: str | None = None
    stdin: str | None = None
    hook: str | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = Limits()
    id: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """What happened to one job. ``harness_error`` means we failed, and says nothing about the program.

    ``value``: literal text for ``expr`` jobs, JSON text for ``hook`` jobs, else ``None``. ``error``: exception type and
    message, or what the harness could not do. ``stdout`` / ``stderr`` are capped. Times in seconds.
    """

    status: RunStatus
    value: str | None = None
    error: str = ""
    stdout: str = ""
    stderr: str = ""
    cpu_s: float = 0.0
    wall_s: float = 0.0
    id: str = ""
