"""True locals at block ends, by watching one real call (spec sections 1 and 2).

``trace_call`` EXECUTES the program, so it belongs into a sandboxed child: ``ct_tasks.execution.tracing`` does that. A
textbook tracer copies the state at every line; this one copies only where control leaves a block, which costs 11 to 19
times a plain run instead of thousands of times. Only the entry function's outermost activation is watched: recursion,
comprehensions, lambdas and generators have frames of their own. Nothing that the program or its classes' metaclasses
define (``__repr__``, ``__eq__``, ``__hash__``, ``__deepcopy__``) is called by the tracer.

The traced program computes what the untraced one computes: it is compiled without this module's ``__future__``, runs as a
module of its own, and gets ``locals()`` that do not change behind its back (``shadow.py``) and the recursion depth that
the tracer's own frames take. What remains visible is what a debugger shows: ``sys.gettrace()``, ``sys.getrefcount``.
"""

from __future__ import annotations

import ast
import sys
from builtins import len, max, min, str, type  # noqa: UP029 - as in plain.py
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from types import CodeType, FrameType, ModuleType
from typing import Any, Final

from ct_tasks.contra import literals
from ct_tasks.contra.program import Program, Span, normalise, segment
from ct_tasks.contra.shadow import ShadowLocals
from ct_tasks.contra.trace import Block, Truth
from ct_tasks.errors import ProgramRaised, TraceError, TraceMemory, TraceTimeout

MAX_EVENTS = 5_000_000
MAX_VALUES = 4_000_000  # copied values in the trace as a whole, about 400 MB
NAME: Final = "__program__"
_FRAMES: Final = 5  # between the program and the limit of recursion, at least those beyond a plain run's


def trace_call(
    source: str,
    call: str,
    *,
    entry: str | None = None,
    segmentation: str = "statement",
    containers: literals.Containers = "literal",
    max_events: int = MAX_EVENTS,
    max_values: int = MAX_VALUES,
    prelude: str = "",
) -> Truth:
    """Run ``call`` (``"f(3)"``) in ``source`` and return what happened.

    ``entry`` defaults to the name that ``call`` calls. ``prelude`` is executed first in the same namespace (a
    benchmark's standing imports) and is not part of the program. Raises ``ProgramRaised`` when the program raises,
    ``TraceTimeout`` after ``max_events`` lines of the function and calls it makes, ``TraceMemory`` when it would record
    more than ``max_values``, and ``TraceError`` for what cannot be traced (no such function, a result that no literal
    expresses, a generator).
    """
    tree = _call_tree(call)
    name = tree.func.id if isinstance(tree.func, ast.Name) else ""
    program, spans, order = _prepared(source, entry or name, segmentation)
    if name != program.entry:
        raise TraceError(f"the call {call!r} does not call {program.entry}")
    watcher = _Watcher(program, spans, order, containers, max_events, max_values)
    try:
        with _module() as namespace:
            watcher.shadow.install(namespace, f"{prelude}\n{program.runnable}")
            if prelude:
                exec(compile(prelude, "<prelude>", "exec", dont_inherit=True), namespace)
            module = _compiled(program.runnable)
            watcher.watch(_entry_code(module, program))
            exec(module, namespace)
            # Arguments come first: an argument may call the entry function itself, and that is not the call traced.
            pack = ast.Expression(ast.Call(ast.Name("__pack__", ast.Load()), tree.args, tree.keywords))
            packed = compile(ast.fix_missing_locations(pack), "<call>", "eval", dont_inherit=True)
            args, kwargs = eval(packed, namespace, {"__pack__": lambda *args, **kwargs: (args, kwargs)})
            returned = watcher.run(namespace[program.entry], args, kwargs)
    except TraceError:
        raise
    except MemoryError:
        raise TraceMemory("the program ran out of memory") from None
    except literals.LiteralError as error:
        raise TraceMemory(str(error)) from None
    except BaseException as error:  # noqa: BLE001 - whatever the program raises, SystemExit included, is the program's result
        raise ProgramRaised(_describe(error)) from None
    return Truth(program, call, watcher.blocks(), returned)


def trace_hook(payload: Mapping[str, Any]) -> dict[str, Any]:
    """``trace_call`` for a sandboxed child: JSON in, ``{"truth": ...}`` or ``{"error": kind, "message": ...}`` out."""
    try:
        truth = trace_call(
            payload["source"],
            payload["call"],
            entry=payload.get("entry"),
            segmentation=payload.get("segmentation", "statement"),
            containers=payload.get("containers", "literal"),
            max_events=payload.get("max_events", MAX_EVENTS),
            max_values=payload.get("max_values", MAX_VALUES),
            prelude=payload.get("prelude", ""),
        )
        return {"truth": truth.to_json()}
    except TraceError as error:
        return {"error": type(error).__name__, "message": str(error)}


@lru_cache(maxsize=32)
def _prepared(source: str, entry: str, segmentation: str) -> tuple[Program, tuple[Span, ...], Mapping[str, int]]:
    """What does not depend on the call: reading the program costs more than most calls of it."""
    program = normalise(source, entry)
    return program, segment(program, segmentation), _name_order(program)


@lru_cache(maxsize=32)
def _compiled(source: str) -> CodeType:
    return compile(source, "<program>", "exec", dont_inherit=True)


@contextmanager
def _module() -> Iterator[dict[str, Any]]:
    """The namespace of a fresh module that ``sys.modules`` knows, as dataclasses and type hints expect."""
    before = sys.modules.get(NAME)
    sys.modules[NAME] = module = ModuleType(NAME)
    module.__dict__["__builtins__"] = __builtins__
    try:
        yield module.__dict__
    finally:
        if before is None:
            sys.modules.pop(NAME, None)
        else:
            sys.modules[NAME] = before


def _call_tree(call: str) -> ast.Call:
    try:
        tree = ast.parse(call.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise TraceError(f"the call {call[:80]!r} does not parse: {error}") from None
    if not isinstance(tree, ast.Call):
        raise TraceError(f"{call[:80]!r} is not a call")
    return tree


def _entry_code(module: CodeType, program: Program) -> CodeType:
    wanted = program.offset + 1
    for constant in module.co_consts:
        if isinstance(constant, CodeType) and constant.co_name == program.entry:
            lines = [line for _, _, line in constant.co_lines() if line is not None]
            if lines and wanted <= max(lines) and min(lines) < wanted + len(program.lines):
                code = constant
                break
    else:
        raise TraceError(f"no code for {program.entry}")
    if code.co_flags & 0x2A0:  # generator, coroutine, async generator
        raise TraceError(f"{program.entry} is a generator or a coroutine: calling it runs nothing")
    return code


def _describe(error: BaseException) -> str:
    kind = type(error)
    args = getattr(BaseException, "args").__get__(error)  # noqa: B009 - the slot itself, past any override
    text = args[0] if type(args) is tuple and args else ""
    if type(text) is int:
        text = str(text) if text.bit_length() <= literals.MAX_INT_BITS else "a large integer"
    return f"{kind.__qualname__}: {text if type(text) is str else ''}"[:300] if type(kind) is type else "exception"


class _Watcher:
    def __init__(
        self,
        program: Program,
        spans: tuple[Span, ...],
        order: Mapping[str, int],
        containers: literals.Containers,
        max_events: int,
        max_values: int,
    ) -> None:
        self.program, self.spans, self.containers = program, spans, containers
        self.code: CodeType | None = None
        self.names: list[str] = []
        self.frame: FrameType | None = None
        self.shadow = ShadowLocals()
        self.events_left = max_events
        self.offset = program.offset
        self.block_of = [i for i, span in enumerate(spans) for _ in range(span.start, span.stop)]
        self.order = order
        self.current = 0
        self.furthest = -1
        self.states: dict[int, dict[str, object]] = {}
        self.budget = max_values
        self.done = False
        self.failure: TraceError | None = None

    def watch(self, code: CodeType) -> None:
        """The entry function's code, and its locals' names in the order in which they are shown."""
        self.code = code
        names = {name for name in (*code.co_varnames, *code.co_cellvars) if not name.startswith(".")}
        self.names = sorted(names, key=lambda n: (self.order.get(n, len(self.order)), n))

    def run(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        previous, limit = sys.gettrace(), sys.getrecursionlimit()
        sys.setrecursionlimit(limit + _FRAMES)
        sys.settrace(self._on_call)
        try:
            value = function(*args, **kwargs)
        except BaseException:
            if self.failure is not None:  # ours, on its way through the program
                raise self.failure from None
            raise
        finally:
            sys.settrace(previous)
            if sys.getrecursionlimit() == limit + _FRAMES:
                sys.setrecursionlimit(limit)
        if self.failure is not None:  # the program has caught it and went on unwatched
            raise self.failure
        if self.frame is None:
            raise TraceError(f"{self.program.entry} was never entered (a decorator replaced it, or a cache answered)")
        if not self.done:
            raise TraceError("the program removed the tracer before it returned")
        plain = literals.plain(value, self.containers, budget=literals.MAX_TEXT)
        if plain is literals.OMIT and self.containers == "drop":
            # What a container returns is still the answer; only LOCALS drop it.
            plain = literals.plain(value, budget=literals.MAX_TEXT)
        if plain is literals.OMIT:
            raise TraceError(f"no literal expresses the returned {literals.type_name(value)}")
        literals.dump(plain)
        return plain

    def blocks(self) -> tuple[Block, ...]:
        """Executed blocks in order. A block inside an opened compound statement that never ran repeats the state before it."""
        blocks = []
        state: dict[str, object] = {}
        for i in range(self.furthest + 1):
            state = self.states.get(i, state)
            span = self.spans[i]
            lines = self.program.lines[span.start : span.stop]
            blocks.append(Block(span.start, lines, state, span.weight))
        return tuple(blocks)

    def _on_call(self, frame: FrameType, event: str, arg: object) -> Any:
        if frame.f_code is self.code and self.frame is None:
            self.frame = self.shadow.frame = frame  # held on to: ids of dead frames are reused
            self.furthest = 0
            return self._on_event
        if self.frame is not None:
            self._spend()
        return None

    def _spend(self) -> None:
        self.events_left -= 1
        if self.events_left < 0:
            self.failure = TraceTimeout("the program executes too many lines")
            raise self.failure

    def _on_event(self, frame: FrameType, event: str, arg: object) -> Any:
        if event == "line":
            self._spend()
            line = frame.f_lineno - 1 - self.offset
            block = self.block_of[line] if 0 <= line < len(self.block_of) else self.current
            if block != self.current:
                self.states[self.current] = self._snapshot(frame)
                self.current = block
                self.furthest = max(self.furthest, block)
        elif event == "return":
            self.states[self.current] = self._snapshot(frame)
            self.done = True
        return self._on_event

    def _snapshot(self, frame: FrameType) -> dict[str, object]:
        held = frame.f_locals  # besides the function's own names it may hold keys that an exec has put there
        values = {name: value for name, value in held.items() if type(name) is str}
        room = min(self.budget, literals.MAX_TEXT)  # a value takes a character, and a longer text is not read back
        copier = literals.Copier(self.containers == "literal", room)
        state = {}
        try:
            for name in self.names:
                if name in values and (value := copier.copy(values[name], 0)) is not literals.OMIT:
                    state[name] = value
        except (literals.LiteralError, MemoryError) as error:
            self.failure = TraceMemory(str(error) or "the program ran out of memory")
            raise self.failure from None
        self.budget -= room - copier.left
        return state


def _name_order(program: Program) -> dict[str, int]:
    """Parameters, then names by where they first appear: the same order on every Python version."""
    function = program.function
    spec = function.args
    params = [
        *spec.posonlyargs,
        *spec.args,
        *([spec.vararg] if spec.vararg else []),
        *spec.kwonlyargs,
        *([spec.kwarg] if spec.kwarg else []),
    ]
    order = {param.arg: i for i, param in enumerate(params)}
    found: list[tuple[int, int, str]] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            found.append((node.lineno, node.col_offset, node.id))
        elif (
            isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler)) and node is not function and node.name
        ):
            found.append((node.lineno, node.col_offset, node.name))
    for _, _, name in sorted(found):
        order.setdefault(name, len(order))
    return order
