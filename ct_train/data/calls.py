"""A function to find inputs for, and its calls as text: what the step and every source of inputs share."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ct_tasks.contra import literals
from ct_tasks.contra.literals import LiteralError
from ct_train.data.steps import Outcome, Row


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
