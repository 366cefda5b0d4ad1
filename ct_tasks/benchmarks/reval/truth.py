"""What REval's programs really do, found by running them in the sandbox; kept in the cache by the hash of all it depends on.

Programs that need a package that is not installed (gensim, bs4: HtmlUtil, VectorUtil; NumPy below 2: KappaCalculator) have no
truth here; their items are listed as bad references, with what to install.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ct_tasks.benchmarks import data
from ct_tasks.benchmarks.reval import dataset
from ct_tasks.errors import DataError, HarnessError
from ct_tasks.execution.jobs import Job, Limits, Result
from ct_tasks.execution.pool import shared_pool
from ct_tasks.options import TaskOptions

LIMITS = Limits(cpu_s=60.0, wall_s=240.0, memory_mb=4096, output_bytes=1 << 20)
_HOOKS = "ct_tasks.benchmarks.reval.child"
INPUTS, PROBES = 690, 3152
PACKAGES = ("numpy", "gensim", "beautifulsoup4")  # what the programs import beyond the standard library


@dataclass(frozen=True, slots=True)
class Input:
    """One program with one of its inputs: ``id`` is ``DREval/<program>/<input>``, as in REval-FO."""

    id: str
    index: int
    number: int
    row: Mapping[str, Any]
    probes: tuple[tuple[int, str], ...]
    masked: str

    @property
    def is_class(self) -> bool:
        return self.index >= dataset.FUNCTIONS

    @property
    def payload(self) -> dict[str, Any]:
        """What the hooks need to run this input."""
        common = {"code": self.row["code"], "entry": self.row["entry_point"], "number": self.number}
        if self.is_class:
            return {**common, "test": self.row["test"], "text": self.row["inputs"][self.number]}
        return {**common, "input": self.row["inputs"][self.number]}


@cache
def _inputs(folder: str) -> tuple[Input, ...]:
    rows = dataset.rows()
    found = []
    for task in dataset.tasks():
        for pair in task["tasks"]:
            number = int(pair["input_idx"])
            found.append(Input(f"{task['task_id']}/{number}", int(task["idx"]), number, rows[int(task["idx"])],
                               tuple((int(p["lineno"]), str(p["var"])) for p in pair["task"]), pair["output_pred"]))
    if len(found) != INPUTS or sum(len(i.probes) for i in found) != PROBES:
        raise DataError(f"REval's task file has {len(found)} inputs with {sum(len(i.probes) for i in found)} probes, "
                        f"not {INPUTS} with {PROBES}: another version of the data")
    return tuple(found)


def inputs() -> tuple[Input, ...]:
    """The official task set: 396 function and 294 class inputs with 3,152 probes."""
    return _inputs(str(data.data_dir()))


@cache
def _key(folder: str) -> str:
    source = Path(__file__).with_name("child.py").read_bytes()
    values = Path(__file__).parents[1].joinpath("codegen", "values.py").read_bytes()
    given = json.dumps([i.payload for i in inputs()]) + json.dumps([i.probes for i in inputs()])
    versions = json.dumps([platform.python_version(), *(_version(name) for name in PACKAGES)])
    return hashlib.sha256(source + values + given.encode() + versions.encode()).hexdigest()[:24]


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _job(hook: str, given: Input, **more: Any) -> Job:
    return Job("", hook=hook_of(given, hook), payload={**given.payload, **more}, limits=LIMITS, id=given.id)


@cache
def _has_extra() -> bool:
    return all(importlib.util.find_spec(name) for name in ("gensim", "bs4"))


def hook_of(given: Input, function: str) -> str:
    """The trusted hook that runs this input's program; one that imports gensim or bs4 needs workers that have loaded them."""
    extra = ("gensim" in given.row["code"] or "bs4" in given.row["code"]) and _has_extra()
    return f"{_HOOKS}{'_extra' if extra else ''}:{function}"


def run(jobs: list[Job], options: TaskOptions) -> list[Result]:
    """Jobs in the shared pool of the chosen backend."""
    return shared_pool("docker" if options.backend == "docker" else "local").run(jobs) if jobs else []


@cache
def _truth(key: str, backend: str) -> Mapping[str, Any]:
    kept = data.cache_dir() / f"reval-truth-{key}.json"
    if kept.is_file():
        loaded: Mapping[str, Any] = json.loads(kept.read_text())
        return loaded
    options = TaskOptions(backend=backend)
    jobs = [_job("trace", i, probes=i.probes) for i in inputs()]
    jobs += [_job("asserted", i) for i in inputs() if i.is_class]
    found: dict[str, Any] = {"trace": {}, "asserted": {}, "failed": {}}
    for job, result in zip(jobs, run(jobs, options), strict=True):
        if result.status == "ok" and result.value is not None:
            found[job.hook.rpartition(":")[2] if job.hook else ""][job.id] = json.loads(result.value)
        elif "ModuleNotFoundError" in result.error:
            found["failed"][job.id] = (f"the program needs a package that is not installed ({result.error}); "
                                       "pip install 'codethinker-eval[reval]'")
        elif "NumPy 2.0" in result.error:
            found["failed"][job.id] = f"the program needs NumPy below 2 ({result.error})"
        else:
            raise HarnessError(f"REval's program {job.id} did not run: {result.status}: {result.error}")
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_name(f"{kept.name}.{os.getpid()}.part")
    part.write_text(json.dumps(found))
    part.replace(kept)
    return found


def truth(options: TaskOptions) -> Mapping[str, Any]:
    """``trace`` and ``asserted`` by input id (see ``child``), and ``failed``: input id to the reason why it has none."""
    return _truth(_key(str(data.data_dir())), options.backend)
