"""Plain copies of what a program computed: built-in types only, made without running anything that the program defined.

Types are compared by identity and looked into through their own C slots, because ``==`` on a type calls its metaclass, and
so would an attribute of it.
"""

from __future__ import annotations

import math
from builtins import (  # noqa: UP029 - names of our own, which a program that patches the built-ins does not reach
    any,
    bool,
    bytes,
    complex,
    dict,
    float,
    frozenset,
    id,
    int,
    issubclass,
    iter,
    len,
    list,
    max,
    range,
    set,
    str,
    tuple,
    type,
)  # fmt: skip
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any, Final, Literal

from ct_tasks.contra.guard import MAX_DEPTH, LiteralError

MAX_INT_BITS: Final = 14_000  # just under the 4,300 digits that int() reads back

Containers = Literal["literal", "drop"]


class _Omit:
    __slots__ = ()

    def __repr__(self) -> str:
        return "OMIT"


OMIT: Final = _Omit()
"""What ``plain`` returns for a value that no literal expresses."""


def plain(value: object, containers: Containers = "literal", *, budget: int = 1_000_000) -> object:
    """A copy of ``value`` made of built-in types only, or ``OMIT`` where no literal expresses it.

    ``containers="literal"`` writes the standard library's containers as their plain literal (``defaultdict``,
    ``Counter``, ``OrderedDict`` as dict, ``deque`` and ``range`` as list, ``namedtuple`` as tuple); ``"drop"`` omits
    them. Without a literal are: objects, integers above ``MAX_INT_BITS``, complex numbers that are not finite, containers
    that hold themselves or nest deeper than ``MAX_DEPTH``, and a ``range`` as a key or in a set (as a list it cannot stand
    there). Only exact built-in types are looked into, through their own C methods, so no method that the traced program
    defined ever runs. Raises ``LiteralError`` when more than ``budget`` values would be copied, long texts and numbers
    counting as several.
    """
    return Copier(containers == "literal", budget).copy(value, 0)


def _ids(*kinds: type) -> frozenset[int]:
    return frozenset(map(id, kinds))


_ATOMS: Final = _ids(float, bool, str, bytes, type(None), type(...))
_SEQUENCES: Final = _ids(list, tuple, set, frozenset)
_MAPPINGS: Final = _ids(defaultdict, Counter, OrderedDict)
_NAMESPACE: Final = type.__dict__["__dict__"]  # these are the slots themselves, past any override in a metaclass
_BASES: Final = type.__dict__["__bases__"]
_NAME: Final = type.__dict__["__name__"]


class Copier:
    """Makes plain copies until ``left`` values are used up; one copier can serve many values that share a budget."""

    def __init__(self, widen: bool, budget: int) -> None:
        self.widen, self.left = widen, budget
        self.inside: set[int] = set()  # the containers around the value that is being copied

    def copy(self, value: object, depth: int) -> object:
        self.left -= 1
        if self.left < 0:
            raise LiteralError("value too large to record")
        kind = type(value)
        if id(kind) in _ATOMS:
            if kind is str or kind is bytes:
                self.left -= len(value) >> 6  # type: ignore[arg-type]  # what is long to write is no single value
            return value
        if kind is int:
            bits = int.bit_length(value)  # type: ignore[arg-type]
            if bits > MAX_INT_BITS:
                return OMIT
            self.left -= bits >> 7
            return value
        if kind is complex:
            return value if math.isfinite(value.real) and math.isfinite(value.imag) else OMIT  # type: ignore[attr-defined]
        if depth >= MAX_DEPTH or id(value) in self.inside:
            return OMIT
        self.inside.add(id(value))
        try:
            return self._container(value, kind, depth)
        finally:
            self.inside.discard(id(value))

    def _container(self, value: Any, kind: type, depth: int) -> object:
        if kind is dict or (self.widen and id(kind) in _MAPPINGS):
            return self._dict(value, depth)
        if id(kind) in _SEQUENCES or (self.widen and (kind is deque or _is_namedtuple(kind))):
            return self._sequence(value, kind, depth)
        if kind is range and self.widen:
            numbers = max(0, -((value.start - value.stop) // value.step))  # len() has no number for the longest
            if numbers > self.left:
                raise LiteralError("value too large to record")
            self.left -= numbers
            return list(value)
        return OMIT

    def _dict(self, value: dict[Any, Any], depth: int) -> object:
        copied = {}
        for key, item in dict.items(value):
            plain_key, plain_item = self.copy(key, depth + 1), self.copy(item, depth + 1)
            if plain_key is OMIT or plain_item is OMIT:
                return OMIT
            try:
                copied[plain_key] = plain_item
            except TypeError:  # a key that held a range is a list now, which has no hash
                return OMIT
        return copied

    def _sequence(self, value: Any, kind: type, depth: int) -> object:
        elements = tuple.__iter__(value) if issubclass(kind, tuple) else iter(value)
        copied = []
        for element in elements:
            item = self.copy(element, depth + 1)
            if item is OMIT:
                return OMIT
            copied.append(item)
        try:
            if kind is set:
                return set(copied)
            if kind is frozenset:
                return frozenset(copied)
        except TypeError:
            return OMIT
        return tuple(copied) if issubclass(kind, tuple) else copied


def _is_namedtuple(kind: type) -> bool:
    bases = _BASES.__get__(kind)
    if len(bases) != 1 or bases[0] is not tuple:
        return False
    # Looking a name up would compare it with keys of the program's own making.
    return any(
        type(key) is str and key == "_fields" and type(held) is tuple for key, held in _NAMESPACE.__get__(kind).items()
    )


def type_name(value: object) -> str:
    """The name of a value's type for a message, without asking its metaclass."""
    name = _NAME.__get__(type(value))
    return name if type(name) is str else "object"
