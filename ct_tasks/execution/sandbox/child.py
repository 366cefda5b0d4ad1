"""One throw-away process: reads its jobs, gives up its rights, runs the programs, and says on the verdict channel what came out.

A child that runs several programs runs only such as ``gate`` finds inert, checks after each that the interpreter is
as it was, and stops at the first doubt; the supervisor then runs the rest alone. A child with one program runs whatever
it is. Either way the child never holds an expected value: it reports what the program computed.
"""

from __future__ import annotations

import functools
import gc
import io
import json
import linecache
import os
import sys
import time
import traceback
import types
from typing import Any, Final, NoReturn

from ct_tasks.contra.literals import OMIT, LiteralError, dump, plain
from ct_tasks.execution.sandbox import gate, layers, protocol, script

CHANNEL: Final = 3
GROUP: Final = 32
GROUP_S: Final = 0.05
PLAIN: Final = b"+"
FILENAME: Final = "<program>"
MAX_ERROR: Final = 2000

# The programs that this process runs may replace any of these; the runner keeps the originals.
_exit, _write, _encode, _clock = os._exit, os.write, protocol.encode, time.process_time


class _TooMuchOutput(BaseException):
    """A program in a shared child printed more than its limit."""


def main(descriptors: list[int], state: layers.Layers, number: int, order: dict[str, Any]) -> None:
    """Everything that a child does; never returns."""
    os.setsid()
    jobs, stdin, out, err, channel = descriptors[0], *descriptors[2:], descriptors[1]
    text = b""
    while part := os.pread(jobs, 1 << 24, len(text)):
        text += part
    # Sources are copied above the range that they move to, since they may lie inside it in any order.
    copies = [os.dup(fd) for fd in (stdin, out, err, channel)]
    for target, fd in enumerate(copies):
        if fd <= CHANNEL:
            os._exit(71)
        os.dup2(fd, target)
    os.closerange(CHANNEL + 1, 256)
    batch = json.loads(text)
    del text
    nonce = batch["nonce"].encode()
    state.missing.clear()
    layers.restrict(state, number, order["cpu_s"], order["memory_mb"], order["disk_mb"])
    refused = sorted(set(state.missing) - set(order["allow_missing"]))
    if refused:
        answer = {"index": 0, "status": "harness_error", "error": f"{refused[0]}: {state.missing[refused[0]]}"}
        _report(nonce, {"answers": [answer]})
        _exit(0)
    _report(nonce, {"started": True})
    if order["group"]:
        _run_shared(batch["jobs"], nonce, order["group"])
    else:
        _run_alone(batch["jobs"][0], nonce)
    _exit(0)


def _report(nonce: bytes, message: dict[str, Any]) -> None:
    _send(nonce + _encode(message))


def _report_plain(nonce: bytes, answers: list[dict[str, Any]]) -> None:
    """Answers that are all ``ok``: the supervisor passes them on without reading them."""
    body = json.dumps(answers, separators=(",", ":")).encode("ascii")
    _send(nonce + protocol.frame(PLAIN + protocol.HEADER.pack(len(answers)) + body))


def _send(data: bytes) -> None:
    while data:
        data = data[_write(CHANNEL, data) :]


def _run_shared(jobs: list[dict[str, Any]], nonce: bytes, size: int) -> None:
    """Run what the gate passes, and report in groups of ``size``: verdicts leave only after the interpreter was found as
    it was. What needs a child of its own is reported as ``alone``; a group in doubt as ``again``, and that is the end of
    this child."""
    gc.disable()  # inert programs have no finalisers; what they leave is collected when the interpreter is checked
    watch = gate.Watch()
    real = sys.stdout, sys.stderr
    group: list[dict[str, Any]] = []
    since = time.monotonic()
    out, err = _Capture(), _Capture()
    for index, job in enumerate(jobs):
        answer: dict[str, Any] = {"index": index, "status": "alone"}
        group.append(answer)
        quiet = True
        if gate.inert(job):
            out.limit = err.limit = job["output_bytes"]
            sys.stdout, sys.stderr = out, err
            began = _clock()
            answer.update(_outcome(job))
            sys.stdout, sys.stderr = real
            answer["cpu_s"] = round(_clock() - began, 6)
            if out.tell() or err.tell() or out.full or err.full:
                answer.update(stdout=out.getvalue(), stderr=err.getvalue())
                quiet = not (out.full or err.full)
                out, err = _Capture(), _Capture()
            if job.get("hook") and str(answer.get("value")).startswith('{"error"'):
                answer["status"] = "alone"  # a hook's own failure is no plain ok
        if not quiet or len(group) >= size or index == len(jobs) - 1 or time.monotonic() - since > GROUP_S:
            sound = watch.unchanged() and quiet
            if not sound:
                for answer in group:
                    answer["status"] = "alone" if answer["status"] == "alone" or size == 1 else "again"
            if sound and all(answer["status"] == "ok" for answer in group):
                _report_plain(nonce, group)
            else:
                _report(nonce, {"answers": group, "stopped": not sound})
            if not sound:
                return
            group, since = [], time.monotonic()


def _run_alone(job: dict[str, Any], nonce: bytes) -> None:
    script.fresh_streams()
    if job.get("stdin") is not None:
        _run_script(job, nonce)
    answer = _outcome(job)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # noqa: BLE001 - the program may have closed or replaced it; its output is then its own affair
            continue
    _report(nonce, {"answers": [{"index": 0, **answer}]})


def _run_script(job: dict[str, Any], nonce: bytes) -> NoReturn:
    """Run the program as ``python program.py`` runs it, to the end of its interpreter. A hook is called before it."""
    answer: dict[str, Any] = {"status": "ok", "value": None}
    status = 0
    try:
        if job.get("hook"):
            _hook(job)
        space = script.main_module(job["code"]).__dict__
        linecache.cache[FILENAME] = (len(job["code"]), None, job["code"].splitlines(True), FILENAME)
        sys.setrecursionlimit(sys.getrecursionlimit() + len(traceback.extract_stack()))  # our frames are not the script's
        exec(_compiled(job["code"]), space)
    except SystemExit as stop:
        try:
            status = script.exit_status(stop.code)
        except BaseException:  # noqa: BLE001 - the program's own text of its exit code, or its own standard error
            status = 1
        if status:
            answer = {"status": "exception", "error": f"SystemExit: {_text(stop.code)}"[:MAX_ERROR]}
    except BaseException as error:  # noqa: BLE001 - KeyboardInterrupt and the program's own BaseExceptions included
        status = 1
        answer = {"status": "exception", "error": _describe(error)}
        if isinstance(error, MemoryError):
            answer = {"status": "memory", "error": "MemoryError"}
        try:
            script.report(error, FILENAME)
        except BaseException:  # noqa: BLE001 - an excepthook of the program's own
            traceback.print_exc(file=sys.__stderr__)
    script.finish()
    _report(nonce, {"answers": [{"index": 0, **answer}]})
    _exit(1 if status else 0)


def _outcome(job: dict[str, Any]) -> dict[str, Any]:
    """Run one program; the status and value or error of its result. Whatever it raises is its own result."""
    try:
        return {"status": "ok", "value": _evaluate(job)}
    except SystemExit as stop:
        return {"status": "exception", "error": f"SystemExit: {_text(stop.code)}"[:MAX_ERROR]}
    except MemoryError:
        return {"status": "memory", "error": "MemoryError"}
    except _TooMuchOutput:
        return {"status": "output_limit", "error": "more output than the limit"}
    except BaseException as error:  # noqa: BLE001 - KeyboardInterrupt and the program's own BaseExceptions included
        return {"status": "exception", "error": _describe(error)}


def _evaluate(job: dict[str, Any]) -> str | None:
    module = types.ModuleType("__program__")
    namespace = module.__dict__
    sys.modules["__program__"] = module
    try:
        if job["code"]:
            exec(_compiled(job["code"]), namespace)
        if job.get("hook"):
            return json.dumps(_hook(job))
        if job.get("expr") is None:
            return None
        value = plain(eval(compile(job["expr"], "<expression>", "eval", dont_inherit=True), namespace))
        if value is OMIT:
            raise LiteralError("the value has no literal text")
        return dump(value)
    finally:
        sys.modules.pop("__program__", None)


def _hook(job: dict[str, Any]) -> Any:
    path, _, function = job["hook"].partition(":")
    return getattr(sys.modules[path], function)(job.get("payload", {}))


@functools.lru_cache(maxsize=4)
def _compiled(code: str) -> types.CodeType:
    """A program's many tests come one after the other, so it is compiled once. A byte order mark is no part of a program."""
    return compile(code.removeprefix("\ufeff"), FILENAME, "exec", dont_inherit=True)


def _describe(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception_only(type(error), error)).strip()[-MAX_ERROR:]
    except BaseException:  # noqa: BLE001 - an exception of the program whose own text raises
        return "an exception that cannot be described"


def _text(value: Any) -> str:
    try:
        return repr(value)
    except BaseException:  # noqa: BLE001 - a value of the program's whose own text raises
        return f"a {type(value).__name__}"


class _Capture(io.StringIO):
    """Text output of one program in a shared child; remembers when it became too much."""

    def __init__(self) -> None:
        super().__init__()
        self.limit, self.full = 0, False

    def write(self, text: str) -> int:
        if self.tell() + len(text) > self.limit:
            self.full = True
            raise _TooMuchOutput
        return super().write(text)
