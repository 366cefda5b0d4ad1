"""All data steps in order, from one set of settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ct_tasks.benchmarks import data
from ct_tasks.benchmarks.base import Source
from ct_tasks.benchmarks.fresh import editions
from ct_tasks.errors import ConfigError, DataError
from ct_tasks.options import SEGMENTATIONS
from ct_train import limits
from ct_train.data.card import write_card
from ct_train.data.execute import ExecuteSettings, execute_step
from ct_train.data.inputs import inputs_step, make_sources
from ct_train.data.llm import LlmSettings
from ct_train.data.programs import KNOWN
from ct_train.data.similarity import SimilaritySettings, located, similarity_step
from ct_train.data.split import split_step
from ct_train.data.static_filter import static_step
from ct_train.data.statistics import statistics_step
from ct_train.data.steps import Row, dump, say, whole

STEPS = ("static", "inputs", "execute", "similarity", "split", "statistics", "card")


@dataclass(frozen=True)
class InputSettings:
    """``sources`` in the order in which they fill up; ``per_function``: the paper's 15."""

    sources: tuple[str, ...] = ("dataset", "mutate")
    per_function: int = 15
    max_call_chars: int = 600
    llm: LlmSettings = field(default_factory=LlmSettings)


@dataclass(frozen=True)
class DataSettings:
    """Settings of ``python -m ct_train data``. ``rows``: a JSON lines file (plain or gzip), a path below ``CT_DATA_DIR``, or
    ``hub:NAME`` for a dataset's train split. ``limit``: the first rows only. ``compare``: other training sets for the
    statistics, name to a file of JSON lines with ``program`` and ``call``."""

    out: str = ""
    rows: str = "hub:newfacade/LeetCodeDataset"
    limit: int | None = None
    min_lines: int = 5
    seed: int = 0
    inputs: InputSettings = field(default_factory=InputSettings)
    execute: ExecuteSettings = field(default_factory=ExecuteSettings)
    similarity: SimilaritySettings = field(default_factory=SimilaritySettings)
    compare: Mapping[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Raises ``ConfigError`` for what no step could follow."""
        if self.execute.segmentation not in SEGMENTATIONS:
            raise ConfigError(
                f"execute.segmentation = {self.execute.segmentation!r}; known: {', '.join(SEGMENTATIONS)}"
            )
        if not 0 < self.similarity.threshold <= 1:
            raise ConfigError(f"similarity.threshold = {self.similarity.threshold}; it is a cosine between 0 and 1")
        if self.inputs.per_function < 1 or self.min_lines < 1 or (self.limit is not None and self.limit < 1):
            raise ConfigError("inputs.per_function, min_lines and limit are 1 or more")
        limits.check(self, {"seed": limits.NOT_NEGATIVE})
        limits.check(self.inputs, {"max_call_chars": limits.COUNT}, "inputs.")
        self.inputs.llm.check("inputs.llm.")
        counts = ("max_lines", "memory_mb", "max_value_chars", "max_trace_chars", "workers", "batch")
        times = dict.fromkeys(("timeout_s", "trace_s"), limits.POSITIVE)
        limits.check(self.execute, {**dict.fromkeys(counts, limits.COUNT), **times}, "execute.")
        limits.check(self.similarity, {"batch": limits.COUNT}, "similarity.")
        for name in self.similarity.benchmarks:
            if name not in KNOWN:
                raise ConfigError(f"similarity.benchmarks: {name!r} is unknown; known: {', '.join(KNOWN)}")
        make_sources([n for n in self.inputs.sources if n != "llm"] or ["dataset"], self.seed, None, Path())
        if unknown := [n for n in self.inputs.sources if n not in ("dataset", "mutate", "llm")]:
            raise ConfigError(f"inputs.sources: {unknown[0]!r} is unknown; sources: dataset, mutate, llm")


def run(settings: DataSettings, steps: Sequence[str] = STEPS) -> Path:
    """Run the steps named; the folder of the outputs. Finished steps are recognised and not done again."""
    settings.check()
    if not settings.out:
        raise ConfigError("out is not set: name a folder, e.g. --out runs/leetcode_reasoning")
    if "similarity" in steps:
        located(settings.similarity.model)  # a missing package is told before any step runs
    folder = Path(settings.out)
    folder.mkdir(parents=True, exist_ok=True)
    rows = _rows(settings) if {"static", "card"} & set(steps) else []
    raw = folder / "0_rows.jsonl"

    def write_rows() -> dict[str, str]:
        kept = ("task_id", "completion", "entry_point", "input_output", "meta", "difficulty")
        return {raw.name: "".join(dump({k: row[k] for k in kept if k in row}) + "\n" for row in rows)}

    for step in steps:
        match step:
            case "static":
                mark = {"rows": settings.rows, "limit": settings.limit, "content": _digest(rows)}
                whole(folder, "0_rows", mark, [], write_rows)
                static_step(folder, rows, [raw], settings.min_lines)
            case "inputs":
                chosen = settings.inputs
                sources = make_sources(chosen.sources, settings.seed, chosen.llm, folder)
                inputs_step(folder, sources, per_function=chosen.per_function, max_chars=chosen.max_call_chars)
            case "execute":
                execute_step(folder, settings.execute)
            case "similarity":
                similarity_step(folder, settings.similarity)
            case "split":
                split_step(folder, settings.seed)
            case "statistics":
                statistics_step(
                    folder,
                    settings.execute.segmentation,
                    settings.similarity.benchmarks,
                    settings.execute.workers,
                    compare={name: Path(file) for name, file in settings.compare.items()},
                )
            case "card":
                write_card(folder, {"name": settings.rows, "rows": len(rows), "licence": "MIT"})
                say(f"card: {folder / 'card.md'}")
            case _:
                raise ConfigError(f"there is no step {step!r}; steps: {', '.join(STEPS)}")
    return folder


def _digest(rows: Sequence[Row]) -> str:
    import hashlib

    return hashlib.sha256("\n".join(map(dump, rows)).encode()).hexdigest()


def _rows(settings: DataSettings) -> list[Row]:
    """The dataset's rows, each function once. Raises ``DataError`` saying where they were looked for."""
    name = settings.rows
    if name.startswith("hub:"):
        rows = _from_hub(name.removeprefix("hub:"))
    else:
        path = data.local_file(Source(local=name, rows=0, licence="MIT")) or Path(name)
        if not path.is_file():
            raise DataError(f"rows = {name}: no such file, here or below CT_DATA_DIR={data.data_dir()}")
        rows = data.read_file(path)
    for number, row in enumerate(rows):
        missing = [k for k in ("task_id", "completion", "entry_point") if not isinstance(row, dict) or k not in row]
        if missing:
            raise DataError(f"{name}, row {number}: no {', '.join(missing)}; this is not LeetCodeDataset's format")
    editions.refuse(({"id": row["task_id"], "program": row["completion"]} for row in rows), name)
    unique = {str(row["task_id"]): row for row in rows}
    return list(unique.values())[: settings.limit]


def _from_hub(name: str) -> list[Row]:
    from datasets import load_dataset

    try:
        return [dict(row) for row in load_dataset(name, split="train")]
    except Exception as error:  # whatever the hub's client raises, the user needs the way out
        cause = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        raise DataError(
            f"the dataset {name} cannot be read from the hub ({cause}). Connect to the network, or set rows to a file of it, "
            "e.g. rows=leetcode/LeetCodeDataset-v0.2.0-train.jsonl.gz below CT_DATA_DIR."
        ) from error
