"""What makes a run itself: model path (and adapter), stage, paradigm, options. Read from one results file of lm-eval."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ct_tasks.options import TaskOptions

STAGES = ("sft", "grpo")
# Folder names that say where in a training's output a model lies, not which training it was.
GENERIC = re.compile(
    r"final|merged|models?|outputs?|adapters?|weights|last|best|snapshots|actor|huggingface|checkpoint-\d+|global_step_\d+|[0-9a-f]{40}",
    re.I,
)
_DEFAULTS = {f.name: f.default for f in fields(TaskOptions)}
_ADAPTER = ("peft", "lora_local_path", "lora_path")
_DEPTH = 3  # parts of a path in which a stage is looked for: further up it is somebody's folder, not the run's


@dataclass(frozen=True)
class Identity:
    """``source`` and ``adapter``: as lm-eval was given them. ``family``: the model that training began with, as far as it can
    be told, so that before and after stand side by side. ``settings``: every option that is not its default, and sampling.
    ``circumstances``: what else was recorded; it tells runs apart only where nothing above does."""

    source: str
    adapter: str = ""
    family: str = ""
    stage: str = ""
    paradigm: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    circumstances: Mapping[str, str] = field(default_factory=dict)


def identify(
    data: Mapping[str, Any], metadata: Mapping[str, Any], options: Mapping[str, Any], folders: Sequence[str]
) -> Identity:
    """``folders``: the names of the folders that the results lie in, outermost first, from the one that the user named on.

    The stage is the metadata's where it is given; else that of the training whose settings lie beside the model or adapter;
    else ``sft`` or ``grpo`` as a word in the model's path; else in the run's own folder (there also ``base``).
    """
    config = data.get("config") if isinstance(data.get("config"), dict) else {}
    assert isinstance(config, dict)
    arguments = _arguments(config.get("model_args"))
    source = str(data.get("model_name") or arguments.get("pretrained") or config.get("model") or "unknown").rstrip("/")
    adapter = next((str(arguments[k]).rstrip("/") for k in _ADAPTER if arguments.get(k)), "")
    stage = str(metadata.get("stage") or "")
    paths = [p for p in (adapter, source) if is_local(p)]
    if not stage:
        stage = next((s for p in paths if (s := _trained(p)[0])), "")
        stage = stage or next((s for p in paths if (s := _word(Path(p).parts[-_DEPTH - 1 :], STAGES))), "")
        inner = [f for f in folders if f != data.get("model_name_sanitized")]
        stage = stage or _word(inner, (*STAGES, "base"))
    return Identity(
        source, adapter, _family(source, adapter), stage, str(options.get("paradigm") or ("default" if options else "")),
        _settings(data, config, arguments, options), _circumstances(data, config, arguments),
    )  # fmt: skip


def is_local(source: str) -> bool:
    """A path on a disk, not a name on the hub (one slash at most, not at its beginning, and no ``final`` after it)."""
    first, slash, last = source.rpartition("/")
    return bool(slash) and (source.startswith(("/", ".", "~")) or "/" in first or bool(GENERIC.fullmatch(last)))


def _arguments(given: Any) -> Mapping[str, Any]:
    """lm-eval's ``--model_args``: a mapping, or in older results the text ``a=b,c=d``."""
    if isinstance(given, Mapping):
        return given
    pairs = (part.partition("=") for part in str(given or "").split(","))
    return {k.strip(): v.strip() for k, sep, v in pairs if sep}


def _trained(source: str) -> tuple[str, str]:
    """Stage and start model by the settings that a training left beside what it wrote; empty where there are none."""
    path = Path(source).expanduser()
    for folder in (path.parent, path):
        try:
            settings = json.loads((folder / "config.json").read_text())["settings"]
            return ("grpo" if "group_size" in settings else "sft", str(settings.get("model") or ""))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
    return "", ""


def _word(parts: Iterable[str], words: Sequence[str]) -> str:
    """The first of ``words`` that stands as a word in a part, the innermost part first."""
    for part in reversed(list(parts)):
        found = [w for w in re.split(r"[^a-z0-9]+", part.lower()) if w in words]
        if found:
            return found[-1]
    return ""


def _family(source: str, adapter: str) -> str:
    """The start model: of an adapter its base; of a trained model what its settings name, and so on; else the path without the
    part that names the stage, which before and after a training then share."""
    seen = {source}
    while is_local(source):
        start = _trained(source)[1].rstrip("/")
        if not start or start in seen:
            parts = [p for p in Path(source).parts if not GENERIC.fullmatch(p)]
            tail = ["*" if _word([p], STAGES) else p for p in parts[-_DEPTH:]]
            return "/".join([*parts[:-_DEPTH], *tail])
        seen.add(start)
        source = start
    return source


def _settings(
    data: Mapping[str, Any], config: Mapping[str, Any], arguments: Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, str]:
    found = {
        k: _text(v)
        for k, v in options.items()
        if k != "paradigm" and v is not None and not (k in _DEFAULTS and v == _DEFAULTS[k])
    }
    found |= {k: _text(v) for k, v in _arguments(config.get("gen_kwargs")).items()}
    if data.get("chat_template"):
        found["chat template"] = "yes"
    if arguments.get("revision") not in (None, "", "main"):
        found["revision"] = _text(arguments["revision"])
    return found


def _circumstances(
    data: Mapping[str, Any], config: Mapping[str, Any], arguments: Mapping[str, Any]
) -> dict[str, str]:
    shots = {v for v in (data.get("n-shot") or {}).values() if v} if isinstance(data.get("n-shot"), dict) else set()
    found = {
        "limit": config.get("limit"),
        "num_fewshot": next(iter(shots)) if len(shots) == 1 else None,
        "backend": config.get("model"),
        "dtype": arguments.get("dtype"),
        "quantization": arguments.get("quantization"),
        "server": arguments.get("base_url"),
        "system prompt": str(data["system_instruction_sha"])[:8] if data.get("system_instruction_sha") else None,
        "seed": config.get("random_seed"),
        "rescored": (data.get("rescored") or {}).get("codethinker-eval"),
        "lm_eval": data.get("lm_eval_version"),
    }
    return {k: _text(v) for k, v in found.items() if v not in (None, "")}


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
