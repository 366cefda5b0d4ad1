"""From lm-eval's instances to the answers that a benchmark scores: the texts, and what is known of each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval.api.instance import Instance

from ct_tasks.benchmarks.base import Answer, Item
from ct_tasks.lm_eval.thinking import opened_by_server
from ct_tasks.paradigms.thinking import opened_by
from ct_tasks.reply import Ending, Reply


@dataclass(frozen=True, slots=True)
class Given:
    """One reply as it is scored, and the ending that goes into the samples beside its verdict."""

    answer: Answer
    ending: Ending

    @property
    def whole_text(self) -> str:
        """Everything that was generated, as far as it is known: for counting tokens where no backend counted them."""
        return (self.ending.reasoning or "") + self.answer.text

    def told(self) -> dict[str, Any]:
        """For the samples. ``truncated`` is null where nobody knows."""
        answer = self.answer
        return {**self.ending.to_json(), "truncated": answer.truncated, "thinking": answer.thinking}


def collect(instances: Sequence[Instance], item: Callable[[Mapping[str, Any]], Item], *, chat: bool) -> list[Given]:
    """Every reply of every instance, in order. ``chat``: the prompts went through a chat template.

    A stop string that is known to have ended a reply is put back, since the model wrote it. ``extra["whole"]`` says that
    nothing else was taken away: no stop string was sent, or the one that ended the reply is known.
    """
    replies = [Reply.of(text) for instance in instances for text in instance.resps]
    unseen = [chat and not isinstance(instance.args[0], str) for instance in instances for _ in instance.resps]
    opened = opened_by_server([reply for reply, not_seen in zip(replies, unseen, strict=True) if not_seen])
    left = iter(zip(replies, unseen, strict=True))
    found = []
    for instance in instances:
        until = _stops(instance.args)
        own = chat and isinstance(instance.args[0], str) and opened_by(instance.args[0])
        for _ in instance.resps:
            reply, not_seen = next(left)
            ending = reply.ending
            # A thought that came apart from the text is not in it.
            thinks = ending.reasoning is None and (bool(ending.truncated and opened) if not_seen else own)
            text = str(reply) + (ending.stop if ending.stop and ending.stop in until else "")
            extra = {"whole": True} if not until or ending.stop is not None else {}
            answer = Answer(item(instance.doc), text, truncated=ending.truncated, thinking=thinks, extra=extra)
            found.append(Given(answer, ending))
    return found


def _stops(args: Sequence[Any]) -> list[str]:
    until = args[1].get("until") if len(args) > 1 and isinstance(args[1], Mapping) else None
    return [until] if isinstance(until, str) else list(until or ())
