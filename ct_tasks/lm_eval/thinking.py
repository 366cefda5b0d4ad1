"""Whether a prompt ends inside a thinking part that the chat template has opened itself.

Such a reply holds only the closing mark, or, where the length limit cut the thought, no mark at all: it then looks like an
answer and is none. Hugging Face's and vLLM's prompts are rendered here and can be looked at. A chat server renders its own,
so there the replies must tell.
"""

from __future__ import annotations

from collections.abc import Sequence

from ct_tasks.paradigms.thinking import IN_PROMPT
from ct_tasks.reply import Reply


def opened_by_server(replies: Sequence[Reply]) -> bool:
    """Whether a server's template opens the thought: most replies that were not cut close one that they did not open.

    A majority, because one reply that only mentions a closing mark must not turn all others into thoughts.
    """
    ended = [reply for reply in replies if not reply.ending.truncated and reply.ending.reasoning is None]
    return 2 * sum(map(_closes_only, ended)) > len(ended)


def _closes_only(text: str) -> bool:
    return any(closer in text and opener not in text.partition(closer)[0] for opener, closer in IN_PROMPT)
