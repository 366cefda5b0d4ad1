"""Runs from lm-eval's result folders: ours and plain ones, old and new, and what is left of damaged ones."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ct_tasks.errors import ConfigError
from ct_tasks.reports.identity import Identity, identify
from ct_tasks.reports.names import named


@dataclass(frozen=True)
class TaskResult:
    """One task of one run: metric name to value (filter names dropped), standard errors, number of documents."""

    metrics: dict[str, float]
    errors: dict[str, float]
    n: int
    samples: Path | None
    higher: dict[str, bool]
    version: str = ""


@dataclass(frozen=True)
class Run:
    """One evaluation: a model in one paradigm. ``model`` and ``label`` are names among the runs that were read together (see
    ``names``). ``key``: a hash of the results file, for links that outlive one report, wherever the file lies."""

    path: Path
    identity: Identity
    key: str
    date: float
    seconds: float | None
    tasks: dict[str, TaskResult] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    model: str = ""
    label: str = ""

    @property
    def name(self) -> str:
        """How tables call it."""
        return self.label

    @property
    def stage(self) -> str:
        return self.identity.stage

    @property
    def paradigm(self) -> str:
        return self.identity.paradigm


def read_runs(folders: Sequence[Path]) -> tuple[list[Run], list[str]]:
    """All runs below ``folders``, oldest first, and one sentence for everything that could not be read.

    Raises ``ConfigError`` when a folder does not exist or not one run is found.
    """
    runs: list[Run] = []
    problems: list[str] = []
    for folder in folders:
        if not folder.exists():
            raise ConfigError(f"{folder} does not exist")
        files = sorted(folder.rglob("results*.json")) if folder.is_dir() else [folder]
        for file in files:
            try:
                runs.append(_run(file, folder))
            except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                problems.append(f"{file} is left out: {type(error).__name__}: {str(error)[:120]}")
        if folder.is_dir() and not files and not any(folder.rglob("rollouts.jsonl")):
            left = len(list(folder.rglob("samples_*.jsonl")))
            problems.append(
                f"{folder} has no results file"
                + (f", only {left} samples files: the run did not finish" if left else "")
            )
    if not runs:
        raise ConfigError(
            "no result was found; " + ("; ".join(problems) or "give folders that lm_eval wrote with --output_path")
        )
    kept, copies = _once(sorted(runs, key=lambda r: (r.date, str(r.path))))
    found, numbered = named(kept)
    return found, problems + copies + numbered + _versions(found)


def _once(runs: Sequence[Run]) -> tuple[list[Run], list[str]]:
    """Without copies: a results file that holds byte for byte what another holds counts once. A file that was reached twice is
    no copy and is not spoken of."""
    first: dict[str, Run] = {}
    problems = []
    for run in runs:
        kept = first.setdefault(run.key, run)
        if kept is not run and kept.path.resolve() != run.path.resolve():
            problems.append(f"{run.path} is a copy of {kept.path} and is left out")
    return list(first.values()), problems


def _versions(runs: Sequence[Run]) -> list[str]:
    """A sentence for each task whose runs were scored by different versions of it."""
    found: dict[str, dict[str, list[str]]] = {}
    for run in runs:
        for task, result in run.tasks.items():
            if result.version:
                found.setdefault(task, {}).setdefault(result.version, []).append(run.name)
    return [
        f"{task} was scored by different versions of the task: "
        + "; ".join(f"{version}: {', '.join(dict.fromkeys(names))}" for version, names in sorted(versions.items()))
        + " (python -m ct_tasks rescore gives today's verdicts)"
        for task, versions in found.items()
        if len(versions) > 1
    ]


def _run(file: Path, folder: Path) -> Run:
    content = file.read_bytes()
    data = json.loads(content)
    results = data["results"]
    if not isinstance(results, dict):
        raise ValueError("its results are not a mapping")
    configs = data.get("configs", {})
    groups = set(data.get("group_subtasks") or {}) | set(data.get("groups") or {})
    stamp = file.name.removeprefix("results_").removesuffix(".json")
    tasks = {}
    options: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    for name, row in results.items():
        if name in groups and name not in configs:
            continue
        metadata = (configs.get(name) or {}).get("metadata") or metadata
        options = metadata.get("ct_options") or options if isinstance(metadata, dict) else options
        samples = file.with_name(f"samples_{name}_{stamp}.jsonl")
        tasks[name] = _task(name, row, data, samples if samples.is_file() else None)
    if not tasks:
        raise ValueError("it names no task")
    inside = file.resolve().relative_to(folder.resolve().parent).parts[:-1] if folder.is_dir() else (file.parent.name,)
    identity = identify(data, metadata if isinstance(metadata, dict) else {}, options, inside)
    seconds = data.get("total_evaluation_time_seconds")
    return Run(
        file, identity, hashlib.sha256(content).hexdigest()[:10],
        float(data.get("date") or file.stat().st_mtime), float(seconds) if seconds else None, tasks, options,
    )  # fmt: skip


def _task(name: str, row: dict[str, Any], data: dict[str, Any], samples: Path | None) -> TaskResult:
    metrics: dict[str, float] = {}
    errors: dict[str, float] = {}
    for key, value in row.items():
        metric = key.partition(",")[0]
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not math.isfinite(value)
            or metric == "sample_len"
        ):
            continue
        if metric.endswith("_stderr"):
            errors.setdefault(metric.removesuffix("_stderr"), float(value))
        else:
            metrics.setdefault(metric, float(value))
    counts = (data.get("n-samples") or {}).get(name) or {}
    n = int(counts.get("effective") or row.get("sample_len") or 0)
    higher = (data.get("higher_is_better") or {}).get(name) or {}
    return TaskResult(metrics, errors, n, samples, higher, str((data.get("versions") or {}).get(name) or ""))


@dataclass(frozen=True)
class Sample:
    """One document of a samples file: replies, and a verdict row for each (ours), or the document's own metrics."""

    id: str
    group: str
    prompt: str
    target: str
    replies: list[str]
    verdicts: list[dict[str, Any]]
    date: str = ""  # of a dated problem, as the document gives it
    limit: int | None = None  # tokens that a reply could have
    data: Mapping[str, Any] = field(default_factory=dict)  # the item's own, where the document holds it
    until: tuple[str, ...] = ()  # stop strings that were sent

    @property
    def acc(self) -> float | None:
        """Mean accuracy over the replies that have a verdict."""
        known = [
            float(v["acc"]) for v in self.verdicts if v.get("status") != "harness_error" and v.get("acc") is not None
        ]
        return sum(known) / len(known) if known else None


def read_samples(path: Path, problems: list[str] | None = None) -> Iterator[Sample]:
    """Samples of one task. A torn or foreign line is skipped and named in ``problems``."""
    seen: set[str] = set()
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            try:
                sample = _sample(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                if problems is not None:
                    problems.append(f"{path.name}:{number} is left out: {type(error).__name__}")
                continue
            if sample.id in seen:
                if problems is not None:
                    problems.append(f"{path.name}:{number}: the id {sample.id} occurs twice; the first counts")
                continue
            seen.add(sample.id)
            yield sample


def identity_of(row: dict[str, Any]) -> str:
    """A sample's id: its document's own, else its number."""
    doc = row["doc"]
    return str(doc.get("id", row.get("doc_id"))) if isinstance(doc, dict) else str(row.get("doc_id"))


def _sample(row: dict[str, Any]) -> Sample:
    doc = row["doc"]
    identity = identity_of(row)
    arguments = row.get("arguments") or {}
    first = arguments.get("gen_args_0", {}) if isinstance(arguments, dict) else {}
    prompt = first.get("arg_0", "") if isinstance(first, dict) else ""
    sampling = first.get("arg_1", {}) if isinstance(first, dict) else {}
    limit = sampling.get("max_gen_toks") if isinstance(sampling, dict) else None
    until = sampling.get("until") if isinstance(sampling, dict) else None
    stops = (until,) if isinstance(until, str) else tuple(map(str, until)) if isinstance(until, list) else ()
    replies = [
        str(text) for group in row.get("resps") or [] for text in (group if isinstance(group, list) else [group])
    ]
    verdicts: list[dict[str, Any]] = []
    for group in row.get("filtered_resps") or []:
        for text in group if isinstance(group, list) else [group]:
            try:
                verdict = json.loads(text) if isinstance(text, str) else None
            except ValueError:
                verdict = None
            if isinstance(verdict, dict) and "status" in verdict:
                known = isinstance(verdict.get("acc"), (bool, int, float))
                verdicts.append(verdict if known else {**verdict, "acc": None})
    if not verdicts:  # a task of lm-eval's own: its metrics are all there is
        names = ("acc", "exact_match", "pass@1", "pass_at_1")
        score = next((row[n] for n in names if isinstance(row.get(n), (int, float))), None)
        answer = row.get("filtered_resps")
        verdicts = [
            {
                "acc": score,
                "status": "" if score is None else "right" if score else "wrong",
                "answer": str(answer)[:2000],
                "reason": "",
            }
        ]
    group = str(doc.get("group") or identity) if isinstance(doc, dict) else identity
    data = _data(doc)
    date = str(data.get("contest_date") or doc.get("contest_date") or "") if isinstance(doc, dict) else ""
    target = str(row.get("target", ""))
    room = limit if isinstance(limit, int) else None
    return Sample(identity, group, str(prompt), target, replies, verdicts, date, room, data, stops)


def _data(doc: Any) -> Mapping[str, Any]:
    """Documents of ours hold their item's data as JSON text."""
    try:
        found = json.loads(doc["data"])
    except (ValueError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}
