"""Tokenizer and untrained model of the small world, in the formats that transformers, trl and lm-eval load."""

from __future__ import annotations

import string
from typing import Any

from ct_tasks.benchmarks.micro.programs import INTS, LISTS, STRINGS
from ct_tasks.contra.trace import TAGS

MAX_LINES = 16
NAMES = (*INTS, *STRINGS, *LISTS, "i", "x")
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{% if message['role'] == 'assistant' %}{{ message['content'] + '<eos>' }}"
    "{% else %}{{ '<user>' + message['content'] + '<assistant>' }}{% endif %}"
    "{% endfor %}"
)


def chunks() -> list[str]:
    """Pieces of text that are one token each, where they occur: what a trace of this world always repeats."""
    lines = [f"[LINENO {i}]    " for i in range(MAX_LINES)]
    lines += [f"{line}    " for line in lines]  # a line of the body, with its indentation
    return [
        "[TRACE]\n[CODE]\n", "\n[/CODE]\n[THOUGHT]\n", "}\n[/LOCALS]", "\n[CODE]\n",
        "\n[RETURN]\nassert f(", "\n[/RETURN]\n[/TRACE]", "[PYTHON]\n", "\n[/PYTHON]\nThe call: f(",
        *(f"\n{line}" for line in lines), *lines, *TAGS,
        *(f"{start}'{name}': " for name in NAMES for start in ("\n[/THOUGHT]\n[LOCALS]\n{", ", ")),
        "def f(", "return ", "for ", " in range(", " in ", "while ", "if ", "else:", "    ", ".append(", "len(", "sum(",
        "max(", "[::-1]", "[1:]", " = ", " + ", " - ", " * ", " // ", " % ", " += ", " -= ", " *= ", " < ", " > ", " == ",
        " is True, ", " is False, ", ", '", ", ", "': ", "xs", "ys", "):", ") == ", "][", "] = [", "] + [",
    ]  # fmt: skip


def tokenizer() -> Any:
    """A ``PreTrainedTokenizerFast``: chunks, then single characters; decoding gives the text back byte for byte (ASCII)."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    special = ["<pad>", "<eos>", "<unk>", "<user>", "<assistant>"]
    pieces = chunks()
    characters = [c for c in string.printable if c not in "\r\x0b\x0c"]
    vocabulary = {token: i for i, token in enumerate(dict.fromkeys([*special, *pieces, *characters]))}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    ordered = sorted(pieces, key=len, reverse=True)
    inner.pre_tokenizer = pre_tokenizers.Split(
        Regex("|".join([*(_escaped(p) for p in ordered), r"[\s\S]"])), behavior="isolated"
    )
    inner.decoder = decoders.Fuse()
    made = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        pad_token="<pad>",
        eos_token="<eos>",
        unk_token="<unk>",
        additional_special_tokens=["<user>", "<assistant>"],
        clean_up_tokenization_spaces=False,
    )
    made.chat_template = CHAT_TEMPLATE
    return made


def _escaped(text: str) -> str:
    return "".join(f"\\{c}" if c in r"[](){}.*+?|^$\/" else c for c in text)


def model(
    tokens: Any, *, seed: int = 0, hidden: int = 128, layers: int = 4, heads: int = 4, groups: int = 2, inner: int = 512
) -> Any:
    """An untrained ``LlamaForCausalLM``, float32, tied embeddings; a million parameters with these defaults."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokens),
            hidden_size=hidden,
            intermediate_size=inner,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            num_key_value_heads=groups,
            max_position_embeddings=1024,
            tie_word_embeddings=True,
            bos_token_id=None,
            eos_token_id=tokens.eos_token_id,
            pad_token_id=tokens.pad_token_id,
        )
    )
