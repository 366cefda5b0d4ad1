"""Inputs from a language model (paper section 2: Qwen3-32B, from the signature and the format of the inputs)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ct_train.data.calls import Function, render
from ct_train.data.llm import Client, LlmSettings, Request, json_reply
from ct_train.data.steps import Outcome

VERSION = 1
_SPARE = 3  # asked for beyond what is wanted: some will be doubles or misfits
_PROMPT = """\
Below is a Python function. Write {count} different calls of it that make good tests: small and medium inputs, edge cases, \
inputs that take different paths through the code. Every argument is a Python literal of the right type, at most {limit} \
elements long, and the call must not raise. Keep to the format of the examples.

```python
{program}
```

Signature: {signature}
Examples:
{examples}

Reply with JSON only: {{"inputs": ["{entry}(...)", ...]}}, {count} strings, each one call of {entry}."""
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"inputs": {"type": "array", "items": {"type": "string"}}},
    "required": ["inputs"],
    "additionalProperties": False,
}


class LlmInputs:
    """Calls written by a model behind an OpenAI-compatible server."""

    name = "llm"

    def __init__(self, settings: LlmSettings, journal: Path) -> None:
        self.client = Client(settings, journal)

    def settings(self) -> Mapping[str, Any]:
        return {"prompt": VERSION, **self.client.settings.identity()}

    def propose(self, functions: Sequence[Function], wanted: Sequence[int], out: Outcome) -> list[Iterator[str]]:
        requests = [Request(prompt(f, n + _SPARE), _calls, _SCHEMA) for f, n in zip(functions, wanted, strict=True)]
        found: list[Iterator[str]] = []
        for reply in self.client.ask_all(requests):
            for kind, count in reply.failures.items():
                out.count(f"llm: {kind} replies", count)
            if reply.text is None:
                out.count("llm: functions given up")
            found.append(iter(_calls(reply.text) if reply.text is not None else []))
        return found


def prompt(function: Function, count: int) -> str:
    """The request for ``count`` calls."""
    examples = "\n".join(render(function.entry, values) for values in function.examples) or "(none)"
    return _PROMPT.format(
        count=count,
        limit=12,
        program=function.program.rstrip("\n"),
        signature=function.signature,
        examples=examples,
        entry=function.entry,
    )


def _calls(text: str) -> list[str]:
    data = json_reply(text)
    calls = data.get("inputs") if isinstance(data, dict) else None
    if not isinstance(calls, list) or not calls or not all(isinstance(call, str) for call in calls):
        raise ValueError('the reply is not {"inputs": [text, ...]}')
    return calls
