"""Values on their way between the sandbox and the scorer: a closed, typed JSON spelling, and how outputs are compared.

A candidate's outputs leave the sandbox as text in this spelling and are compared here, where its code never runs. What
the spelling cannot express is *opaque*: equal to nothing.

Equality of the strict verdict: containers by kind (a list is not a tuple), booleans only with booleans, strings as they
are; an ``int`` and a ``float`` of the same value are the same number (the benchmarks' own asserts use ``==`` and their
statements seldom say which); floats within the tolerance, each value with its own; integers exactly; ``nan`` is ``nan``.
"""

from __future__ import annotations

import hashlib
import json
import marshal
import math
from typing import Any, Final

RTOL: Final = 1e-7  # as numpy.testing.assert_allclose, and so evalplus
DEFAULT_ATOL: Final = 1e-6
MAX_PARTS: Final = 100_000  # elements, at all depths
MAX_TEXT: Final = 50_000  # characters; a longer value travels, and is compared, as its digest
_MAX_JSON_INT: Final = 1 << 62


class Opaque:
    """A value without a spelling. Equal to nothing, itself included; true, so that ``is not None`` tests work."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<{self.kind}>"


class _TooLarge(Exception):
    """The value has more parts than a spelling may have."""


class _Count:
    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MAX_PARTS


def encode(value: Any, depth: int = 0, count: _Count | None = None) -> Any:
    """The JSON-able spelling. Subclasses of dict, tuple, str, int and float count as their base, as ``==`` treats them.

    The base class's own methods read the value, so nothing that a program defined runs here.
    """
    count = count or _Count()
    count.left -= 1
    if count.left < 0:
        raise _TooLarge
    kind = type(value)
    if kind is bool or value is None or kind is str or kind is float:
        return value
    if kind is int:
        return value if -_MAX_JSON_INT < value < _MAX_JSON_INT else {"i": hex(value)}
    if depth > 200:
        return {"o": "nested too deeply"}
    if kind is list:
        return [encode(item, depth + 1, count) for item in value]
    if isinstance(value, tuple):
        return {"t": [encode(item, depth + 1, count) for item in tuple.__iter__(value)]}
    if isinstance(value, dict):
        return {"d": [[encode(k, depth + 1, count), encode(v, depth + 1, count)] for k, v in dict.items(value)]}
    if kind is set or kind is frozenset:
        return {"s": sorted((encode(item, depth + 1, count) for item in value), key=json.dumps)}
    if kind is complex:
        return {"c": [value.real, value.imag]}
    if kind is bytes or kind is bytearray:
        return {"b": bytes(value).hex()}
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return encode(int.__add__(value, 0), depth, count)
    if isinstance(value, float):
        return float.__add__(value, 0.0)
    if kind.__module__ == "numpy" and getattr(value, "shape", None) == ():
        return encode(value.item(), depth + 1, count)
    return {"o": f"{kind.__module__}.{kind.__qualname__}"[:200]}


def dump(value: Any) -> str:
    """The spelling as text; the same text means the same typed value, unless it holds an opaque one.

    A value of more than ``MAX_TEXT`` characters becomes a digest: such a value is right only when it is the very same.
    """
    try:
        text = json.dumps(encode(value), separators=(",", ":"))
    except _TooLarge:
        return _digest(value)
    except (RecursionError, ValueError, TypeError):
        return '{"o":"not expressible"}'
    if len(text) > MAX_TEXT and not has_opaque(text):
        return json.dumps({"h": f"{hashlib.sha256(text.encode()).hexdigest()} of {len(text)} characters"})
    return text


def _digest(value: Any) -> str:
    """A digest of a very large value, taken a thousand elements at a time: it may fill most of the memory by itself.

    ``marshal`` version 2 writes by value and type, never by identity; it knows no subclasses, which are opaque here.
    """
    digest = hashlib.sha256(type(value).__name__.encode())
    try:
        if type(value) in (list, tuple):
            for start in range(0, len(value), 1000):
                digest.update(marshal.dumps(value[start:start + 1000], 2))
        else:
            digest.update(marshal.dumps(value if type(value) is not set else sorted(value), 2))
    except (ValueError, TypeError):
        return '{"o":"not expressible"}'
    return json.dumps({"h": f"{digest.hexdigest()} of a large {type(value).__name__}"})


def decode(spelling: Any) -> Any:
    """The value of a spelling; opaque parts are ``Opaque`` objects."""
    if isinstance(spelling, list):
        return [decode(item) for item in spelling]
    if not isinstance(spelling, dict):
        return spelling
    ((tag, body),) = spelling.items()
    match tag:
        case "i":
            return int(body, 16)
        case "t":
            return tuple(decode(item) for item in body)
        case "d":
            return {_key(decode(k)): decode(v) for k, v in body}
        case "s":
            return {_key(decode(item)) for item in body}
        case "c":
            return complex(*body)
        case "b":
            return bytes.fromhex(body)
        case _:
            return Opaque(str(body))


def _key(value: Any) -> Any:
    """Keys are hashable by construction, except that a frozenset member comes back as a set."""
    return frozenset(value) if isinstance(value, set) else value


def load(text: str) -> Any:
    """The value of a dumped text."""
    return decode(json.loads(text))


def close(expected: float, got: float, atol: float) -> bool:
    """Two numbers within ``atol + 1e-7 * |expected|``; infinities only with themselves, ``nan`` with ``nan``."""
    if math.isnan(expected) or math.isnan(got):
        return math.isnan(expected) and math.isnan(got)
    if math.isinf(expected) or math.isinf(got):
        return expected == got
    return abs(expected - got) <= atol + RTOL * abs(expected)


def same(expected: Any, got: Any, atol: float = 0.0) -> bool:
    """The strict verdict on one output (see above). ``atol`` 0 means 1e-6, for floats only."""
    if isinstance(expected, bool) or isinstance(got, bool):
        return isinstance(expected, bool) and isinstance(got, bool) and expected is got
    if isinstance(expected, int) and isinstance(got, (int, float)):
        return bool(expected == got)
    if isinstance(expected, float):
        if isinstance(got, int):
            return bool(expected == got) or (abs(got) < 1 << 53 and close(expected, float(got), atol or DEFAULT_ATOL))
        return isinstance(got, float) and close(expected, got, atol or DEFAULT_ATOL)
    if isinstance(expected, complex):
        if not isinstance(got, (complex, float, int)):
            return False
        other = complex(got)
        return close(expected.real, other.real, atol or DEFAULT_ATOL) and close(expected.imag, other.imag, atol or DEFAULT_ATOL)
    if type(expected) is not type(got):
        return False
    if isinstance(expected, (list, tuple)):
        return len(expected) == len(got) and all(same(e, g, atol) for e, g in zip(expected, got, strict=True))
    if isinstance(expected, dict):
        return expected.keys() == got.keys() and all(same(value, got[key], atol) for key, value in expected.items())
    return bool(expected == got)


def has_opaque(text: str) -> bool:
    """Whether a dumped text holds an opaque part (a string may hold the same letters: then it is only compared slowly)."""
    return '{"o":' in text
