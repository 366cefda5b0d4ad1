"""What runs inside the sandbox, beside a program: trusted hooks that call it on given inputs and report what it returned.

``run_calls`` never sees an expected value or a test: a program that takes over this process can only choose what to
return. ``record`` and ``replay`` run the benchmark's own tests, with the reference or with outputs already computed, in
processes that hold no candidate. See ``runner`` for the other side.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import importlib
import io
import os
import pickle
import random
import signal
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from ct_tasks.benchmarks.codegen.values import dump, load

# Programs may use numpy where it is installed. The sandbox shows no site-packages, so it is loaded before the doors close,
# the parts that it would load on first use too, with one thread: a process that forks must not have more. A container
# brings its own packages, and the isolated process that lists what to send there shall not find ours.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
for _part in () if sys.flags.isolated else ("", ".linalg", ".fft", ".random", ".polynomial", ".ma", ".lib.stride_tricks"):
    with contextlib.suppress(ImportError):
        importlib.import_module(f"numpy{_part}")

MAX_OUTPUTS = 12_000_000  # characters of all outputs of a program: the verdict channel carries 16 MiB
PROGRAM = "__program__"  # the module name under which the sandbox executes a job's code


class _Late(BaseException):
    """The limit of one call has passed. Not an ``Exception``, so that a bare ``except Exception`` does not swallow it."""


class _Sink(io.TextIOBase):
    def write(self, text: str) -> int:
        return len(text)


def _late(signum: int, frame: object) -> None:
    raise _Late


def pack(calls: list[tuple[Any, ...]]) -> str:
    """Argument tuples as text for a payload. Only ever unpacked from our own data, on its way into the sandbox."""
    return base64.b64encode(pickle.dumps(calls)).decode()


def unpack(text: str) -> list[tuple[Any, ...]]:
    """What ``pack`` packed. Only literal values are in it, so a class in it is a damaged file (``ValueError``)."""

    class Literals(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            if (module, name) in (("builtins", "complex"), ("builtins", "set"), ("builtins", "frozenset"), ("builtins", "bytearray")):
                return super().find_class(module, name)
            raise ValueError(f"{module}.{name} among packed literals")

    calls: list[tuple[Any, ...]] = Literals(io.BytesIO(base64.b64decode(text))).load()
    return calls


def _callable(entry: str) -> Callable[..., Any]:
    """``f`` or ``Solution.method`` of the program; a class is instantiated without arguments."""
    namespace = sys.modules[PROGRAM].__dict__
    name, _, method = entry.partition(".")
    found = namespace[name]
    return getattr(found(), method) if method else found  # type: ignore[no-any-return]


def run_calls(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Call the program on each input, stopping at the first exception or late call.

    Payload: ``entry``; either ``calls`` (see ``pack``) or ``exprs`` (source text, evaluated in the program's namespace);
    ``limits`` (seconds of processor time, one a call or one for all); ``room`` (characters of all outputs). Returns ``outputs`` (texts of ``values.dump``),
    ``times`` and ``stop`` (``None``, or why it ended early).
    """
    streams = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = _Sink()
    outputs: list[str] = []
    times: list[float] = []
    stop: dict[str, str] | None = None
    for signum in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(signum, _late)
    clock, setitimer, room = time.process_time, signal.setitimer, payload.get("room", MAX_OUTPUTS)
    try:
        if "exprs" in payload:
            namespace = sys.modules[PROGRAM].__dict__
            codes = [compile(text, "<call>", "eval", dont_inherit=True) for text in payload["exprs"]]
            thunks: list[Callable[[], Any]] = [lambda code=code: eval(code, namespace) for code in codes]  # type: ignore[misc]
        else:
            function = _callable(payload["entry"])
            thunks = [lambda args=args: function(*args)  # type: ignore[misc]
                      for args in unpack(payload["calls"])]
        limits = payload["limits"]
        for i, thunk in enumerate(thunks):
            limit = limits[i] if isinstance(limits, list) else limits
            began = clock()
            setitimer(signal.ITIMER_PROF, limit)
            setitimer(signal.ITIMER_REAL, 20 * limit + 20)  # a call that sleeps uses no processor time; a busy machine is slow
            value = thunk()
            setitimer(signal.ITIMER_PROF, 0)
            setitimer(signal.ITIMER_REAL, 0)
            times.append(clock() - began)
            outputs.append(dump(value))
            room -= len(outputs[-1])
            if room < 0:
                stop = {"kind": "exception", "error": "the outputs are too large to report"}
                break
    except _Late:
        stop = {"kind": "timeout", "error": f"call {len(outputs)} took longer than its limit"}
    except BaseException as error:  # noqa: BLE001 - whatever the program raises ends its run and is reported
        kind = "memory" if isinstance(error, MemoryError) else "exception"
        try:
            words = f"{type(error).__name__}: {error}"[:300]
        except BaseException:  # noqa: BLE001 - the program's own __str__
            words = type(error).__name__
        stop = {"kind": kind, "error": words}
    finally:
        setitimer(signal.ITIMER_PROF, 0)
        setitimer(signal.ITIMER_REAL, 0)
        sys.stdout, sys.stderr = streams
    return {"outputs": outputs, "times": times, "stop": stop}


def before_script(payload: Mapping[str, Any]) -> None:
    """Before a script: the 4,300-digit limit on integers as text is lifted, as the official runner lifts it."""
    sys.set_int_max_str_digits(0)


def record(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Run ``check(reference)`` of HumanEval's own test and write down every call: arguments and output as texts.

    Payload: ``entry``, ``test``. The job's code is the reference program.
    """
    namespace = dict(sys.modules[PROGRAM].__dict__)
    reference = namespace[payload["entry"]]
    arguments: list[str] = []
    outputs: list[str] = []
    times: list[float] = []

    def recorder(*args: Any) -> Any:
        arguments.append(dump(args))
        began = time.process_time()
        value = reference(*copy.deepcopy(args))
        times.append(time.process_time() - began)
        outputs.append(dump(value))
        return value

    random.seed(0)
    exec(payload["test"], namespace)
    namespace["check"](recorder)
    return {"arguments": arguments, "outputs": outputs, "times": times}


class _Diverged(Exception):
    """The test asked for another call than it asked of the reference."""


def replay(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Run HumanEval's own test over outputs that a candidate has computed elsewhere.

    Payload: ``entry``, ``test``, ``arguments`` (as recorded), ``outputs`` (as computed; shorter where the candidate
    stopped). The job's code is the reference, for the helpers that some tests use. Returns ``passed`` and ``error``.
    """
    namespace = dict(sys.modules[PROGRAM].__dict__)
    arguments, outputs = payload["arguments"], payload["outputs"]
    position = 0

    def player(*args: Any) -> Any:
        nonlocal position
        asked = dump(args)
        if position >= len(arguments) or asked != arguments[position]:
            if asked in arguments[:position]:  # some asserts call once more to say what came out instead
                return load(outputs[arguments.index(asked)])
            raise _Diverged(f"call {position} differs from the reference's")
        if position >= len(outputs):
            raise RuntimeError("the program raised here")
        position += 1
        return load(outputs[position - 1])

    random.seed(0)
    exec(payload["test"], namespace)
    return _verdict(lambda: namespace["check"](player))


def replay_asserts(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Run MBPP's asserts with each call replaced by the output that a candidate has computed elsewhere.

    Payload: ``test`` (source that reads ``__outputs__``), ``outputs``. The job's code is the reference and set-up code.
    """
    namespace = dict(sys.modules[PROGRAM].__dict__)
    namespace["__outputs__"] = [load(text) for text in payload["outputs"]]
    return _verdict(lambda: exec(payload["test"], namespace))


def _verdict(run: Callable[[], object]) -> dict[str, Any]:
    try:
        run()
    except _Diverged as error:
        return {"passed": False, "diverged": str(error), "error": ""}
    except Exception as error:  # noqa: BLE001 - a failed assert, or an output of another type than the assert expects
        return {"passed": False, "error": f"{type(error).__name__}: {error}"[:300]}
    return {"passed": True, "error": ""}
