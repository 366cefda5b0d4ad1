"""A second look at finished outputs, independent of the steps that made them: what must not be found, counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ct_tasks.contra import literals
from ct_tasks.execution.jobs import Job, Limits, Result
from ct_tasks.execution.pool import PythonPool
from ct_train.data import clones, programs
from ct_train.data.similarity import Embed, Index, embedder
from ct_train.data.split import HALVES
from ct_train.data.steps import Row, read_rows

SEED = 424242  # a hash seed that no step used


def verify(
    folder: Path, model: str, threshold: float, workers: int | None = None, embed: Embed | None = None
) -> dict[str, int]:
    """Counts of faults in ``sft.jsonl`` and ``grpo.jsonl``, all of which should be 0, and of what was looked at."""
    halves = {name: read_rows(folder / f"{name}.jsonl") for name in HALVES}
    rows = [row for half in halves.values() for row in half]
    texts = {row["id"]: clones.text_of(row["program"], row["entry"]) for row in rows}
    digests = [{clones.renamed(texts[row["id"]]) for row in half} for half in halves.values()]
    ids = [{row["id"] for row in half} for half in halves.values()]
    references = [r for group in programs.load().values() for r in group]
    index = Index(references, embed or embedder(model))
    nearest = index.nearest(list(texts.values()))
    with PythonPool(workers, hash_seed=SEED) as pool:
        wrong = _wrong(rows, pool.run)
    return {
        "samples": len(rows),
        "functions": len(texts),
        "benchmark programs": len(references),
        "functions in both halves": len(ids[0] & ids[1]),
        "functions in both halves after renaming": len(digests[0] & digests[1]),
        "functions at or above the threshold": sum(score >= threshold for _, score in nearest),
        "copies and renamed copies of benchmark programs": sum(
            index.clone_of(text) is not None for text in texts.values()
        ),
        "samples whose call does not give the output": wrong,
        "doubled samples": len(rows) - len({(row["id"], row["call"]) for row in rows}),
    }


def _wrong(rows: Sequence[Row], run: Callable[[Sequence[Job]], list[Result]]) -> int:
    jobs = [Job(row["program"], expr=row["call"], limits=Limits(4.0, 8.0)) for row in rows]
    return sum(
        result.status != "ok"
        or result.value is None
        or not literals.same(literals.parse(result.value), literals.parse(row["output"]))
        for row, result in zip(rows, run(jobs), strict=True)
    )


def faults(counts: dict[str, int]) -> list[str]:
    """The counts that should be 0 and are not."""
    looked_at = ("samples", "functions", "benchmark programs")
    return [f"{name}: {count}" for name, count in counts.items() if name not in looked_at and count]
