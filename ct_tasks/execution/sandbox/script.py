"""What makes a child's program a script: the world that ``python program.py`` finds, and the way an interpreter ends.

Compared with a real interpreter, feature by feature, in ``tests/execution/test_python_scripts.py``.
"""

from __future__ import annotations

import atexit
import builtins
import functools
import gc
import io
import os
import site
import sys
import threading
import types
from collections.abc import Callable
from typing import Any, Final

STREAMS: Final = ("stdin", "stdout", "stderr")
_DEVICES: Final = {f"{place}{name}": fd for fd, stream in enumerate(STREAMS)
                   for place, name in (("/dev/", stream), ("/dev/fd/", fd), ("/proc/self/fd/", fd))}


def fresh_streams() -> None:
    """Standard streams as a new interpreter makes them on descriptors 0, 1 and 2, under ``C.UTF-8``."""
    sys.argv = ["program.py"]
    for fd, name in enumerate(STREAMS):
        mode = "w" if fd else "r"
        raw = io.FileIO(fd, mode + "b", closefd=False)
        raw.name = f"<{name}>"
        errors = "backslashreplace" if fd == 2 else "surrogateescape"
        buffer = io.BufferedWriter(raw) if fd else io.BufferedReader(raw)
        stream = io.TextIOWrapper(buffer, encoding="utf-8", errors=errors, newline="\n", line_buffering=fd == 2)
        stream.mode = mode  # type: ignore[misc]  # as an interpreter sets it
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def main_module(code: str) -> types.ModuleType:
    """``__main__`` for this script, with the names that an interpreter puts there; builtins of ``site`` too."""
    site.setquit()
    site.setcopyright()
    site.sethelper()
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=os.path.abspath("program.py"), __cached__=None, __builtins__=builtins)
    if sys.version_info < (3, 14):
        module.__annotations__ = {}
    sys.modules["__main__"] = module
    if "/dev/" in code or "/proc/" in code:
        _open_devices()
    return module


def _open_devices() -> None:
    """Let ``open("/dev/stdin")`` and its like reach the real descriptors: the sandbox has no /proc for them to lead into."""

    def through(call: Callable[..., Any], instead: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def called(file: Any, *args: Any, **options: Any) -> Any:
            descriptor = _DEVICES.get(os.fsdecode(file)) if isinstance(file, str | bytes | os.PathLike) else None
            return call(file, *args, **options) if descriptor is None else instead(descriptor, *args, **options)

        return called

    opened = io.open
    builtins.open = io.open = through(opened, lambda fd, *args, **options: opened(os.dup(fd), *args, **options))
    os.open = through(os.open, lambda fd, *_, **__: os.dup(fd))


def exit_status(code: Any) -> int:
    """The exit status that ``SystemExit(code)`` means; a code that is no number is printed, as an interpreter does."""
    if code is None:
        return 0
    if isinstance(code, int):
        return int(code) & 0xFF if -(1 << 63) <= code < 1 << 63 else 0xFF
    print(code, file=sys.stderr)
    return 1


def report(error: BaseException, filename: str) -> None:
    """The traceback on standard error, by ``sys.excepthook``, from the script's own first line on."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != filename:
        trace = trace.tb_next
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def finish() -> None:
    """The end of an interpreter: wait for threads, run exit handlers, flush, drop the module's names, flush again.

    Nothing raised on the way changes the exit status; files left open are flushed when their names go.
    """
    _quietly(threading._shutdown)  # type: ignore[attr-defined]
    _quietly(atexit._run_exitfuncs)
    _flush(sys.stdout, sys.stderr)
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
    space = sys.modules["__main__"].__dict__
    for hidden in (True, False):
        for name in [n for n in space if n != "__builtins__" and n.startswith("_") is hidden]:
            space[name] = None
    _quietly(gc.collect)
    _flush(sys.stdout, sys.stderr)


def _flush(*streams: Any) -> None:
    for stream in streams:
        try:
            stream.flush()
        except BaseException:  # noqa: BLE001 - the program may have closed or replaced it; its output is then its own affair
            continue


def _quietly(step: Callable[[], object]) -> None:
    try:
        step()
    except BaseException as error:  # noqa: BLE001 - what a handler raises is printed by an interpreter and changes nothing else
        try:
            sys.excepthook(type(error), error, error.__traceback__)
        except BaseException:  # noqa: BLE001 - an excepthook or a standard error of the program's own
            return
