"""Rows to train on: the prompt that evaluation uses, and the true trace as a column for reward and DBS."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ct_tasks.benchmarks.fresh import editions
from ct_tasks.contra.trace import Truth
from ct_tasks.errors import CodeThinkerError, ConfigError, DataError, TraceError
from ct_tasks.execution.tracing import Call, trace_all
from ct_train import jsonl, prompts
from ct_train.jsonl import WHERE
from ct_train.rewards.whitebox import questions_for

Row = dict[str, Any]
Dropped = dict[str, list[str]]
"""Rows that are not used: a reason to their places (FILE:LINE)."""


def load_rows(path: str | Path, limit: int | None = None) -> list[Row]:
    """Read JSON lines; each row gets its place under ``where`` (FILE:LINE). Raises ``DataError`` with the line of the first
    row that is not usable, when there is none, and when one is a program of a ct_fresh edition."""
    path = Path(path)
    if not path.is_file():
        raise DataError(f"no training data at {path}; make it with `python -m ct_train data`, or set data=...")
    rows: list[Row] = []
    for number, row in jsonl.read(path):
        if limit is not None and len(rows) == limit:
            break
        if not ("truth" in row or {"program", "call"} <= row.keys()):
            raise DataError(f"{path}:{number} needs the keys program and call (or truth); it has {sorted(row)[:12]}")
        for key in ("program", "call"):
            if not isinstance(row.get(key, ""), str):
                raise DataError(f"{path}:{number}: {key} is a {type(row[key]).__name__}, not a text")
        rows.append({**row, WHERE: f"{path.name}:{number}"})
    if not rows:
        raise DataError(f"{path} holds no rows; there is nothing to train on")
    editions.refuse(rows, path)
    return rows


def with_truths(
    rows: Sequence[Row], *, segmentation: str = "statement", questions: bool = False, dropped: Dropped | None = None
) -> list[Row]:
    """Rows with ``truth`` (JSON text) and ``questions``; rows whose program has no trace are dropped and must not be all.

    ``dropped`` collects their places by reason.
    """
    todo = [r for r in rows if "truth" not in r]
    traced = iter(trace_all([Call(r["program"], r["call"], r.get("entry")) for r in todo], segmentation=segmentation))
    kept: list[Row] = []
    reasons: list[str] = []
    for row in rows:
        found = truth_in(row) if "truth" in row else next(traced)
        if isinstance(found, TraceError):
            reasons.append(str(found))
            if dropped is not None:
                dropped.setdefault(f"without a trace, e.g. {reasons[0][:80]}", []).append(str(row.get(WHERE, "a row")))
            continue
        kept.append({**row, "truth": json.dumps(found.to_json())})
    if not kept:
        raise DataError(f"no row has a trace; the first reason: {reasons[0]}")
    if questions:
        todo = [r for r in kept if "questions" not in r]  # a row that brings its own has asked them in its prompt
        asked = iter(questions_for([Truth.from_json(json.loads(r["truth"])) for r in todo]) if todo else ())
        kept = [row if "questions" in row else {**prompts.unasked(row), "questions": list(next(asked))} for row in kept]
    return kept


def truth_in(row: Row) -> Truth:
    """The row's own ``truth``. Raises ``DataError`` with its place where that is no trace."""
    try:
        return Truth.from_json(_loaded(row["truth"]))
    except (ValueError, KeyError, TypeError, AttributeError, CodeThinkerError) as error:
        raise DataError(
            f"{row.get(WHERE, 'a row')}: its truth cannot be read ({type(error).__name__}: {error}); leave the key out, and "
            "the program is traced anew"
        ) from None


def _loaded(truth: Any) -> Any:
    return json.loads(truth) if isinstance(truth, str) else truth


def with_prompts(
    rows: Sequence[Row],
    tokenizer: Any,
    prompt: Callable[[Truth], str],
    max_tokens: int,
    paradigm: str = "contra",
    segmentation: str = "statement",
    dropped: Dropped | None = None,
) -> list[Row]:
    """Rows with ``prompt``: a user message where the tokenizer has a chat template, else the text to continue.

    A row that brings its own ``prompt`` in this format keeps it (see ``prompts.kept``). ConTra's are made by ``prompt``, those
    of other formats by ``ct_train.prompts``. Prompts over ``max_tokens`` are dropped, and must not be all; ``dropped``
    collects their places.
    """
    kept = []
    for row in rows:
        text = prompts.kept(row, paradigm)
        if not text:
            truth = Truth.from_json(_loaded(row["truth"]))
            asked = row.get("questions") or ()
            text = prompt(truth) if paradigm == "contra" else prompts.prompt(truth, paradigm, segmentation, asked)
        if isinstance(text, str) and getattr(tokenizer, "chat_template", None):
            text = [{"role": "user", "content": text}]
        if len(prompt_ids(tokenizer, text)) <= max_tokens:
            kept.append({**row, "prompt": text})
        elif dropped is not None:
            reason = f"longer than max_prompt_tokens = {max_tokens}"
            dropped.setdefault(reason, []).append(str(row.get(WHERE, "a row")))
    if not kept:
        raise ConfigError(f"every prompt is longer than max_prompt_tokens = {max_tokens}; raise it")
    return kept


def prompt_ids(tokenizer: Any, prompt: str | Sequence[dict[str, str]]) -> list[int]:
    """Token ids of a prompt: one BOS at most, the chat template's when there is one. Raises ``ConfigError`` where the
    template cannot be rendered."""
    if isinstance(prompt, str):
        return list(tokenizer(prompt)["input_ids"])
    return template_ids(tokenizer, list(prompt), add_generation_prompt=True)


def template_ids(tokenizer: Any, turns: list[dict[str, str]], **options: Any) -> list[int]:
    """Token ids of a conversation."""
    try:
        return list(tokenizer.apply_chat_template(turns, tokenize=True, return_dict=False, **options))
    except Exception as error:  # a template is a program of its own and may raise anything
        raise ConfigError(
            f"the chat template of {tokenizer.name_or_path} cannot be rendered ({type(error).__name__}: {error}); mend its "
            "chat_template.jinja, or train on plain text with chat=false"
        ) from error
