"""Rows to train on: the prompt that evaluation uses, and the true trace as a column for reward and DBS."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ct_tasks.benchmarks.fresh import editions
from ct_tasks.contra.trace import Truth
from ct_tasks.errors import ConfigError, DataError, TraceError
from ct_tasks.execution.tracing import Call, trace_all
from ct_train.rewards.whitebox import questions_for

Row = dict[str, Any]


def load_rows(path: str | Path, limit: int | None = None) -> list[Row]:
    """Read JSON lines. Raises ``DataError`` with the line of the first row that is not usable, when there is none, and when one
    is a program of a ct_fresh edition."""
    path = Path(path)
    if not path.is_file():
        raise DataError(f"no training data at {path}; make it with `python -m ct_train data`, or set data=...")
    rows: list[Row] = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if limit is not None and len(rows) == limit:
            break
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise DataError(f"{path}:{number} is not JSON: {error}") from None
        if not isinstance(row, dict) or not ("truth" in row or {"program", "call"} <= row.keys()):
            raise DataError(f"{path}:{number} needs the keys program and call (or truth); it has {sorted(row)[:12]}")
        rows.append(row)
    if not rows:
        raise DataError(f"{path} holds no rows; there is nothing to train on")
    editions.refuse(rows, path)
    return rows


def with_truths(rows: Sequence[Row], *, segmentation: str = "statement", questions: bool = False) -> list[Row]:
    """Rows with ``truth`` (JSON text) and ``questions``; rows whose program has no trace are dropped and must not be all."""
    todo = [r for r in rows if "truth" not in r]
    traced = iter(trace_all([Call(r["program"], r["call"], r.get("entry")) for r in todo], segmentation=segmentation))
    kept: list[Row] = []
    reasons: list[str] = []
    for row in rows:
        found = Truth.from_json(_loaded(row["truth"])) if "truth" in row else next(traced)
        if isinstance(found, TraceError):
            reasons.append(str(found))
            continue
        kept.append({**row, "truth": json.dumps(found.to_json())})
    if not kept:
        raise DataError(f"no row has a trace; the first reason: {reasons[0]}")
    if questions:
        asked = questions_for([Truth.from_json(json.loads(r["truth"])) for r in kept])
        kept = [{**row, "questions": list(q)} for row, q in zip(kept, asked, strict=True)]
    return kept


def _loaded(truth: Any) -> Any:
    return json.loads(truth) if isinstance(truth, str) else truth


def with_prompts(rows: Sequence[Row], tokenizer: Any, prompt: Callable[[Truth], str], max_tokens: int) -> list[Row]:
    """Rows with ``prompt``: a user message where the tokenizer has a chat template, else the text to continue.

    A row that brings its own ``prompt`` keeps it. Prompts over ``max_tokens`` are dropped, and must not be all.
    """
    kept = []
    for row in rows:
        text = row.get("prompt") or prompt(Truth.from_json(_loaded(row["truth"])))
        if isinstance(text, str) and getattr(tokenizer, "chat_template", None):
            text = [{"role": "user", "content": text}]
        if len(prompt_ids(tokenizer, text)) <= max_tokens:
            kept.append({**row, "prompt": text})
    if not kept:
        raise ConfigError(f"every prompt is longer than max_prompt_tokens = {max_tokens}; raise it")
    return kept


def prompt_ids(tokenizer: Any, prompt: str | Sequence[dict[str, str]]) -> list[int]:
    """Token ids of a prompt: one BOS at most, the chat template's when there is one."""
    if isinstance(prompt, str):
        return list(tokenizer(prompt)["input_ids"])
    ids = tokenizer.apply_chat_template(list(prompt), add_generation_prompt=True, tokenize=True, return_dict=False)
    return list(ids)
