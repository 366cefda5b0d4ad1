"""The small world in a folder: training and held-out rows, and an untrained model with its tokenizer.

    sft.jsonl grpo.jsonl held_out.jsonl init/

Rows hold ``program``, ``call``, ``truth``, ``prompt`` and ``completion`` (the perfect trace with thoughts). No held-out
program is in a training file: the two sides are told apart by a hash of the text. The two training files are cut from one
stream that gives each call of each program once.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ct_tasks.benchmarks import micro
from ct_tasks.benchmarks.micro.programs import LEVELS, Sample, stream
from ct_tasks.contra.trace import render
from ct_tasks.contra.tracer import trace_call
from ct_tasks.errors import ConfigError
from ct_train import limits
from ct_train.micro import model as models
from ct_train.output import full_disk, locked, replaced, write_json
from ct_train.resume import differences

MADE = "micro.json"


@dataclass(frozen=True)
class MicroSettings:
    """Rows of each file, the range of outermost statements, the levels, and the model's size (see ``micro.model``)."""

    output_dir: str = ""
    sft: int = 24000
    grpo: int = 4000
    held_out: int = 512
    statements: tuple[int, ...] = (1, 3)
    levels: tuple[int, ...] = LEVELS
    seed: int = 0
    hidden: int = 128
    layers: int = 3
    heads: int = 4
    groups: int = 2
    inner: int = 256

    def check(self) -> None:
        """Raises ``ConfigError`` for what cannot be made."""
        if not self.output_dir:
            raise ConfigError("micro needs output_dir: set it in the config or with output_dir=...")
        if len(self.statements) != 2 or not 1 <= self.statements[0] <= self.statements[1] <= 6:
            raise ConfigError(f"statements {list(self.statements)} must be a range [least, most] within 1 to 6")
        if not self.levels or not set(self.levels) <= set(LEVELS):
            raise ConfigError(f"levels {list(self.levels)} must be some of {list(LEVELS)}")
        if min(self.sft, self.grpo, self.held_out) < 1:
            raise ConfigError("sft, grpo and held_out must be at least 1 row each")
        limits.check(self, {**dict.fromkeys(("hidden", "layers", "heads", "groups", "inner"), limits.COUNT), "seed": limits.SEED})
        if self.hidden % self.heads or self.heads % self.groups or self.hidden // self.heads % 2:
            raise ConfigError(
                f"hidden {self.hidden}, heads {self.heads} and groups {self.groups} do not fit: each head needs an even share "
                "of hidden, each group the same number of heads"
            )


def make(settings: MicroSettings) -> Path:
    """Write the folder; the same settings give the same bytes. Raises ``ConfigError`` where ``micro.json`` there says that it
    was made with others."""
    settings.check()
    with locked(settings.output_dir) as folder, full_disk(folder):
        refuse_other_world(folder, settings)
        least, most = settings.statements
        shape: dict[str, Any] = {"levels": settings.levels, "statements": (least, most)}
        training = stream(settings.seed, **shape)
        held = stream(settings.seed, held=True, **shape)
        for name, source, count in (
            ("sft", training, settings.sft),
            ("grpo", training, settings.grpo),
            ("held_out", held, settings.held_out),
        ):
            _write(folder / f"{name}.jsonl", rows(itertools.islice(source, count), name))
        begun = folder / "init.part"
        tokens = models.tokenizer()
        sizes = {k: getattr(settings, k) for k in ("hidden", "layers", "heads", "groups", "inner")}
        models.model(tokens, seed=settings.seed, **sizes).save_pretrained(begun)
        tokens.save_pretrained(begun)
        replaced(folder / "init", begun)
        write_json(folder / MADE, asdict(settings))
    return folder


def refuse_other_world(folder: Path, settings: MicroSettings) -> None:
    """Raises ``ConfigError`` naming what differs from the finished world in ``folder``; models may have learnt from it."""
    try:
        before = json.loads((folder / MADE).read_text())
    except (OSError, ValueError):
        return  # not finished: nothing can have been made from it
    if changed := differences(before, settings, {"output_dir"}):
        raise ConfigError(
            f"{folder} holds a small world made with other settings: {'; '.join(changed)}. Name a fresh output_dir, or give "
            "the old values"
        )


def rows(samples: Iterable[Sample], name: str) -> Iterator[dict[str, Any]]:
    """Training rows. The programs are the project's own, so they are traced in this process."""
    for number, sample in enumerate(samples):
        truth = trace_call(sample.code, sample.call)
        yield {
            "id": f"{name}/{number}",
            "program": sample.code,
            "call": sample.call,
            "level": sample.level,
            "truth": truth.to_json(),
            "prompt": micro.prompt(sample.code, sample.call),
            "completion": render(truth, sample.thoughts),
        }


def _write(path: Path, lines: Iterator[dict[str, Any]]) -> None:
    """Through a temporary name, so that a killed run leaves no half file. The stream is drained either way."""
    partial = path.with_suffix(".part")
    with partial.open("w") as file:
        for row in lines:
            file.write(json.dumps(row) + "\n")
    partial.replace(path)
