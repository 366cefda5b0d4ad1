"""What a run would ask, without its model: a prompt of each task as it is sent, the number of requests, tokens, time, cost.

lm-eval itself reads the command line, loads the tasks and renders the prompts; only the model is replaced by its tokenizer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval.api.model import LM
from lm_eval.evaluator_utils import get_sample_size

from ct_tasks.errors import ConfigError
from ct_tasks.lm_eval.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Rates:
    """``tokens_per_s``: generated tokens a second, all requests together; prices in any currency per million tokens."""

    tokens_per_s: float | None = None
    price_in: float = 0.0
    price_out: float = 0.0

    def check(self) -> None:
        """Raises ``ConfigError`` for a rate that cannot be."""
        if self.tokens_per_s is not None and not self.tokens_per_s > 0:
            raise ConfigError(f"--tokens_per_s must be above 0, got {self.tokens_per_s:g}")
        if self.price_in < 0 or self.price_out < 0:
            raise ConfigError("--price_in and --price_out must be at least 0")


@dataclass(frozen=True, slots=True)
class Asked:
    """One task: its first prompt, requests with their repeats, prompt tokens (``None`` without a tokenizer), and the most
    tokens that its replies can have."""

    task: str
    prompt: str
    settings: Mapping[str, Any]
    requests: int
    tokens_in: int | None
    tokens_out: int


class Rendering(LM):  # type: ignore[misc]
    """In the place of the model: renders prompts with the model's chat template and generates nothing."""

    kind = "dummy"

    def __init__(self, **arguments: Any) -> None:
        super().__init__()
        self.counter = TokenCounter.from_metadata(arguments, "auto")

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """A chat server gets messages and renders them itself; so they are shown as they are."""
        tokenizer = None if "chat" in self.kind else self.counter.tokenizer()
        if tokenizer is None:
            return "\n".join(f"{turn['role']}: {turn['content']}" for turn in chat_history)
        return str(
            tokenizer.apply_chat_template(chat_history, tokenize=False, add_generation_prompt=add_generation_prompt)
        )

    def loglikelihood(self, requests: Any) -> Any:
        raise NotImplementedError

    loglikelihood_rolling = generate_until = loglikelihood

    @property
    def tokenizer_name(self) -> str:
        return self.counter.name or ""


def asked(lm: Rendering, tasks: Mapping[str, Any], settings: Mapping[str, Any]) -> list[Asked]:
    """Build every request, as lm-eval's ``evaluate`` with the arguments ``settings`` does, and count it."""
    found = []
    chat = settings.get("apply_chat_template") or False
    for name, task in tasks.items():
        task.build_all_requests(
            limit=get_sample_size(task, settings.get("limit")),
            samples=(settings.get("samples") or {}).get(name),
            system_instruction=settings.get("system_instruction"),
            apply_chat_template=bool(chat),
            fewshot_as_multiturn=settings.get("fewshot_as_multiturn", False),
            chat_template=lm.apply_chat_template if chat else None,
            tokenizer_name=lm.tokenizer_name if chat else "",
        )
        requests = task.instances
        prompts = [str(request.args[0]) for request in requests]
        repeats = [request.repeats or 1 for request in requests]
        counts = getattr(task, "token_counter", lm.counter).count(prompts)
        known = [count * times for count, times in zip(counts, repeats, strict=True) if count is not None]
        first = requests[0].args
        asks: Mapping[str, Any] = first[1] if len(first) > 1 and isinstance(first[1], Mapping) else {}
        room = int(asks.get("max_gen_toks", 0))
        found.append(
            Asked(
                name,
                prompts[0],
                asks,
                sum(repeats),
                sum(known) if len(known) == len(prompts) else None,
                room * sum(repeats),
            )
        )
    return found


def text(rows: Sequence[Asked], rates: Rates) -> str:
    """The plan as people read it. Time and cost are upper bounds: as if every reply used all its room."""
    lines: list[str] = []
    for row in rows:
        stops = ", ".join(map(repr, row.settings.get("until") or ())) or "none"
        lines += [f"--- {row.task}: the first prompt, as it is sent", row.prompt, f"--- stop strings: {stops}", ""]
    lines += [
        "| task | requests | prompt tokens | reply tokens, at most | time, at most | cost, at most |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    unknown = any(row.tokens_in is None for row in rows)
    total = Asked(
        "all",
        "",
        {},
        sum(row.requests for row in rows),
        None if unknown else sum(row.tokens_in or 0 for row in rows),
        sum(row.tokens_out for row in rows),
    )
    for row in [*rows, total] if len(rows) > 1 else rows:
        lines.append(
            f"| {row.task} | {row.requests:,} | {'?' if row.tokens_in is None else f'{row.tokens_in:,}'} | {row.tokens_out:,} "
            f"| {_time(row, rates)} | {_cost(row, rates)} |"
        )
    if unknown:
        lines.append(
            "No tokenizer is known for the prompts marked ?; name one with --metadata '{\"tokenizer\": \"NAME\"}'."
        )
    return "\n".join(lines)


def _time(row: Asked, rates: Rates) -> str:
    if rates.tokens_per_s is None:
        return "give --tokens_per_s"
    minutes, seconds = divmod(round(row.tokens_out / rates.tokens_per_s), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


def _cost(row: Asked, rates: Rates) -> str:
    if not rates.price_in and not rates.price_out:
        return "give --price_in, --price_out"
    if row.tokens_in is None and rates.price_in:
        return "?"
    return f"{((row.tokens_in or 0) * rates.price_in + row.tokens_out * rates.price_out) / 1e6:,.2f}"
