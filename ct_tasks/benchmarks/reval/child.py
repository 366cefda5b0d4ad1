"""What runs inside the sandbox for REval: trusted hooks that execute the benchmark's own programs and report what happened.

``trace`` records, as REval's ``dynamics.py`` does (Chen et al. 2024): the executed lines in order, a snapshot of the frame's
locals at each, and so for a line whether it ran, which lines followed it, and the values of a variable after it.
``asserted`` runs a class's test and records the two sides of its asserts. ``complete`` runs a completed test text, as
the published scorer does, and says whether it passed.
"""

from __future__ import annotations

import ast
import copy
import io
import itertools
import re
import sys
import types
import unittest
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any

# Imported for what it loads before the sandbox closes: numpy, which seven of the programs use.
from ct_tasks.benchmarks.codegen import child as _numpy_loader  # noqa: F401
from ct_tasks.benchmarks.codegen.values import dump

FILENAME = "<internals>"  # marks the frames that are traced
ASSERTS = ("assertEqual", "assertNotEqual", "assertAlmostEqual", "assertTrue", "assertFalse", "assertIsNone", "assertIsNotNone",
           "assertIn", "assertNotIn")
_SKIPPED = ("module", "function", "builtin_function_or_method")
MAX_STATES = 200_000


class _Nil:
    """No value: the line did not run, or the variable has none there."""


NIL = _Nil()


def _module(source: str) -> dict[str, Any]:
    module = types.ModuleType("__reval__")
    sys.modules["__reval__"] = module
    exec(compile(source, FILENAME, "exec", dont_inherit=True), module.__dict__)
    return module.__dict__


def _test_class(namespace: dict[str, Any], payload: Mapping[str, Any]) -> type[unittest.TestCase]:
    """The test class of one input: those named after the class, in order of definition."""
    exec(compile(payload["test"], "<test>", "exec", dont_inherit=True), namespace)
    found = [value for name, value in namespace.items()
             if isinstance(value, type) and issubclass(value, unittest.TestCase) and re.match(f"{payload['entry']}Test.*", name)]
    chosen: type[unittest.TestCase] = found[payload["number"]]
    return chosen


def _ready(test_class: type[unittest.TestCase]) -> unittest.TestCase:
    test = test_class()
    test.setUp()
    return test


class _Recorder:
    """The states of one run: ``[line, locals]``, where events on the line that ran last update its state."""

    def __init__(self) -> None:
        self.states: list[tuple[int, dict[str, Any]]] = []

    def call(self, frame: FrameType, event: str, _: object) -> Any:
        return self.local if event == "call" and frame.f_code.co_filename == FILENAME else None

    def local(self, frame: FrameType, event: str, _: object) -> Any:
        line = frame.f_lineno - 1
        if event == "line":
            snapshot = {name: copy.deepcopy(value) for name, value in frame.f_locals.items()
                        if type(value).__name__ not in _SKIPPED and not isinstance(value, Iterator)}
            if self.states and self.states[-1][0] == line:
                self.states[-1] = (line, snapshot)
            else:
                self.states.append((line, snapshot))
        elif event in ("return", "exception") and (not self.states or self.states[-1][0] != line):
            self.states.append((line, {}))
        if len(self.states) > MAX_STATES:
            raise RuntimeError("more states than the limit")
        return self.local


def trace(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Run one input of one program under the recorder.

    Payload: ``code``, ``entry``, ``probes`` (pairs of line, from 1, and variable), and either ``input`` (source of an
    argument tuple) or ``test`` (source of the test classes) with ``number``. Returns for each probe ``covered``, ``next``
    (lines from 1; -1 for the end or a line that did not run) and ``values`` (``[text, type]``; ``None`` for Nil).
    """
    namespace = _module(payload["code"])
    run: Callable[[], object]
    if "test" in payload:
        test = _ready(_test_class(namespace, payload))
        name = next(n for n in type(test).__dict__ if n.startswith("test"))
        run = getattr(test, name)
    else:
        function, arguments = namespace[payload["entry"]], eval(payload["input"], namespace)
        run = lambda: function(*arguments)  # noqa: E731 - one line beside its other half
    recorder = _Recorder()
    out, sys.stdout = sys.stdout, io.StringIO()
    sys.settrace(recorder.call)
    try:
        run()
    finally:
        sys.settrace(None)
        sys.stdout = out
    return {"probes": [_probe(recorder.states, line - 1, variable) for line, variable in payload["probes"]]}


def _probe(states: list[tuple[int, dict[str, Any]]], line: int, variable: str) -> dict[str, Any]:
    at = [i for i, (ran, _) in enumerate(states) if ran == line]
    if not at:
        return {"covered": False, "next": [-1], "values": None}
    following = {states[i + 1][0] + 1 if i + 1 < len(states) else -1 for i in at}
    after = [states[min(i + 1, len(states) - 1)][1] for i in at]
    try:
        found = _interpret(ast.parse(variable, mode="eval").body, after)
    except Exception:  # noqa: BLE001 - REval reads a variable that cannot be evaluated as Nil
        found = NIL
    values = None if isinstance(found, _Nil) else [[dump(v), type_name(v), repr(v)[:2000]] for v in found]
    if values is not None:
        values = [list(t) for t in dict.fromkeys(map(tuple, values))]
    return {"covered": True, "next": sorted(following), "values": values}


def type_name(value: Any) -> str:
    """``int``, ``datetime.datetime`` ...: the class, with its module unless that is builtins or the program."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ in ("builtins", "__reval__") else f"{kind.__module__}.{kind.__qualname__}"


def _interpret(node: ast.expr, after: list[dict[str, Any]]) -> list[Any] | _Nil:
    """All values of a name, attribute, subscript or tuple in the states after a line (every combination of parts)."""
    match node:
        case ast.Constant(value=value):
            return [value]
        case ast.Name(id=name):
            found = [state[name] for state in after if name in state]
        case ast.Attribute(value=inner, attr=attribute):
            owners = _interpret(inner, after)
            if isinstance(owners, _Nil):
                return NIL
            found = [getattr(o, attribute) for o in owners if hasattr(o, attribute)]
        case ast.Subscript(value=inner, slice=index):
            containers, keys = _interpret(inner, after), _interpret(index, after)
            if isinstance(containers, _Nil) or isinstance(keys, _Nil):
                return NIL
            found = []
            for container, key in itertools.product(containers, keys):
                try:
                    found.append(container[key])
                except (TypeError, KeyError, IndexError):
                    continue
        case ast.Tuple(elts=elements):
            parts = [_interpret(element, after) for element in elements]
            if any(isinstance(part, _Nil) for part in parts):
                return NIL
            return list(itertools.product(*(part for part in parts if not isinstance(part, _Nil))))
        case _:
            # REval's interpreter *returns* a ValueError for other nodes; what is built on it has no values.
            return NIL
    return found or NIL


def asserted(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Run the test text of one class input and record the arguments of its asserts.

    Payload as for ``trace``, with ``text`` (the test with all values). Returns ``asserts``: for each masked assert its
    name, the masked position, and ``[text, type]`` of each positional argument.
    """
    namespace = _module(payload["code"])
    test = _ready(_test_class(namespace, payload))
    tree = ast.parse(payload["text"])
    notes: list[list[Any]] = []
    for statement in tree.body:
        call = masked_call(statement)
        if call is not None and isinstance(call.func, ast.Name):
            notes.append([call.func.id, masked_position(call), [None] * len(call.args)])
            call.args = [ast.Call(ast.Name("__note__", ast.Load()), [ast.Constant(len(notes) - 1), ast.Constant(i), argument], [])
                         for i, argument in enumerate(call.args)]

    def note(number: int, position: int, value: Any) -> Any:
        notes[number][2][position] = [dump(value), type_name(value)]
        return value

    namespace.update({name: getattr(test, name) for name in dir(test) if name.startswith("assert")}, self=test, __note__=note)
    exec(compile(ast.fix_missing_locations(tree), "<asserts>", "exec", dont_inherit=True), namespace)
    return {"asserts": notes}


def masked_call(statement: ast.stmt) -> ast.Call | None:
    """The assert that REval masks in a statement, if there is one."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) \
            and isinstance(statement.value.func, ast.Name) and statement.value.func.id in ASSERTS:
        return statement.value
    return None


def masked_position(call: ast.Call) -> int:
    """The argument that REval masks: the second where there are two."""
    return 1 if len(call.args) >= 2 else 0


def complete(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Run a completed test text as REval's scorer does (``evaluation.Output``, ``FunctionFactory.create_from_answer``).

    Payload as for ``trace``, with ``text``: what a model wrote. Only ``acc_official`` reads the result.
    """
    namespace = _module(payload["code"])
    test_class = _test_class(namespace, payload)
    source = "def dreval_output_pred(self):"
    in_string = False
    for line in payload["text"].split("\n"):
        source += f"\n{line}" if in_string else f"\n\t{line}"
        if "'''" in line or '"""' in line:
            in_string = not in_string
    out, sys.stdout = sys.stdout, io.StringIO()
    try:
        exec(compile(source.replace("assert", "self.assert"), FILENAME, "exec", dont_inherit=True), namespace)
        setattr(test_class, "dreval_output_pred", namespace["dreval_output_pred"])  # noqa: B010 - named by the scorer
        test = _ready(test_class)
        test.dreval_output_pred()  # type: ignore[attr-defined]
    except Exception as error:  # noqa: BLE001 - any exception is a failed test
        return {"passed": False, "error": f"{type(error).__name__}: {error}"[:300]}
    finally:
        sys.stdout = out
    return {"passed": True, "error": ""}
