"""Checks between the data and the model: what no amount of training could repair is refused before anything loads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ct_tasks.contra.trace import Block, Truth, render
from ct_tasks.errors import ConfigError
from ct_train.grpo.config import GrpoSettings
from ct_train.grpo.data import Row
from ct_train.models import split_by
from ct_train.rewards import build
from ct_train.rewards.base import Sample

ROWS = 8


def refuse_split_engine(settings: GrpoSettings) -> None:
    """What DBS asks of an engine differs from process to process, so processes cannot sample in step from one split model.

    ``vllm_tensor_parallel`` is for verl's export: here each process has a vLLM of its own. Raises ``ConfigError``.
    """
    if settings.vllm_tensor_parallel > 1:
        raise ConfigError(
            f"vllm_tensor_parallel {settings.vllm_tensor_parallel}: a rollout engine over several GPUs runs as a server "
            "(trl vllm-serve --model ... --tensor-parallel-size ...); set engine to vllm_server and vllm_tensor_parallel to 1"
        )
    if settings.engine in ("transformers", "static") and split_by() == "FSDP":
        raise ConfigError(
            f"engine {settings.engine} cannot sample from a model that FSDP splits; set engine to vllm or vllm_server"
        )


def refuse_few_rows(rows: int, settings: GrpoSettings) -> None:
    """trl drops a rollout that is not full, so with too few rows it would take no step. Raises ``ConfigError``."""
    if rows < settings.prompts_per_rollout:
        raise ConfigError(
            f"{rows} usable rows are fewer than prompts_per_rollout {settings.prompts_per_rollout}, so no step would be taken; "
            "lower prompts_per_rollout and prompts_per_update, or give more rows"
        )


def refuse_ties(rows: Sequence[Row], reward: str, options: Mapping[str, Any]) -> None:
    """Score a perfect trace, three spoilt ones and an empty text for the first rows (which have ``truth``).

    A reward that gives them all the same has no advantage to learn from, whatever the model writes. Raises ``ConfigError``.
    """
    scorer = build(reward, options)
    for row in rows[:ROWS]:
        truth = Truth.from_json(json.loads(row["truth"]) if isinstance(row["truth"], str) else row["truth"])
        questions = tuple(row.get("questions") or ())
        if len({scorer.score(Sample(text, truth, questions)).reward for text in answers(truth)}) > 1:
            return
    raise ConfigError(
        f"reward {reward} with options {dict(options)} gives every answer the same reward, perfect or empty, so every group "
        f"ties and nothing is learnt; turn a part of the reward on (for codethinker: prm, orm, alpha > 0)"
    )


def answers(truth: Truth) -> list[str]:
    """The perfect trace; one with a wrong last block; one with a wrong answer; one without its end; nothing."""
    spoilt = [*truth.blocks[:-1], _wrong(truth.blocks[-1])]
    perfect = render(truth)
    return [
        perfect,
        render(replace(truth, blocks=tuple(spoilt))),
        render(replace(truth, returned=("not", truth.returned))),
        perfect[: len(perfect) // 2],
        "",
    ]


def _wrong(block: Block) -> Block:
    return replace(block, locals={**block.locals, "wrong": 0})


def refuse_without_template(tokenizer: Any, chat: bool) -> None:
    """Raises ``ConfigError`` where a chat prompt is asked of a tokenizer that has no template for one."""
    if chat and not getattr(tokenizer, "chat_template", None):
        raise ConfigError(
            f"the tokenizer of {tokenizer.name_or_path} has no chat template; use an instruction-tuned model, add a "
            f"chat_template.jinja beside its tokenizer, or train on plain text with chat=false"
        )
