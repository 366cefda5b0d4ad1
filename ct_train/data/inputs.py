"""Step 2, inputs (paper section 2): calls for each function, from sources that can be mixed.

A source proposes calls for a batch of functions; the step keeps those that fit the signature, are literal values within the
size limit, and are new for the function, until it has ``per_function`` of them. Each call keeps its origin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ct_tasks.contra.literals import LiteralError
from ct_tasks.errors import ConfigError
from ct_train.data.calls import Function, InputSource, function_of, read_call, render
from ct_train.data.llm_inputs import LlmInputs
from ct_train.data.mutate import MutatedInputs
from ct_train.data.steps import Outcome, Row, Step, read_rows

VERSION = 1
KNOWN = ("dataset", "mutate", "llm")


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


def make_sources(names: Sequence[str], seed: int, llm: Any, folder: Path) -> list[InputSource]:
    """The sources of those names, in that order. Raises ``ConfigError`` for an unknown or doubled name."""
    made: list[InputSource] = []
    for name in names:
        if name not in KNOWN or names.count(name) > 1:
            raise ConfigError(f"inputs.sources: {name!r} is unknown or named twice; sources: {', '.join(KNOWN)}")
        if name == "dataset":
            made.append(DatasetInputs())
        elif name == "mutate":
            made.append(MutatedInputs(seed))
        else:
            made.append(LlmInputs(llm, folder / "2_inputs.replies.jsonl"))
    if not made:
        raise ConfigError("inputs.sources is empty; name at least one of " + ", ".join(KNOWN))
    return made
