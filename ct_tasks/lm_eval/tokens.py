"""How long a text is in the model's own tokens, where no backend has counted them."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

log = logging.getLogger(__name__)


class TokenCounter:
    """Counts tokens with a transformers tokenizer; counts nothing (``None``) where there is none to be had."""

    def __init__(self, name: str | None, **kwargs: Any) -> None:
        self.name, self.kwargs = name, kwargs
        self._tokenizer: Any = None

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any], tokenizer: str) -> TokenCounter:
        """``tokenizer`` names one; ``auto`` takes the model's arguments that lm-eval puts into the metadata."""
        name = (
            tokenizer
            if tokenizer != "auto"
            else metadata.get("tokenizer") or metadata.get("pretrained") or metadata.get("model")
        )
        if isinstance(name, str) and name == "auto":
            name = metadata.get("pretrained") or metadata.get("model")
        kwargs = {k: metadata[k] for k in ("revision", "subfolder", "trust_remote_code", "gguf_file") if metadata.get(k)}
        return cls(name if isinstance(name, str) and name else None, **(kwargs if tokenizer == "auto" else {}))

    def tokenizer(self) -> Any:
        """The tokenizer itself; ``None``, with a warning the first time, where there is none to be had."""
        if self._tokenizer is None and self.name is not None:
            try:
                from transformers import AutoTokenizer

                self._tokenizer = AutoTokenizer.from_pretrained(self.name, **self.kwargs)
            except (OSError, ValueError, ImportError) as error:
                log.warning(
                    "no tokenizer %r, so output tokens are not counted (%s)", self.name, str(error).split("\n")[0][:120]
                )
                self.name = None
        return self._tokenizer

    def count(self, texts: Sequence[str]) -> list[int | None]:
        """Tokens of each text, special tokens not counted."""
        tokenizer = self.tokenizer()
        if tokenizer is None:
            return [None] * len(texts)
        return [len(ids) for ids in tokenizer(list(texts), add_special_tokens=False)["input_ids"]] if texts else []
