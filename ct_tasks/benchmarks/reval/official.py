"""REval's published verdicts (``evaluation.py``), answer by answer, reproduced without running what a model wrote here.

The scorer evaluates answers with ``eval``; here a literal is read from its syntax tree, which gives the same value, and
any other text is evaluated in the sandbox. Unclear coverage answers count as NO, and so may count as right.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from typing import Any

from ct_tasks.benchmarks.codegen.values import Opaque, load
from ct_tasks.contra import literals
from ct_tasks.execution.jobs import Job, Limits
from ct_tasks.execution.pool import shared_pool

_BUILTIN = {"int": int, "float": float, "str": str, "bool": bool, "list": list, "tuple": tuple, "dict": dict, "set": set,
            "frozenset": frozenset, "complex": complex, "bytes": bytes, "bytearray": bytearray, "type": type}
ERROR = object()
NIL = object()


def _cut(text: str, opener: str = "[ANSWER]") -> str:
    at = text.find(opener)
    if at != -1:
        text = text[at + len(opener):].strip()
    for closer in ("[/ANSWER]", "[/ANSWER"):
        at = text.find(closer)
        if at != -1:
            text = text[:at].strip()
    return text


def coverage(text: str, cot: bool) -> bool:
    """What ``Coverage._postprocess`` takes the reply to say."""
    answer = text.upper().strip()
    if cot and "[/THOUGHT]" not in answer:
        return False
    head = _cut(answer)[:3]
    return "YES" in head and "NO" not in head


def path(text: str, code: str, cot: bool) -> list[int]:
    """The lines (from 1) that ``Path`` takes the reply to name; -1 for "none", -2 for no line."""
    if cot and "[/THOUGHT]" not in text:
        return [-2]
    answer = _cut(text).split("\n")[0].strip()
    if answer in ("", "-1"):
        return [-1 if answer else -2]
    return [i for i, line in enumerate(code.split("\n"), 1) if line.strip() == answer] or [-2]


def parse_state(text: str, cot: bool) -> Any:
    """``State._postprocess`` up to its ``eval``: ``ERROR``, ``NIL``, or ``(value text, type name)``."""
    if cot and "[/THOUGHT]" not in text:
        return ERROR
    for curly, plain in (("‘", "'"), ("’", "'"), ("“", '"'), ("”", '"')):
        text = text.replace(curly, plain)
    text = _cut(text.strip())
    if text.capitalize() == "Nil" or text == "[Nil]":
        return NIL
    at = text.rfind(";")
    if at == -1:
        return ERROR
    value, kind = text[:at].strip(), text[at + 1:].strip().lower()
    if value.capitalize() == "Nil":
        return NIL
    if match := re.match(r"<class '(.*)'>", kind):
        kind = match.group(1)
    if match := re.match(r"(.*)\[.*\]", kind):
        kind = match.group(1)
    kind = {"string": "str", "integer": "int"}.get(kind, kind)
    if "," in kind or "tuple" in kind:
        kind = "tuple"
    return value, kind


def evaluate(texts: Sequence[str], backend: str) -> list[Any]:
    """``eval`` of each text: literals here, the rest in the sandbox; ``ERROR`` where it raises or has no literal value."""
    found: list[Any] = []
    asked: list[int] = []
    for i, text in enumerate(texts):
        try:
            found.append(literals.parse(text, constructors=False))
        except literals.LiteralError:
            found.append(ERROR)
            asked.append(i)
    jobs = [Job("", expr=texts[i], limits=Limits(cpu_s=2.0, wall_s=10.0)) for i in asked]
    results = shared_pool("docker" if backend == "docker" else "local").run(jobs) if jobs else []
    for i, result in zip(asked, results, strict=True):
        if result.status == "ok" and result.value is not None:
            with contextlib.suppress(literals.LiteralError):  # a value too large to read stays an ERROR
                found[i] = literals.parse(result.value)
    return found


def state(answer: Any, value: Any, observed: Sequence[Sequence[str]] | None) -> bool:
    """``State._eq``: ``answer`` from ``parse_state``, ``value`` what its text evaluates to, ``observed`` the true values."""
    if answer is ERROR:
        return False
    if answer is NIL or observed is None:
        return answer is NIL and observed is None
    text, kind = answer
    if kind == "str":
        value = text if value is ERROR else value
    elif text == "None":
        kind, value = "NoneType", None
    elif kind in ("datetime.datetime", "datetime"):
        from dateutil.parser import parse

        try:
            moment = repr(parse(text))
        except (ValueError, OverflowError):
            return False
        return any(name == "datetime.datetime" and shown == moment for _, name, shown in observed)
    elif kind in ("numpy.ndarray", "np.ndarray"):
        inner = [shown.removeprefix("array(").removesuffix(")") for _, name, shown in observed if name == "numpy.ndarray"]
        return any(repr(value) == text_of for text_of in inner)
    elif kind in ("collections.deque", "bytearray"):  # built from the value by the type's constructor
        name, made = kind.rpartition(".")[2], value if value is not ERROR else text
        return any(seen == kind and shown in (f"{name}({made!r})", text) for _, seen, shown in observed)
    elif kind == "numpy.float64":
        return any(seen == kind and type(value) in (int, float) and value == load(dumped) for dumped, seen, _ in observed)
    if value is ERROR or not any(name == kind for _, name, _ in observed):
        return False
    if kind in _BUILTIN and type(value) is not _BUILTIN[kind]:
        return False
    if kind not in _BUILTIN and kind != "NoneType":
        return False
    for dumped, _, _ in observed:
        true = load(dumped)
        if isinstance(true, Opaque):
            continue
        if kind == "float":
            if isinstance(true, (int, float)) and abs(value - true) < 1e-6:
                return True
        elif value == true:
            return True
    return False
