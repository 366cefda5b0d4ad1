"""Keeps what lm-eval's models throw away: why a generation ended, its tokens, the thought that came apart from the text.

The models return bare texts. Each family is wrapped at the one place where both the text and the rest are at hand, and the
text becomes a ``Reply``. A family that is not known, or that looks otherwise in another release of lm-eval, stays as it is:
its replies say nothing about their ending.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ct_tasks.reply import UNKNOWN, Ending, Reply

_PLACE = threading.local()  # endings of the batch that this thread's model in the process has just generated


def install() -> None:
    """Wrap the models that are imported by now. May be called again, when more of them are."""
    if (module := sys.modules.get("lm_eval.models.api_models")) is not None:
        for cls in _family(module.TemplateAPI):
            _wrap(cls, "parse_generations", _parsing)
            _wrap(cls, "_create_payload", _asking)
    if (module := sys.modules.get("lm_eval.models.vllm_causallms")) is not None:
        _wrap(module.VLLM, "_model_generate", _engine)
        _wrap(module, "postprocess_generated_text", _finishing)
    if (module := sys.modules.get("lm_eval.models.huggingface")) is not None:
        _wrap(module.HFLM, "_model_generate", _local)
        _wrap(module, "postprocess_generated_text", _finishing)


def _family(cls: Any) -> list[Any]:
    return [cls, *(found for child in cls.__subclasses__() for found in _family(child))]


def _wrap(owner: Any, name: str, wrapper: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replace what ``owner`` itself defines under ``name``, once. A static method becomes one that is given no ``self``."""
    raw = vars(owner).get(name)
    original = raw.__func__ if isinstance(raw, staticmethod) else raw
    if not callable(original) or hasattr(original, "ct_original"):
        return
    made = functools.wraps(original)(wrapper(original))
    made.ct_original = original  # type: ignore[attr-defined]
    setattr(owner, name, staticmethod(made) if isinstance(raw, staticmethod) else made)


# --- servers -----------------------------------------------------------------------------------------------------------


def _parsing(original: Callable[..., Any]) -> Callable[..., Any]:
    def parse_generations(*args: Any, **kwargs: Any) -> Any:
        texts = original(*args, **kwargs)
        outputs = kwargs.get("outputs", args[-1] if args else None)
        token = getattr(args[0], "think_end_token", None) if args else None
        found = list(_of_outputs(outputs, token))
        if not isinstance(texts, list) or len(found) != len(texts):
            return texts
        return [_reply(text, ending) for text, ending in zip(texts, found, strict=True)]

    return parse_generations


def _reply(text: Any, ending: Ending) -> Any:
    if text is None and ending.finish_reason is not None:  # all room went into the reasoning: an empty reply, not a lost one
        return Reply("", ending)
    return Reply(text, ending) if isinstance(text, str) else text


def _of_outputs(outputs: Any, token: Any) -> Iterator[Ending]:
    """An ending for each text of OpenAI's (``choices``) or Anthropic's (``content``) replies, in the order of lm-eval."""
    for out in outputs if isinstance(outputs, list) else [outputs]:
        if not isinstance(out, Mapping):
            return
        usage = _mapping(out.get("usage"))
        choices, blocks = out.get("choices"), out.get("content")
        if isinstance(choices, list):
            choices = [choice for choice in choices if isinstance(choice, Mapping)]
            alone = len(choices) == 1  # the usage is one for all
            for choice in sorted(choices, key=lambda choice: choice.get("index") or 0):
                yield _of_choice(choice, usage.get("completion_tokens") if alone else None, token)
        elif isinstance(blocks, list):
            for _ in blocks:
                yield Ending.from_json(
                    {
                        "finish_reason": out.get("stop_reason"),
                        "stop": out.get("stop_sequence"),
                        "tokens": usage.get("output_tokens") if len(blocks) == 1 else None,
                    }
                )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _of_choice(choice: Mapping[str, Any], tokens: Any, token: Any) -> Ending:
    message = _mapping(choice.get("message"))
    given = (message.get(name) for name in ("reasoning_content", "reasoning"))  # DeepSeek's name, and vLLM's and OpenRouter's
    thought = next((text for text in given if isinstance(text, str)), None)
    content = message.get("content")
    if not thought and isinstance(token, str) and token and isinstance(content, str) and token in content:
        thought = content.rpartition(token)[0]  # lm-eval takes it off the text
    reason, stop = choice.get("finish_reason"), choice.get("stop_reason")
    if not isinstance(stop, str):  # vLLM's server names the stop string, and the id of the model's own end token
        stop = "" if reason == "stop" and "stop_reason" in choice else None
    return Ending.from_json({"finish_reason": reason, "stop": stop, "tokens": tokens, "reasoning": thought})


def _asking(original: Callable[..., Any]) -> Callable[..., Any]:
    def create_payload(*args: Any, **kwargs: Any) -> Any:
        payload = original(*args, **kwargs)
        if isinstance(payload, dict) and payload.get("stop") == []:
            del payload["stop"]  # some servers refuse an empty list
        return payload

    return create_payload


# --- vLLM --------------------------------------------------------------------------------------------------------------


def _engine(original: Callable[..., Any]) -> Callable[..., Any]:
    def model_generate(*args: Any, **kwargs: Any) -> Any:
        results = original(*args, **kwargs)
        for result in results if isinstance(results, list) else ():
            for output in getattr(result, "outputs", ())[:1]:
                reason, stop = getattr(output, "finish_reason", None), getattr(output, "stop_reason", None)
                if reason == "stop" and not isinstance(stop, str):
                    stop = ""  # the model's own end token, or none of which vLLM tells
                row = {"finish_reason": reason, "stop": stop, "tokens": len(getattr(output, "token_ids", None) or ())}
                output.text = Reply(output.text, Ending.from_json(row))
        return results

    return model_generate


# --- models in this process --------------------------------------------------------------------------------------------


def _local(original: Callable[..., Any]) -> Callable[..., Any]:
    def model_generate(self: Any, *args: Any, **kwargs: Any) -> Any:
        rows = original(self, *args, **kwargs)
        _PLACE.endings = deque(_of_rows(self, rows, **kwargs))
        return rows

    return model_generate


def _of_rows(
    model: Any, rows: Any, *, context: Any = None, max_length: Any = None, stop: Sequence[str] = (), **_: Any
) -> Iterator[Ending]:
    if context is None or max_length is None or getattr(model, "backend", "causal") != "causal":
        return
    begin, known = context.shape[1], getattr(getattr(model.model, "generation_config", None), "eos_token_id", None)
    ends = {*(known if isinstance(known, (list, tuple)) else [known]), getattr(model, "eot_token_id", None)}
    think = getattr(model, "think_end_token", None)
    for row in rows.tolist():
        ids = row[begin:]
        end = next((i + 1 for i, token in enumerate(ids) if token in ends), None)
        ids = ids[:end]
        thought = None
        if isinstance(think, int) and think in ids:  # lm-eval takes it off before it decodes
            thought = model.tok_decode(ids[: len(ids) - 1 - ids[::-1].index(think)])
        whole = functools.partial(model.tok_decode, skip_special_tokens=False)
        used = _until(ids[:-1] if end else ids, stop, whole)
        if used is not None:  # a row of a batch goes on after its stop string until the others are done
            yield Ending("stop", tokens=used, reasoning=thought)
        elif end is not None:
            yield Ending("stop", "", end, thought)
        else:
            yield Ending("length" if len(ids) >= max_length - begin else None, None, len(ids), thought)


def _until(ids: Sequence[int], stops: Sequence[str], decode: Callable[[Sequence[int]], str]) -> int | None:
    """After how many tokens the text holds a stop string, by bisection; ``None`` when it never does."""
    stops = [text for text in stops if text]

    def holds(count: int) -> bool:
        text = decode(ids[:count])
        return any(stop in text for stop in stops)

    if not stops or not holds(len(ids)):
        return None
    low, high = 1, len(ids)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _finishing(original: Callable[..., Any]) -> Callable[..., Any]:
    """lm-eval cuts each text at its stop strings, in the order in which the batch was generated."""

    def postprocess(generation: str, stop: Any, think_end_token: Any) -> Any:
        ending = generation.ending if isinstance(generation, Reply) else _next()
        text = original(generation, stop, think_end_token)
        if ending is UNKNOWN or not isinstance(text, str):
            return text
        made = ending.to_json()
        if think_end_token and think_end_token in generation:
            made["reasoning"] = generation.rpartition(think_end_token)[0]
        uncut = original(generation, None, think_end_token)
        if text != uncut:
            made["finish_reason"] = "stop"
            stops = [stop] if isinstance(stop, str) else stop
            made["stop"] = next((s for s in stops if s and uncut.startswith(s, len(text))), None)
        return Reply(text, Ending.from_json(made))

    return postprocess


def _next() -> Ending:
    waiting = getattr(_PLACE, "endings", None)
    return waiting.popleft() if waiting else UNKNOWN
