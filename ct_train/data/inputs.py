"""Step 2, inputs (paper section 2): calls for each function, from sources that can be mixed.

A source proposes calls for a batch of functions; the step keeps those that fit the signature, are literal values within the
size limit, and are new for the function, until it has ``per_function`` of them. Each call keeps its origin.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ct_tasks.contra import literals
from ct_tasks.contra.literals import LiteralError
from ct_tasks.errors import ConfigError
from ct_train.data.steps import Outcome, Row, Step

VERSION = 1
KNOWN = ("dataset", "mutate", "llm")


@dataclass(frozen=True)
class Function:
    """What a source may look at: the program, its parameters (name to annotation text, empty when there is none), and the
    argument tuples of the dataset's examples that could be read."""

    id: str
    program: str
    entry: str
    parameters: Mapping[str, str]
    required: int
    examples: tuple[tuple[object, ...], ...]

    @property
    def signature(self) -> str:
        return f"{self.entry}({', '.join(f'{n}: {t}' if t else n for n, t in self.parameters.items())})"


class InputSource(Protocol):
    """One way of finding calls. ``settings`` goes into the step's key; ``counts`` are further figures for the card."""

    name: str

    def settings(self) -> Mapping[str, Any]: ...

    def propose(self, functions: Sequence[Function], wanted: Sequence[int], out: Outcome) -> list[Iterator[str]]:
        """Calls (``"f(3)"``) for each function, in order, more than ``wanted`` where some may be refused. A source that
        finds none for a function says why by ``out.count``."""
        ...


class DatasetInputs:
    """The calls of the dataset's own ``input_output`` column (``"nums = [3,3], target = 6"``)."""

    name = "dataset"

    def settings(self) -> Mapping[str, Any]:
        return {}

    def propose(self, functions: Sequence[Function], wanted: Sequence[int], out: Outcome) -> list[Iterator[str]]:
        return [iter([render(f.entry, values) for values in f.examples]) for f in functions]


def inputs_step(
    folder: Path, sources: Sequence[InputSource], *, per_function: int, max_chars: int, batch: int = 50
) -> dict[str, Any]:
    """Find ``per_function`` calls for each function of ``1_static.jsonl``; a row a function in ``2_inputs.jsonl``."""
    from ct_train.data.steps import read_rows

    before = folder / "1_static.jsonl"
    key = {
        "rules": VERSION,
        "per_function": per_function,
        "max_call_chars": max_chars,
        "sources": {s.name: dict(s.settings()) for s in sources},
    }
    step = Step(folder, "2_inputs", key, [before], batch, "functions")
    return step.run(read_rows(before), lambda rows: fill(rows, sources, per_function, max_chars))


def fill(rows: Sequence[Row], sources: Sequence[InputSource], per_function: int, max_chars: int) -> Outcome:
    """Calls for one batch of functions."""
    out = Outcome()
    functions = [function_of(row) for row in rows]
    for row, function in zip(rows, functions, strict=True):
        out.count("dataset: unreadable", len(row["examples"]) - len(function.examples))
    found: list[dict[str, str]] = [{} for _ in functions]
    for source in sources:
        open_ = [i for i, calls in enumerate(found) if len(calls) < per_function]
        proposals = source.propose([functions[i] for i in open_], [per_function - len(found[i]) for i in open_], out)
        for i, calls in zip(open_, proposals, strict=True):
            _take(functions[i], calls, source.name, found[i], per_function, max_chars, out)
    for row, taken in zip(rows, found, strict=True):
        kept = {k: v for k, v in row.items() if k != "examples"}
        out.count("pairs", len(taken))
        if len(taken) < per_function:
            out.count(f"functions with fewer than {per_function} inputs")
        if taken:
            out.kept.append({**kept, "inputs": [{"call": c, "origin": o} for c, o in taken.items()]})
        else:
            out.drop({"id": row["id"]}, "no_input", "no source found a valid call")
    return out


def _take(
    function: Function,
    calls: Iterator[str],
    origin: str,
    found: dict[str, str],
    per_function: int,
    max_chars: int,
    out: Outcome,
) -> None:
    for call in calls:
        if len(found) == per_function:
            return
        try:
            text = render(function.entry, read_call(call, function))
        except LiteralError as error:
            out.count(f"{origin}: invalid ({str(error).partition(':')[0]})")
            continue
        if len(text) > max_chars:
            out.count(f"{origin}: call too long")
        elif text in found:
            out.count(f"{origin}: duplicate")
        else:
            found[text] = origin
            out.count(f"{origin}: kept")


def function_of(row: Row) -> Function:
    """What sources see of a row of the static filter."""
    tree = ast.parse(row["program"])
    node = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == row["entry"])
    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    parameters = {a.arg: ast.unparse(a.annotation) if a.annotation else "" for a in (*positional, *spec.kwonlyargs)}
    required = len(positional) - len(spec.defaults)
    bare = Function(row["id"], row["program"], row["entry"], parameters, required, ())
    examples = []
    for text in row["examples"]:
        try:
            examples.append(read_call(f"{row['entry']}({text})", bare))
        except LiteralError:
            continue  # counted by the step as unreadable
    return Function(row["id"], row["program"], row["entry"], parameters, required, tuple(examples))


def read_call(call: str, function: Function) -> tuple[object, ...]:
    """The argument values of a call, in the order of the parameters. Raises ``LiteralError`` saying what does not fit."""
    node = literals.parse_node(call)
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function.entry):
        raise LiteralError(f"not a call of the function: {function.entry}")
    names = list(function.parameters)
    given: dict[str, object] = {}
    if len(node.args) > len(names):
        raise LiteralError(f"too many arguments: {len(node.args)} for {len(names)}")
    for name, argument in zip(names, node.args, strict=False):
        given[name] = literals.from_node(argument, constructors=False)
    for keyword in node.keywords:
        if keyword.arg not in names or keyword.arg in given:
            raise LiteralError(f"unknown or doubled argument: {keyword.arg}")
        given[keyword.arg] = literals.from_node(keyword.value, constructors=False)
    if any(name not in given for name in names[: function.required]):
        raise LiteralError("missing arguments")
    for name, value in given.items():
        if not fits(value, function.parameters[name]):
            raise LiteralError(f"wrong type: {name} is no {function.parameters[name]}")
    ordered = [given[name] for name in names if name in given]
    if list(given) != names[: len(given)] and sorted(given) != sorted(names[: len(given)]):
        raise LiteralError("a gap in the arguments")
    return tuple(ordered)


def render(entry: str, values: Sequence[object]) -> str:
    """The call as text."""
    return f"{entry}({', '.join(literals.dump(value) for value in values)})"


def fits(value: object, hint: str) -> bool:
    """Whether a value has the annotated type; anything fits where the annotation is missing or not understood."""
    hint = hint.strip().strip("\"'")
    head, _, inner = hint.partition("[")
    inner = inner.removesuffix("]")
    match head:
        case "int":
            return type(value) is int
        case "float":
            return type(value) in (int, float)
        case "str":
            return type(value) is str
        case "bool":
            return type(value) is bool
        case "List" | "list":
            return type(value) is list and (not inner or all(fits(v, inner) for v in value))
        case "Optional":
            return value is None or fits(value, inner)
    return True


def make_sources(names: Sequence[str], seed: int, llm: Any, folder: Path) -> list[InputSource]:
    """The sources of those names, in that order. Raises ``ConfigError`` for an unknown or doubled name."""
    made: list[InputSource] = []
    for name in names:
        if name not in KNOWN or names.count(name) > 1:
            raise ConfigError(f"inputs.sources: {name!r} is unknown or named twice; sources: {', '.join(KNOWN)}")
        if name == "dataset":
            made.append(DatasetInputs())
        elif name == "mutate":
            from ct_train.data.mutate import MutatedInputs

            made.append(MutatedInputs(seed))
        else:
            from ct_train.data.llm_inputs import LlmInputs

            made.append(LlmInputs(llm, folder / "2_inputs.replies.jsonl"))
    if not made:
        raise ConfigError("inputs.sources is empty; name at least one of " + ", ".join(KNOWN))
    return made
