"""Rows to learn from, as token ids: the prompt that evaluation uses, and the loss on the completion alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ct_tasks.benchmarks.fresh import editions
from ct_tasks.contra.trace import Truth, render
from ct_tasks.errors import ConfigError, DataError, TraceError
from ct_tasks.execution.tracing import Call, trace_all
from ct_train.grpo.data import Row, prompt_ids

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
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if limit is not None and len(rows) == limit:
            break
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise DataError(f"{path}:{number} is not JSON: {error}") from None
        keys = row.keys() if isinstance(row, dict) else set()
        if "messages" in keys:
            *before, last = row["messages"]
            if not before or last.get("role") != "assistant":
                raise DataError(
                    f"{path}:{number}: the last of messages must be the assistant's answer to one before it"
                )
            row = {**row, "prompt": before, "completion": last["content"]}
        elif not ({"prompt", "completion"} <= keys or {"program", "call"} <= keys):
            raise DataError(
                f"{path}:{number} needs prompt and completion, messages, or program and call; it has {sorted(keys)[:12]}"
            )
        rows.append(row)
    if not rows:
        raise DataError(f"{path} holds no rows; there is nothing to learn")
    editions.refuse(rows, path)
    return rows


def complete(rows: Sequence[Row], prompt: Callable[[Truth], str], segmentation: str) -> list[Row]:
    """Rows with ``prompt`` and ``completion``, made from the true trace where they are missing. Rows without a trace are
    dropped, and must not be all."""
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
            reason = str(truth)
            continue
        kept.append(
            {**row, "prompt": row.get("prompt") or prompt(truth), "completion": row.get("completion") or render(truth)}
        )
    if not kept:
        raise DataError(f"no row has a trace; one reason: {reason}")
    return kept


def truth_of(row: Row) -> Truth | None:
    """The row's true trace, where it has one."""
    found = row.get("truth")
    if found is None:
        return None
    return Truth.from_json(json.loads(found) if isinstance(found, str) else found)


def tokenize(rows: Sequence[Row], tokenizer: Any, max_tokens: int) -> list[dict[str, list[int]]]:
    """``input_ids`` and ``labels`` of each row; labels of the prompt are ``IGNORED``.

    The prompt's ids are exactly those that rollouts and evaluation continue. Rows longer than ``max_tokens`` are dropped:
    a trace without its end teaches not to end. Raises ``ConfigError`` when all are, or where the chat template writes the
    same prompt in two ways.
    """
    made = []
    for row in rows:
        before, after = ids_of(row, tokenizer)
        if len(before) + len(after) <= max_tokens:
            made.append({"input_ids": [*before, *after], "labels": [IGNORED] * len(before) + after})
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
        whole = list(tokenizer.apply_chat_template(turn, tokenize=True, return_dict=False))
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
