"""Whether a reading and a label give the same answer, by what kind of answer it is."""

from __future__ import annotations

import ast
import re
from typing import Any

from ct_tasks.benchmarks.base import Benchmark, Item
from ct_tasks.benchmarks.reval import flexible_state
from ct_tasks.contra import literals
from ct_tasks.contra.literals import LiteralError
from ct_tasks.paradigms import returns

_FENCE = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)


def same(benchmark: Benchmark, item: Item, reply: str, read: str, label: str) -> bool:
    """``read`` comes from the scorer, ``label`` from a person who read ``reply``."""
    if read.strip() == label.strip():
        return True
    if benchmark.name == "ct_reval_c":
        return read.strip().upper() == label.strip().upper()
    if benchmark.name == "ct_reval_p":
        lines = [line.strip() for line in str(benchmark.input(item).row["code"]).split("\n")]  # type: ignore[attr-defined]
        return "".join(_line(read, lines).split()) == "".join(_line(label, lines).split())
    if benchmark.name == "ct_reval_s":
        return _same_state(read, label)
    if benchmark.name == "ct_reval_co":
        return _same_test(read, label)
    if benchmark.domain == "math":
        from ct_tasks.benchmarks.math.child import shared_comparer

        return shared_comparer().compare_all([(label, read)])[0].verdict == "yes"
    if benchmark.domain == "codegen":
        return _definition(read, item) == _definition(_blocks(reply, label), item)
    if benchmark.domain == "input":
        return _call(read, item) == _call(label, item)
    return _value(read, label)


def _value(read: str, label: str) -> bool:
    try:
        return literals.same(literals.parse(read), literals.parse(label))
    except LiteralError:
        return False


def _call(text: str, item: Item) -> str:
    """The call with its arguments by name, so that ``f(x=1)`` is ``f(1)``."""
    node = _expression(text)
    if not isinstance(node, ast.Call):
        return text.strip()
    names = returns.parameters(str(item.data["code"]), str(item.data["entry"]))
    given = {**dict(zip(names, node.args, strict=False)), **{k.arg or "**": k.value for k in node.keywords}}
    more = [ast.dump(a) for a in node.args[len(names) :]]
    return repr([more, sorted((name, ast.dump(value)) for name, value in given.items())])


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _line(text: str, lines: list[str]) -> str:
    text = text.strip().strip("`").strip()
    number = re.match(r"(?:line\s+)?(\d+)(?:\b[:.\t ]|$)", text, re.IGNORECASE)
    if text not in lines and number and 0 < int(number[1]) <= len(lines):
        return lines[int(number[1]) - 1]
    return text


def _same_state(read: str, label: str) -> bool:
    """A label keeps the shape in which a reply was written (``8, int``, ``[8, int]``, ``8``): it is compared in the form that the
    question asks for. A literal without its type has its own."""
    if _state(read) == _state(label):
        return True
    formed = flexible_state.state(label, truncated=False)
    return isinstance(formed, str) and _state(read) == _state(formed)


def _state(text: str) -> tuple[str, str]:
    value, separator, kind = text.strip().rpartition(";")
    if not separator or value.strip().lower() == "nil":
        return (value.strip() or kind.strip()).lower(), ""
    kind = re.sub(r"^<class\s+|>$", "", kind.strip(" `'\".")).strip(" `'\"").lower()
    kind = {"string": "str", "integer": "int", "boolean": "bool", "dictionary": "dict", "none": "nonetype"}.get(kind, kind)
    value = value.strip()
    value = value.strip("`") if value.count("`") == 2 else value
    try:
        return literals.dump(literals.parse(value)), kind
    except LiteralError:
        return (repr(value) if kind == "str" else value), kind


def _same_test(read: str, label: str) -> bool:
    """A label is the whole completed test, its assertions alone, or the values that fill the gaps."""
    first, second = _statements(read), _statements(label)
    if first is None or second is None:
        return " ".join(read.split()) == " ".join(label.split())
    asserted = [[ast.dump(s) for s in part if _assertion(s)] for part in (first, second)]
    if not asserted[1]:
        values = [ast.dump(s.value) for s in second if isinstance(s, ast.Expr)]
        given = [ast.dump(a) for s in first if _assertion(s) for a in s.value.args]  # type: ignore[attr-defined]
        return [ast.dump(s) for s in first] == [ast.dump(s) for s in second] or (bool(values) and all(v in given for v in values))
    return bool(asserted[0]) and asserted[0] == asserted[1]


def _assertion(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))):
            return name.startswith("assert")
    return False


def _statements(text: str) -> list[ast.stmt] | None:
    try:
        return ast.parse(re.sub(r"^\s*```\w*\n|```\s*$", "", text).strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _blocks(reply: str, label: str) -> str:
    """The text of the blocks that a label names: ``2``, ``1,3``, ``all`` or ``text``; any other label is the program itself."""
    numbers = re.fullmatch(r"\s*\d+(?:\s*,\s*\d+)*\s*", label)
    if not numbers:
        return reply if label.strip() in ("all", "text") else label
    fences = [match[1] for match in _FENCE.finditer(reply)]
    wanted = [int(n) for n in label.split(",")]
    return "\n".join(fences[n - 1] for n in wanted if 0 < n <= len(fences))


def _definition(text: str, item: Item) -> Any:
    """The last definition of what the item asks for; the whole program where it reads standard input."""
    entry = str(item.data.get("entry_point") or "").rpartition(".")[2]
    tree = _module(text)
    if tree is None:
        return " ".join(text.split())
    named = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name == entry]
    return ast.dump(named[-1]) if named else ast.dump(tree)


def _module(text: str) -> ast.Module | None:
    """The longest run of lines that is Python, from the first line that begins one."""
    lines = text.split("\n")
    for begin in range(min(len(lines), 40)):
        for end in range(len(lines), max(begin, len(lines) - 40), -1):
            try:
                return ast.parse("\n".join(lines[begin:end]))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
    return None
