"""Many programs of one language through a hardened container: batched builds, one process and one user a program."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any

from ct_tasks.errors import HarnessError
from ct_tasks.execution import docker
from ct_tasks.execution.jobs import Result, RunStatus
from ct_tasks.execution.languages import get

CHUNK = 400  # programs a request: enough to fill a batch compiler, few enough that a lost container costs little
Progress = Callable[[int, int], None]


def run_programs(
    language: str,
    programs: Sequence[str],
    *,
    batch: bool = True,
    workers: int | None = None,
    runs: int = 1,
    progress: Progress | None = None,
) -> list[Result]:
    """Run each program; results in order. ``ok`` is the benchmark's own verdict that the program ran clean.

    ``batch=False`` builds every program alone and without a precompiled header, as the official runner does. A container that dies is replaced once and its
    unfinished programs run again; if it dies again on the same ones, each gets a fresh container, and one that kills
    its container is ``killed``. With ``runs`` each program is built once and run so often; ``ok`` means every time, and
    ``value`` says how many runs were clean. Raises ``HarnessError`` for a dead engine or a missing image, before anything runs.
    """
    lang = get(language)
    recipe = {"runs": runs, **lang.recipe(), **({} if batch else {"batch": "", "extra_if": None})}
    workers = workers or min(os.cpu_count() or 1, 8)
    found: dict[int, Result] = {}
    unique = {text: i for i, text in reversed(list(enumerate(programs)))}
    todo = sorted(unique.values())
    while todo:
        size = min(CHUNK, len(todo))
        settled = False
        with docker.container(lang.image, memory_mb=lang.memory_mb * workers + 2048, cpus=float(workers)) as name:
            for begin in range(0, len(todo), size):
                part = todo[begin : begin + size]
                before = len(found)
                rows, error = _request(
                    name, recipe, [programs[i] for i in part], lang.memory_mb, workers,
                    progress and (lambda done, before=before: progress(before + done, len(unique))),
                )  # fmt: skip
                for row in rows:
                    found[part[row["i"]]] = _result(row, str(part[row["i"]]))
                settled = settled or bool(rows)
                if error:
                    break
        left = [i for i in todo if i not in found]
        if left and not settled:
            # Nothing came back: the first unfinished program is what ends containers, or the engine is broken.
            if size == 1 or len(left) == 1:
                docker.check_engine()
                found[left[0]] = Result(
                    "killed", error=f"the container ended while this program ran: {error}", id=str(left[0])
                )
                left = left[1:]
            else:
                for i in left:
                    found.update(_one(lang.image, recipe, programs, i, lang.memory_mb))
                left = []
        todo = left
    return [found[unique[text]] for text in programs]


def _one(image: str, recipe: dict[str, Any], programs: Sequence[str], index: int, memory_mb: int) -> dict[int, Result]:
    with docker.container(image, memory_mb=memory_mb + 2048, cpus=1.0) as name:
        rows, error = _request(name, recipe, [programs[index]], memory_mb, 1)
    if rows:
        return {index: _result(rows[0], str(index))}
    return {index: Result("killed", error=f"the container ended while this program ran: {error}", id=str(index))}


def _request(
    name: str,
    recipe: dict[str, Any],
    programs: Sequence[str],
    memory_mb: int,
    workers: int,
    progress: Callable[[int], None] | None = None,
) -> tuple[list[dict[str, Any]], str]:
    """Send one request; the rows that came back, and what went wrong if the guest did not finish."""
    guest = resources.files("ct_tasks.execution.languages").joinpath("guest.py").read_text()
    process = docker.execute(name, ["python3", "-I", "-c", guest])
    assert process.stdin
    assert process.stdout
    assert process.stderr
    request = json.dumps({
        "recipe": recipe, "programs": list(programs), "memory_mb": memory_mb, "workers": workers, "runs": recipe["runs"],
    })  # fmt: skip
    rows: list[dict[str, Any]] = []
    done = False
    with contextlib.suppress(BrokenPipeError):  # the guest ended early; its stderr below says why
        process.stdin.write(request + "\n")
        process.stdin.close()
    for line in process.stdout:
        try:
            row = json.loads(line)
        except ValueError:
            break
        if row.get("done"):
            done = True
        else:
            rows.append(row)
            if progress and (len(rows) % 10 == 0 or len(rows) == len(programs)):
                progress(len(rows))
    error = process.stderr.read()
    process.wait()
    if not done and "No such container" not in error and "is not running" not in error and "Traceback" in error:
        raise HarnessError(f"the runner in the container failed: {error[-500:]}")
    return rows, "" if done else (error.strip()[-300:] or "no reason given")


def _result(row: dict[str, Any], identity: str) -> Result:
    status: RunStatus = row["status"]
    error = "" if status == "ok" else f"{row['stage']}: {(row['stderr'] or row['stdout']).strip()[:600]}"
    return Result(
        status,
        error=error,
        value=str(row.get("clean", int(status == "ok"))),
        stdout=row["stdout"],
        stderr=row["stderr"],
        cpu_s=row["cpu"],
        wall_s=row["wall"],
        id=identity,
    )
