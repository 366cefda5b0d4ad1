"""Values as text, both ways, without ever running anything.

A value that a model wrote is read from its syntax tree: literals, and a closed list of constructors. A value that a
program computed is first made *plain* (``plain.py``: built-in types only) and then dumped as text that reads back as the
same value. Equality is typed (spec section 2): ``True`` is not ``1``, ``1`` is not ``1.0``, ``(1,)`` is not ``[1]``,
``nan`` is ``nan``.

Every operation has a budget, and is over it only with a ``LiteralError``: a text its length, depth and number of elements
(``guard.py``), a constructor the elements that it makes, a set or dict its hash collisions, a value what is written of it.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, Final

from ct_tasks.contra.guard import MAX_DEPTH, MAX_TEXT, LiteralError, guard
from ct_tasks.contra.plain import MAX_INT_BITS, OMIT, Containers, Copier, plain, type_name
from ct_tasks.contra.written import dump, ordered, same

__all__ = [
    "MAX_DEPTH", "MAX_INT_BITS", "MAX_MADE", "MAX_TEXT", "OMIT", "Containers", "Copier", "LiteralError", "dump",
    "from_node", "guard", "ordered", "parse", "parse_node", "plain", "same", "segment", "type_name",
]  # fmt: skip

MAX_MADE: Final = 250_000  # elements that all constructors of one text may make: range(...), list('...'), nested ones
_CONTAINERS: Final = (list, tuple, set, frozenset, dict, str)
MAX_COLLISIONS: Final = 64  # different keys of one hash in one set or dict; more are chosen to make it slow


def parse(text: str, *, constructors: bool = True) -> object:
    """Read one value. ``constructors=False`` admits only what LOCALS may hold: literals, ``set()``, ``frozenset``,
    ``float('inf')`` and the like, but no other call. Raises ``LiteralError``; never executes, never recurses deeply,
    and takes time and memory linear in the text."""
    return from_node(parse_node(text), constructors=constructors)


def parse_node(text: str) -> ast.expr:
    """The syntax tree of one expression, after the cheap checks that keep the parser safe. Raises ``LiteralError``."""
    text = text.strip()
    guard(text)
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise LiteralError(f"not an expression: {error}") from None


def from_node(node: ast.expr, *, constructors: bool = True) -> object:
    """The value of a literal syntax tree. Raises ``LiteralError`` for anything else."""
    try:
        return _Reader(constructors).read(node)
    except LiteralError:
        raise
    except (TypeError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise LiteralError(f"not a literal: {error}") from None


def segment(text: str, node: ast.expr) -> str:
    """The source of a node of ``text``'s tree, with the brackets that belong to it (a tuple's own, but not those put around a
    value). As ``ast.get_source_segment``, which goes through all of the text one character at a time for each node."""
    lines, last = _lines(text), (node.end_lineno or 1) - 1
    first = node.lineno - 1
    parts = [lines[first].encode()[node.col_offset :], *(line.encode() for line in lines[first + 1 : last + 1])]
    parts[-1] = parts[-1][: (node.end_col_offset or 0) - (node.col_offset if first == last else 0)]
    return b"".join(parts).decode()


@lru_cache(maxsize=4)
def _lines(text: str) -> list[str]:
    """Lines as Python's parser counts them: a form feed ends none, nor does any of Unicode's own line ends."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)


class _Reader:
    def __init__(self, constructors: bool) -> None:
        self.constructors = constructors
        self.left = MAX_MADE

    def read(self, node: ast.expr) -> object:
        match node:
            case ast.Constant(value=value):
                if type(value) is int and value.bit_length() > MAX_INT_BITS:
                    raise LiteralError("integer too large for a literal")
                return value
            case ast.List(elts=elts):
                return [self.read(e) for e in elts]
            case ast.Tuple(elts=elts):
                return tuple([self.read(e) for e in elts])
            case ast.Set(elts=elts):
                return set(_hashable([self.read(e) for e in elts]))
            case ast.Dict(keys=keys, values=values):
                return dict(zip(_hashable([self._key(k) for k in keys]), map(self.read, values), strict=True))
            case ast.UnaryOp(op=ast.UAdd() | ast.USub() as op, operand=operand):
                return self._signed(op, self.read(operand))
            case ast.BinOp(
                left=left, op=ast.Add() | ast.Sub() as sign, right=ast.Constant(value=complex() as imaginary)
            ) if not isinstance(left, ast.BinOp):
                real = self.read(left)
                if type(real) not in (int, float):
                    raise LiteralError("not a complex number")
                return real + imaginary if isinstance(sign, ast.Add) else real - imaginary  # type: ignore[operator]
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
                return self._construct(name, args, keywords)
            case ast.Name(id="inf" | "nan" as name) if self.constructors:
                return float(name)
        raise LiteralError(f"{type(node).__name__} is not part of a literal")

    def _key(self, node: ast.expr | None) -> object:
        if node is None:
            raise LiteralError("** is not part of a literal")
        return self.read(node)

    @staticmethod
    def _signed(op: ast.unaryop, value: object) -> object:
        if type(value) not in (int, float, complex):
            raise LiteralError("a sign before something that is not a number")
        return +value if isinstance(op, ast.UAdd) else -value  # type: ignore[operator]

    def _construct(self, name: str, args: list[ast.expr], keywords: list[ast.keyword]) -> object:
        allowed = _CONSTRUCTORS if self.constructors else _LOCALS_CONSTRUCTORS
        if name not in allowed:
            raise LiteralError(f"{name}(...) is not part of a literal")
        if keywords and name != "dict":
            raise LiteralError(f"{name}(...) takes no keywords here")
        named = {}
        for keyword in keywords:
            if keyword.arg is None:
                raise LiteralError("** is not part of a literal")
            named[keyword.arg] = self.read(keyword.value)
        if name == "defaultdict":  # its first argument is a factory, which is a name
            args = args[1:]
        given: list[Any] = [self.read(a) for a in args]
        if name == "range":
            given = [range(*given)]
        self._spend(sum(len(value) for value in given if isinstance(value, (*_CONTAINERS, range))))
        return allowed[name](*given, **named)

    def _spend(self, elements: int) -> None:
        self.left -= elements
        if self.left < 0:
            raise LiteralError(f"constructors of more than {MAX_MADE} elements")


def _hashable(keys: Sequence[object]) -> Sequence[Hashable]:
    """``keys``, of which no more than ``MAX_COLLISIONS`` different ones share a hash: those would make a set or dict take
    quadratic time. Raises ``LiteralError``, or ``TypeError`` for a key without a hash."""
    if len(keys) > MAX_COLLISIONS:
        shared = {found for found, count in Counter(map(hash, keys)).items() if count > MAX_COLLISIONS}
        groups: dict[int, set[str]] = {}
        for key in keys if shared else ():
            if (found := hash(key)) in shared:
                groups.setdefault(found, set()).add(dump(key))
        if any(len(texts) > MAX_COLLISIONS for texts in groups.values()):
            raise LiteralError(f"more than {MAX_COLLISIONS} different keys with one hash")
    return keys


def _special_float(text: object = 0.0) -> float:
    if isinstance(text, str) and text.strip().lower().lstrip("+-") in ("inf", "infinity", "nan"):
        return float(text)
    if type(text) in (int, float):
        return float(text)  # type: ignore[arg-type]
    raise LiteralError("float(...) of something other than inf, -inf, nan or a number")


def _elements(value: Any = ()) -> list[Any]:
    if type(value) not in (*_CONTAINERS, range):
        raise LiteralError("a container built from something that is not a container")
    return list(value)


def _pairs(value: object = ()) -> dict[Any, Any]:
    if type(value) is dict:
        return dict(value)
    pairs = [_elements(pair) for pair in _elements(value)]
    return dict(zip(_hashable([key for key, _ in pairs]), [item for _, item in pairs], strict=True))


def _count(value: object = ()) -> dict[Any, Any]:
    return dict(value) if type(value) is dict else dict(Counter(_hashable(_elements(value))))


_LOCALS_CONSTRUCTORS: dict[str, Callable[..., object]] = {
    "set": lambda: set(),
    "frozenset": lambda value=(): frozenset(_hashable(_elements(value))),
    "float": _special_float,
}
_CONSTRUCTORS: dict[str, Callable[..., object]] = {
    **_LOCALS_CONSTRUCTORS,
    "set": lambda value=(): set(_hashable(_elements(value))),
    "list": _elements,
    "tuple": lambda value=(): tuple(_elements(value)),
    "deque": _elements,
    "dict": lambda value=(), /, **named: _pairs(value) | named,
    "OrderedDict": _pairs,
    "Counter": _count,
    "defaultdict": _pairs,
    "range": _elements,  # the list that was made of it
}
