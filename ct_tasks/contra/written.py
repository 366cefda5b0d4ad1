"""The text of a plain value, and typed equality of two of them, both in time linear in the values (sets are sorted once)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

from ct_tasks.contra.guard import LiteralError
from ct_tasks.contra.plain import MAX_INT_BITS, type_name

MAX_WRITTEN: Final = 1_000_000  # values in one text


def dump(value: object) -> str:
    """The literal text of a plain value; ``parse(dump(v))`` is ``v`` again, typed. Sets are written in a fixed order.

    Raises ``LiteralError`` where there is no such text (use ``plain`` first for values that a program computed), or where
    more than ``MAX_WRITTEN`` values would be written or they nest too deeply.
    """
    try:
        return _Writer().text(value)
    except (RecursionError, MemoryError):
        raise LiteralError("value too large or too deeply nested to be written") from None


def ordered(values: Iterable[object]) -> list[object]:
    """Elements of a set in an order that does not depend on the hash seed: numbers by value, the rest by text."""
    return [value for value, _ in _in_order(values, dump)]


def _in_order(values: Iterable[object], text: Any) -> list[tuple[object, str]]:
    pairs = [(value, text(value)) for value in values]
    pairs.sort(key=_rank)
    return pairs


def _rank(pair: tuple[Any, str]) -> tuple[str, bool, Any, str]:
    value, text = pair
    nan = type(value) is float and value != value  # it would compare as neither less nor greater
    return type(value).__name__, nan, value if type(value) in (int, float, str) and not nan else 0, text


class _Writer:
    def __init__(self) -> None:
        self.left = MAX_WRITTEN

    def text(self, value: Any) -> str:
        self.left -= 1
        if self.left < 0:
            raise LiteralError(f"more than {MAX_WRITTEN} values to write")
        kind = type(value)
        if kind is str or kind is bool or kind is bytes or value is None:
            return repr(value)
        if kind is int:
            if value.bit_length() > MAX_INT_BITS:
                raise LiteralError("integer too large for a literal")
            return repr(value)
        if kind is list:
            return "[" + ", ".join(map(self.text, value)) + "]"
        if kind is tuple:
            parts = list(map(self.text, value))
            return f"({parts[0]},)" if len(parts) == 1 else "(" + ", ".join(parts) + ")"
        if kind is dict:
            return "{" + ", ".join([f"{self.text(k)}: {self.text(v)}" for k, v in value.items()]) + "}"
        return self._rare(value, kind)

    def _rare(self, value: Any, kind: type) -> str:
        if kind is float:
            return repr(value) if math.isfinite(value) else f"float('{value}')"
        if kind is set or kind is frozenset:
            parts = [text for _, text in _in_order(value, self.text)]
            braces = "{" + ", ".join(parts) + "}" if parts else ""
            return (braces or "set()") if kind is set else f"frozenset({braces})"
        if kind is complex:
            if not (math.isfinite(value.real) and math.isfinite(value.imag)):
                raise LiteralError("a complex number with a part that is not finite has no literal")
            return repr(value)
        if value is ...:
            return "..."
        raise LiteralError(f"a {type_name(value)} has no literal")


def same(left: object, right: object) -> bool:
    """Typed equality of two plain values (spec section 2); dicts and sets without regard to order. ``0.0`` is ``-0.0``.

    Values nested too deeply to compare are not the same.
    """
    try:
        return _same(left, right)
    except RecursionError:
        return False


def _same(left: Any, right: Any) -> bool:
    if left is right:
        return True
    kind = type(left)
    if kind is not type(right):
        return False
    if kind is str or kind is int or kind is bool or kind is bytes:
        return bool(left == right)
    if kind is float:
        return bool(left == right or (left != left and right != right))
    if kind is list or kind is tuple:
        return len(left) == len(right) and all(map(_same, left, right))
    if kind is dict:
        return len(left) == len(right) and _same_items(left, right)
    if kind is set or kind is frozenset:
        return len(left) == len(right) and sorted(map(_typed, left)) == sorted(map(_typed, right))
    if kind is complex:
        return _same(left.real, right.real) and _same(left.imag, right.imag)
    return False


def _same_items(left: dict[Any, Any], right: dict[Any, Any]) -> bool:
    if all(type(key) is str for key in left):  # equal to no key of another type
        return all(key in right and _same(value, right[key]) for key, value in left.items())
    mine = sorted((_typed(key), _typed(value)) for key, value in left.items())
    return mine == sorted((_typed(key), _typed(value)) for key, value in right.items())


def _typed(value: Any) -> str:
    """A text that two values share exactly when they are the same. Not their hash, which can be made to collide."""
    kind = type(value)
    if kind is float:
        return repr(value + 0.0)  # -0.0 becomes 0.0
    if kind is int:
        return hex(value)  # linear, unlike decimal digits
    if kind is complex:
        return f"complex({_typed(value.real)}, {_typed(value.imag)})"
    if kind is list or kind is tuple:
        return f"{kind.__name__}[{', '.join(map(_typed, value))}]"
    if kind is set or kind is frozenset:
        return f"{kind.__name__}[{', '.join(sorted(map(_typed, value)))}]"
    if kind is dict:
        return f"{{{', '.join(sorted([f'{_typed(k)}: {_typed(v)}' for k, v in value.items()]))}}}"
    if kind is str or kind is bytes or kind is bool or value is None or value is ...:
        return repr(value)
    return f"<{id(value)}>"
