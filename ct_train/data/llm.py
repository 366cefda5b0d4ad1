"""A client for any OpenAI-compatible server (vLLM, llama.cpp, a hosted model) that loses no request and doubles none.

Every reply is appended to a journal under the hash of its request before it is used, so that a run that goes on after a kill
asks only for what it does not have. Refusals for load (429), server errors (5xx), replies that are late, empty or not what
was asked for are tried again with growing pauses; a request that fails ``tries`` times ends with a counted reason. A server
that cannot be reached, or that refuses a request as wrong (400, 401, 404), ends the run with an error that says so.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ct_tasks.errors import ConfigError, DataError, HarnessError
from ct_train import limits
from ct_train.data.steps import dump, settle


@dataclass(frozen=True)
class LlmSettings:
    """``structured``: ask for JSON by schema (``response_format``). Times in seconds; ``timeout_s`` is for one reply as a
    whole. The key is read from the environment variable ``api_key_env``; a local server needs none."""

    base_url: str = "http://localhost:8000/v1"
    model: str = "Qwen/Qwen3-32B"
    api_key_env: str = "OPENAI_API_KEY"
    temperature: float = 0.7
    max_tokens: int = 4096
    concurrency: int = 16
    tries: int = 6
    timeout_s: float = 300.0
    backoff_s: float = 1.0
    max_backoff_s: float = 60.0
    structured: bool = True
    seed: int = 0

    def check(self, where: str = "llm.") -> None:
        """Raises ``ConfigError`` for a number that no request could be made with."""
        bounds = dict.fromkeys(("max_tokens", "concurrency", "tries"), limits.COUNT)
        waits = dict.fromkeys(("temperature", "backoff_s", "max_backoff_s", "seed"), limits.NOT_NEGATIVE)
        limits.check(self, {**bounds, **waits, "timeout_s": limits.POSITIVE}, where)

    def identity(self) -> dict[str, Any]:
        """The settings that decide what comes back, without those that only say how patiently it is asked for."""
        patience = ("concurrency", "timeout_s", "backoff_s", "max_backoff_s", "api_key_env", "base_url")
        return {k: v for k, v in asdict(self).items() if k not in patience}


@dataclass(frozen=True)
class Request:
    """``check`` raises ``ValueError`` for a reply that is not what was asked for. ``attempt`` tells equal requests apart."""

    prompt: str
    check: Callable[[str], Any]
    schema: Mapping[str, Any] | None = None
    attempt: int = 0


@dataclass(frozen=True)
class Reply:
    """``text`` is None when the request was given up; ``failures`` counts what went wrong on the way, by kind."""

    text: str | None
    failures: Mapping[str, int] = field(default_factory=dict)
    last: str = ""


class Client:
    """Requests in, replies out, in order; ``journal`` keeps the replies."""

    def __init__(self, settings: LlmSettings, journal: Path) -> None:
        self.settings, self.journal = settings, journal
        self.known = self._read()

    def _read(self) -> dict[str, Reply]:
        """Replies of earlier runs. A last line that a kill cut off is taken away."""
        known: dict[str, Reply] = {}
        if not self.journal.is_file():
            return known
        whole = 0
        with self.journal.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                try:
                    row = json.loads(line)
                    known[row["key"]] = Reply(row["text"], row["failures"], row["last"])
                except (ValueError, KeyError, TypeError):
                    raise DataError(
                        f"{self.journal}:{number} is damaged; remove that line, and its request is made again"
                    ) from None
                whole += len(line)
        os.truncate(self.journal, whole)
        return known

    def ask_all(self, requests: Sequence[Request]) -> list[Reply]:
        """All replies, in the order of the requests; known ones are not asked for again.

        Raises ``HarnessError`` when the server cannot be reached and ``ConfigError`` when it refuses a request as wrong.
        """
        keys = [self._key(r) for r in requests]
        todo = {k: r for k, r in zip(keys, requests, strict=True) if k not in self.known}
        if todo:
            asyncio.run(self._ask(todo))
        return [self.known[k] for k in keys]

    def _key(self, request: Request) -> str:
        parts = dump([self.settings.identity(), request.prompt, request.schema, request.attempt])
        return hashlib.sha256(parts.encode()).hexdigest()

    async def _ask(self, todo: Mapping[str, Request]) -> None:
        try:
            from openai import AsyncOpenAI
        except ImportError:
            raise ConfigError(
                "the LLM client needs the package openai: pip install 'codethinker-eval[train]'"
            ) from None
        key = os.environ.get(self.settings.api_key_env) or "none"
        gate = asyncio.Semaphore(self.settings.concurrency)
        self.journal.parent.mkdir(parents=True, exist_ok=True)
        async with AsyncOpenAI(base_url=self.settings.base_url, api_key=key, max_retries=0) as server:
            with self.journal.open("ab") as file:

                async def one(key: str, request: Request) -> None:
                    async with gate:
                        reply = await self._patiently(server, request, key)
                    row = {"key": key, "text": reply.text, "failures": dict(reply.failures), "last": reply.last}
                    file.write((dump(row) + "\n").encode())
                    settle(file)
                    self.known[key] = reply

                tasks = [asyncio.create_task(one(k, r)) for k, r in todo.items()]
                try:
                    await asyncio.gather(*tasks)
                finally:
                    for task in tasks:
                        task.cancel()
                    await asyncio.gather(*tasks, return_exceptions=True)

    async def _patiently(self, server: Any, request: Request, key: str) -> Reply:
        failures: Counter[str] = Counter()
        last = ""
        jitter = random.Random(key)
        for attempt in range(self.settings.tries):
            try:
                text = await asyncio.wait_for(
                    self._once(server, request, int(key[:7], 16) + attempt), self.settings.timeout_s
                )
                request.check(text)
                return Reply(text, dict(failures), last)
            except _Failure as error:
                kind, last, pause = error.kind, str(error), error.pause
            except TimeoutError:
                kind, last, pause = "timeout", f"no reply within {self.settings.timeout_s:g} s", None
            except ValueError as error:
                kind, last, pause = "malformed", str(error)[:300], 0.0
            failures[kind] += 1
            if attempt + 1 < self.settings.tries:
                wait = min(self.settings.backoff_s * 2**attempt, self.settings.max_backoff_s) * jitter.uniform(0.5, 1.0)
                await asyncio.sleep(wait if pause is None else min(pause, self.settings.max_backoff_s))
        if failures["connection"] == self.settings.tries:
            raise HarnessError(
                f"no server answers at {self.settings.base_url} ({last}). Start it, or set llm.base_url; finished replies "
                "are kept, and the same command goes on from them."
            )
        return Reply(None, dict(failures), last)

    async def _once(self, server: Any, request: Request, seed: int) -> str:
        import openai

        extra: dict[str, Any] = {}
        if request.schema is not None and self.settings.structured:
            schema = {"name": "reply", "schema": dict(request.schema), "strict": True}
            extra["response_format"] = {"type": "json_schema", "json_schema": schema}
        try:
            reply = await server.chat.completions.create(
                model=self.settings.model,
                messages=[{"role": "user", "content": request.prompt}],
                temperature=self.settings.temperature,
                max_tokens=self.settings.max_tokens,
                seed=self.settings.seed + seed,
                **extra,
            )
        except openai.APITimeoutError as error:
            raise _Failure("timeout", str(error)) from None
        except openai.APIConnectionError as error:
            raise _Failure("connection", f"{error}: {error.__cause__}") from None
        except openai.APIStatusError as error:
            if error.status_code == 429 or error.status_code >= 500:
                raise _Failure(str(error.status_code), str(error)[:300], _retry_after(error)) from None
            raise ConfigError(self._refused(error)) from None
        except (openai.APIError, ValueError) as error:  # a body that is no JSON, or JSON of another form
            raise _Failure("malformed", f"the server's reply cannot be read: {error}"[:300]) from None
        try:
            choice = reply.choices[0]
            text = choice.message.content
        except (AttributeError, IndexError, TypeError):
            raise _Failure("malformed", f"the server's reply has no choices: {reply!r}"[:300]) from None
        if not text or not text.strip():
            raise _Failure("empty", "the reply is empty")
        return str(text)

    def _refused(self, error: Any) -> str:
        advice = " If it knows no response_format, set llm.structured=false." if error.status_code == 400 else ""
        return (
            f"{self.settings.base_url} refuses the request for model {self.settings.model}: {str(error)[:300]}. Check "
            f"llm.model, llm.base_url and the key in ${self.settings.api_key_env}.{advice}"
        )


class _Failure(Exception):
    """One attempt failed. ``pause``: seconds that the server asked us to wait, or None."""

    def __init__(self, kind: str, message: str, pause: float | None = None) -> None:
        self.kind, self.pause = kind, pause
        super().__init__(message)


def _retry_after(error: Any) -> float | None:
    try:
        return float(error.response.headers["retry-after"])
    except (KeyError, ValueError):
        return None


def json_reply(text: str) -> Any:
    """The JSON of a reply, with or without a thinking part and a Markdown fence. Raises ``ValueError``."""
    text = text.rpartition("</think>")[2].strip()
    if text.startswith("```"):
        text = text.partition("\n")[2].rstrip().removesuffix("```")
    return json.loads(text)
