"""Rows to learn from, as token ids: the prompt that evaluation uses, and the loss on the completion alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ct_tasks.benchmarks.fresh import editions
from ct_tasks.contra.trace import Truth, render
from ct_tasks.errors import ConfigError, DataError, TraceError
from ct_tasks.execution.tracing import Call, trace_all
from ct_train import jsonl
from ct_train.grpo.data import Dropped, Row, prompt_ids, template_ids, truth_in
from ct_train.jsonl import WHERE

IGNORED = -100


def load_rows(path: str | Path, limit: int | None = None) -> list[Row]:
    """Read JSON lines. A row has ``completion`` with ``prompt`` (text or messages) or ``messages`` whose last one is the
    assistant's; or ``program`` and ``call``, and then a missing completion is the perfect trace without thoughts.

    Raises ``DataError`` with the line of the first row that is not usable, when there is none, and when one is a program of
    a ct_fresh edition.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"no SFT data at {path}; make it with `python -m ct_train synth`, or set data=...")
    rows: list[Row] = []
    for number, row in jsonl.read(path):
        if limit is not None and len(rows) == limit:
            break
        rows.append({**_usable(row, f"{path}:{number}"), WHERE: f"{path.name}:{number}"})
    if not rows:
        raise DataError(f"{path} holds no rows; there is nothing to learn")
    editions.refuse(rows, path)
    return rows


def _usable(row: Row, place: str) -> Row:
    """The row with ``prompt`` and ``completion`` read from ``messages`` where it has these."""
    keys = row.keys()
    if "messages" in keys:
        turns = row["messages"]
        if not isinstance(turns, list) or not all(isinstance(t, dict) and isinstance(t.get("content"), str) for t in turns):
            raise DataError(f"{place}: messages must be a list of objects with role and content")
        if len(turns) < 2 or turns[-1].get("role") != "assistant":
            raise DataError(f"{place}: the last of messages must be the assistant's answer to one before it")
        return {**row, "prompt": turns[:-1], "completion": turns[-1]["content"]}
    if not ({"prompt", "completion"} <= keys or {"program", "call"} <= keys):
        raise DataError(f"{place} needs prompt and completion, messages, or program and call; it has {sorted(keys)[:12]}")
    for key in ("completion", "program", "call"):
        if not isinstance(row.get(key, ""), str):
            raise DataError(f"{place}: {key} is a {type(row[key]).__name__}, not a text")
    return row


def complete(
    rows: Sequence[Row], prompt: Callable[[Truth], str], segmentation: str, dropped: Dropped | None = None
) -> list[Row]:
    """Rows with ``prompt`` and ``completion``, made from the true trace where they are missing. Rows without a trace are
    dropped, and must not be all; ``dropped`` collects their places by reason."""
    lacking = [r for r in rows if "prompt" not in r or "completion" not in r]
    untraced = [r for r in lacking if "truth" not in r]
    traced = iter(
        trace_all([Call(r["program"], r["call"], r.get("entry")) for r in untraced], segmentation=segmentation)
        if untraced
        else ()
    )
    kept, reason = [], ""
    for row in rows:
        if "prompt" in row and "completion" in row:
            kept.append(row)
            continue
        truth = truth_of(row) if "truth" in row else next(traced)
        if truth is None or isinstance(truth, TraceError):
            reason = reason or str(truth)
            if dropped is not None:
                dropped.setdefault(f"without a trace, e.g. {reason[:80]}", []).append(str(row.get(WHERE, "a row")))
            continue
        kept.append(
            {**row, "prompt": row.get("prompt") or prompt(truth), "completion": row.get("completion") or render(truth)}
        )
    if not kept:
        raise DataError(f"no row has a trace; one reason: {reason}")
    return kept


def truth_of(row: Row) -> Truth | None:
    """The row's true trace, where it has one."""
    return None if row.get("truth") is None else truth_in(row)


def tokenize(
    rows: Sequence[Row], tokenizer: Any, max_tokens: int, dropped: Dropped | None = None
) -> list[dict[str, Any]]:
    """``input_ids``, ``labels`` and ``where`` of each row; labels of the prompt are ``IGNORED``.

    The prompt's ids are exactly those that rollouts and evaluation continue. Rows longer than ``max_tokens`` are dropped:
    a trace without its end teaches not to end; ``dropped`` collects their places. Raises ``ConfigError`` when all are, or
    where the chat template writes the same prompt in two ways.
    """
    made = []
    for row in rows:
        before, after = ids_of(row, tokenizer)
        if len(before) + len(after) <= max_tokens:
            ids, labels = [*before, *after], [IGNORED] * len(before) + after
            made.append({"input_ids": ids, "labels": labels, WHERE: row.get(WHERE, "a row")})
        elif dropped is not None:
            dropped.setdefault(f"longer than max_tokens = {max_tokens}", []).append(str(row.get(WHERE, "a row")))
    if not made:
        raise ConfigError(f"every row is longer than max_tokens = {max_tokens}; raise it")
    return made


def ids_of(row: Row, tokenizer: Any) -> tuple[list[int], list[int]]:
    """Ids of prompt and completion, the completion with what ends the assistant's turn."""
    prompt = row["prompt"]
    if getattr(tokenizer, "chat_template", None):
        if isinstance(prompt, str):
            prompt = [{"role": "user", "content": prompt}]
        before = prompt_ids(tokenizer, prompt)
        turn = [*prompt, {"role": "assistant", "content": row["completion"]}]
        whole = template_ids(tokenizer, turn)
        if whole[: len(before)] != before:
            raise ConfigError(
                f"the chat template of {tokenizer.name_or_path} writes the prompt differently once an answer follows; "
                "give the model a template whose generation prompt is a prefix of the whole conversation"
            )
        return before, _through_eos(whole[len(before) :], tokenizer)
    if not isinstance(prompt, str):
        raise ConfigError(no_template(tokenizer.name_or_path))
    before = prompt_ids(tokenizer, prompt)
    after = list(tokenizer(row["completion"], add_special_tokens=False)["input_ids"])
    return before, [*after, tokenizer.eos_token_id]


def _through_eos(ids: list[int], tokenizer: Any) -> list[int]:
    """Up to the end-of-turn token: what a template writes behind it (a line break) is never sampled."""
    end = tokenizer.eos_token_id
    if end in ids:
        return ids[: len(ids) - ids[::-1].index(end)]
    return ids


def no_template(model: str) -> str:
    """The message for messages without a chat template."""
    return (
        f"{model} has no chat template but the data holds messages; use an instruction-tuned model, give its tokenizer a "
        f"chat_template, or write prompts as text"
    )
