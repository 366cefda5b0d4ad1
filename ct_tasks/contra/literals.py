"""Values as text, both ways, without ever running anything.

A value that a model wrote is read from its syntax tree: literals, and a closed list of constructors. A value that a
program computed is first made *plain* (built-in types only) and then dumped as text that reads back as the same value.
Equality is typed (spec section 2): ``True`` is not ``1``, ``1`` is not ``1.0``, ``(1,)`` is not ``[1]``, ``nan`` is ``nan``.
"""

from __future__ import annotations

import ast
import math
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Final, Literal

MAX_TEXT: Final = 200_000  # characters of one literal: a syntax tree costs about 500 bytes a character at worst
MAX_DEPTH: Final = 80  # nesting; CPython's own parser gives up at 100 to 200, depending on the version
MAX_INT_BITS: Final = 14_000  # just under the 4,300 digits that int() reads back
MAX_RANGE: Final = 100_000  # elements that range(...) may stand for

Containers = Literal["literal", "drop"]


class LiteralError(ValueError):
    """The text is not one literal value, or the value has no literal text."""


class _Omit:
    __slots__ = ()

    def __repr__(self) -> str:
        return "OMIT"


OMIT: Final = _Omit()
"""What ``plain`` returns for a value that no literal expresses."""


def parse(text: str, *, constructors: bool = True) -> object:
    """Read one value. ``constructors=False`` admits only what LOCALS may hold: literals, ``set()``, ``frozenset``,
    ``float('inf')`` and the like, but no other call. Raises ``LiteralError``; never executes, never recurses deeply,
    and takes time linear in the text."""
    return from_node(parse_node(text), constructors=constructors)


def parse_node(text: str) -> ast.expr:
    """The syntax tree of one expression, after the cheap checks that keep the parser safe. Raises ``LiteralError``."""
    text = text.strip()
    guard(text)
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise LiteralError(f"not an expression: {error}") from None


def guard(text: str) -> None:
    """Refuse a text that is too long or too deeply nested to hand to the parser. Raises ``LiteralError``."""
    if len(text) > MAX_TEXT:
        raise LiteralError(f"literal of {len(text)} characters; the limit is {MAX_TEXT}")
    brackets = text.count("[") + text.count("(") + text.count("{")
    signs = text.count("+") + text.count("-") + text.count("~")
    if brackets <= MAX_DEPTH * 2 and signs <= MAX_DEPTH:
        return  # nearly every text: too few of either to nest deeply
    depth = run = 0
    for char in text:
        if char in "([{":
            depth += 1
            if depth > MAX_DEPTH * 2:
                raise LiteralError(f"brackets nested deeper than {MAX_DEPTH * 2}")
        elif char in ")]}":
            depth -= 1
        run = run + 1 if char in "+-~" else (run if char.isspace() else 0)
        if run > MAX_DEPTH:
            raise LiteralError("a long run of unary operators")


def from_node(node: ast.expr, *, constructors: bool = True) -> object:
    """The value of a literal syntax tree. Raises ``LiteralError`` for anything else."""
    try:
        return _Reader(constructors).read(node)
    except LiteralError:
        raise
    except (TypeError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise LiteralError(f"not a literal: {error}") from None


class _Reader:
    def __init__(self, constructors: bool) -> None:
        self.constructors = constructors

    def read(self, node: ast.expr) -> object:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.List(elts=elts):
                return [self.read(e) for e in elts]
            case ast.Tuple(elts=elts):
                return tuple(self.read(e) for e in elts)
            case ast.Set(elts=elts):
                return {self._hashable(e) for e in elts}
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                return {self._hashable(k): self.read(v) for k, v in pairs}
            case ast.UnaryOp(op=ast.UAdd() | ast.USub() as op, operand=operand):
                return self._signed(op, self.read(operand))
            case ast.BinOp(
                left=left, op=ast.Add() | ast.Sub() as sign, right=ast.Constant(value=complex() as imaginary)
            ):
                real = self.read(left)
                if type(real) not in (int, float):
                    raise LiteralError("not a complex number")
                return real + imaginary if isinstance(sign, ast.Add) else real - imaginary  # type: ignore[operator]
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
                return self._construct(name, args, keywords)
            case ast.Name(id="inf" | "nan" as name) if self.constructors:
                return float(name)
        raise LiteralError(f"{type(node).__name__} is not part of a literal")

    def _hashable(self, node: ast.expr | None) -> Hashable:
        if node is None:
            raise LiteralError("** is not part of a literal")
        value = self.read(node)
        hash(value)
        return value

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
        return allowed[name](*[self.read(a) for a in args], **named)


def _special_float(text: object = 0.0) -> float:
    if isinstance(text, str) and text.strip().lower().lstrip("+-") in ("inf", "infinity", "nan"):
        return float(text)
    if type(text) in (int, float):
        return float(text)  # type: ignore[arg-type]
    raise LiteralError("float(...) of something other than inf, -inf, nan or a number")


def _sized_range(*args: Any) -> list[int]:
    values = range(*args)
    if len(values) > MAX_RANGE:
        raise LiteralError(f"range of {len(values)} elements; the limit is {MAX_RANGE}")
    return list(values)


def _elements(value: object = ()) -> Iterable[Any]:
    if type(value) not in (list, tuple, set, frozenset, dict, str):
        raise LiteralError("a container built from something that is not a container")
    return value  # type: ignore[return-value]


def _frozenset(value: object = ()) -> frozenset[Any]:
    return frozenset(_elements(value))


def _mapping(value: object = (), **named: Any) -> dict[Any, Any]:
    return dict(_elements(value), **named)


_LOCALS_CONSTRUCTORS: dict[str, Callable[..., object]] = {
    "set": lambda: set(),
    "frozenset": _frozenset,
    "float": _special_float,
}
_CONSTRUCTORS: dict[str, Callable[..., object]] = {
    **_LOCALS_CONSTRUCTORS,
    "set": lambda value=(): set(_elements(value)),
    "list": lambda value=(): list(_elements(value)),
    "tuple": lambda value=(): tuple(_elements(value)),
    "deque": lambda value=(): list(_elements(value)),
    "dict": _mapping,
    "OrderedDict": lambda value=(): dict(_elements(value)),
    "Counter": lambda value=(): dict(Counter(_elements(value))),
    "defaultdict": lambda value=(): dict(_elements(value)),
    "range": _sized_range,
}


def plain(value: object, containers: Containers = "literal", *, budget: int = 1_000_000) -> object:
    """A copy of ``value`` made of built-in types only, or ``OMIT`` where no literal expresses it.

    ``containers="literal"`` writes the standard library's containers as their plain literal (``defaultdict``,
    ``Counter``, ``OrderedDict`` as dict, ``deque`` and ``range`` as list, ``namedtuple`` as tuple); ``"drop"`` omits
    them. Only exact built-in types are looked into, through their own C methods, so no method that the traced program
    defined ever runs. Raises ``LiteralError`` when more than ``budget`` values would be copied.
    """
    return Copier(containers == "literal", budget).copy(value, 0)


_ATOMS = (int, float, bool, str, bytes, complex, type(None), type(...))
_DICTS = (defaultdict, Counter, OrderedDict)


class Copier:
    """Makes plain copies until ``left`` values are used up; one copier can serve many values that share a budget."""

    def __init__(self, widen: bool, budget: int) -> None:
        self.widen, self.left = widen, budget

    def copy(self, value: object, depth: int) -> object:
        self.left -= 1
        if self.left < 0:
            raise LiteralError("value too large to record")
        kind = type(value)
        if kind in _ATOMS:
            return value if kind is not int or int.bit_length(value) <= MAX_INT_BITS else OMIT  # type: ignore[arg-type]
        if depth >= MAX_DEPTH:
            return OMIT  # too deep for any parser, or a container that holds itself
        if kind is dict or (self.widen and kind in _DICTS):
            return self._dict(value, depth)  # type: ignore[arg-type]
        if kind is range and self.widen:
            if len(value) > self.left:  # type: ignore[arg-type]
                raise LiteralError("value too large to record")
            self.left -= len(value)  # type: ignore[arg-type]
            return list(value)  # type: ignore[call-overload]
        if kind in (list, tuple, set, frozenset) or (self.widen and (kind is deque or _is_namedtuple(kind))):
            return self._sequence(value, kind, depth)
        return OMIT

    def _dict(self, value: dict[Any, Any], depth: int) -> object:
        copied = {}
        for key, item in dict.items(value):
            plain_key, plain_item = self.copy(key, depth + 1), self.copy(item, depth + 1)
            if plain_key is OMIT or plain_item is OMIT:
                return OMIT
            copied[plain_key] = plain_item
        return copied

    def _sequence(self, value: Any, kind: type, depth: int) -> object:
        elements = tuple.__iter__(value) if issubclass(kind, tuple) else iter(value)
        copied = []
        for element in elements:
            item = self.copy(element, depth + 1)
            if item is OMIT:
                return OMIT
            copied.append(item)
        if kind is set:
            return set(copied)
        if kind is frozenset:
            return frozenset(copied)
        return tuple(copied) if issubclass(kind, tuple) else copied


def _is_namedtuple(kind: type) -> bool:
    fields = type.__getattribute__(kind, "__dict__").get("_fields")
    return type.__getattribute__(kind, "__bases__") == (tuple,) and type(fields) is tuple


def dump(value: object) -> str:
    """The literal text of a plain value; ``parse(dump(v))`` is ``v`` again, typed. Sets are written in a fixed order.

    Raises ``LiteralError`` where there is no such text (use ``plain`` first for values that a program computed).
    """
    kind = type(value)
    if kind is float:
        return repr(value) if math.isfinite(value) else f"float('{value}')"  # type: ignore[arg-type]
    if kind is complex:
        if not (math.isfinite(value.real) and math.isfinite(value.imag)):  # type: ignore[attr-defined]
            raise LiteralError("a complex number with a part that is not finite has no literal")
        return repr(value)
    if kind is int and int.bit_length(value) > MAX_INT_BITS:  # type: ignore[arg-type]
        raise LiteralError("integer too large for a literal")
    if kind in _ATOMS:
        return "..." if value is ... else repr(value)
    if kind is list:
        return "[" + ", ".join(map(dump, value)) + "]"  # type: ignore[call-overload]
    if kind is tuple:
        parts = [dump(v) for v in value]  # type: ignore[attr-defined]
        return f"({parts[0]},)" if len(parts) == 1 else "(" + ", ".join(parts) + ")"
    if kind is dict:
        return "{" + ", ".join(f"{dump(k)}: {dump(v)}" for k, v in value.items()) + "}"  # type: ignore[attr-defined]
    if kind in (set, frozenset):
        parts = [dump(v) for v in ordered(value)]  # type: ignore[arg-type]
        braces = "{" + ", ".join(parts) + "}" if parts else ""
        return (braces or "set()") if kind is set else f"frozenset({braces})"
    raise LiteralError(f"a {kind.__name__} has no literal")


def ordered(values: Iterable[object]) -> list[object]:
    """Elements of a set in an order that does not depend on the hash seed: numbers by value, the rest by text."""
    return sorted(values, key=lambda v: (type(v).__name__, v if type(v) in (int, float, str) else 0, dump(v)))


def same(left: object, right: object) -> bool:
    """Typed equality of two plain values (spec section 2); dicts and sets without regard to order; linear time."""
    try:
        return _canonical(left) == _canonical(right)
    except RecursionError:
        return False


def _canonical(value: object) -> Hashable:
    kind = type(value)
    if kind is float:
        return ("float", "nan") if value != value else ("float", value)
    if kind is complex:
        return ("complex", _canonical(value.real), _canonical(value.imag))  # type: ignore[attr-defined]
    if kind in (list, tuple):
        return (kind.__name__, tuple(_canonical(v) for v in value))  # type: ignore[attr-defined]
    if kind in (set, frozenset):
        return (kind.__name__, frozenset(_canonical(v) for v in value))  # type: ignore[attr-defined]
    if kind is dict:
        return ("dict", frozenset((_canonical(k), _canonical(v)) for k, v in value.items()))  # type: ignore[attr-defined]
    if kind in _ATOMS:
        return (kind.__name__, value)
    return ("object", id(value))
