"""Task options out of lm-eval's metadata, in which they are mixed with the model's arguments."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from typing import Any

from ct_tasks.benchmarks import registry
from ct_tasks.errors import ConfigError, UnknownNameError, each, refuse
from ct_tasks.options import TaskOptions

NAMES = tuple(f.name for f in dataclasses.fields(TaskOptions))
# lm-eval merges --model_args into the metadata. These names belong to models and must not be taken for misspelt options.
_MODEL_ARGUMENTS = frozenset(
    """pretrained model dtype device batch_size max_length revision peft parallelize backend gguf_file base_url
    num_concurrent seed timeout max_retries tokenized_requests tokenizer_backend version config config_source delta
    truncation logits_cache trust_remote_code use_fast_tokenizer add_bos_token prefix_token_id subfolder max_model_len
    enforce_eager block_size swap_space quantization think_end_token enable_thinking chat_template_args max_batch_size
    eos_string header auth_token truncate""".split()  # noqa: SIM905 - one name a line says no more
)


def check_metadata(metadata: Mapping[str, Any]) -> TaskOptions:
    """The options in ``metadata``. Raises ``ConfigError`` or ``ConfigErrors`` for bad values and for keys that look like a
    misspelt option (any other unknown key may be a model's argument and is left alone)."""
    given, errors = {}, []
    for key, value in metadata.items():
        if key in NAMES and not (key == "backend" and value not in ("local", "docker")):
            given[key] = value
        elif key not in _MODEL_ARGUMENTS and difflib.get_close_matches(key, NAMES, n=1, cutoff=0.8):
            errors.append(UnknownNameError("task option", key, NAMES))
    try:
        options = TaskOptions.from_mapping(given)
    except ConfigError as error:
        refuse([*errors, *each(error)])
        raise
    refuse(errors)
    return options


def check_task(name: str, options: TaskOptions) -> None:
    """Whether a task can be asked in this way. Raises ``UnknownNameError`` for a paradigm that it does not have, what the
    task itself raises, such as ``ConfigError`` for more worked examples than there are, and ``ConfigErrors`` for several."""
    benchmark = registry.get(name)
    errors: list[ConfigError] = [
        UnknownNameError("language", language, registry.LANGUAGES)
        for language in options.languages or ()
        if language not in registry.LANGUAGES
    ]
    if options.paradigm is not None and options.paradigm not in benchmark.paradigms:
        errors.insert(0, UnknownNameError(f"paradigm of {name}", options.paradigm, benchmark.paradigms))
    else:
        try:
            benchmark.generation(options)
        except ConfigError as error:
            errors += each(error)
    refuse(errors)
