"""Many programs of one language through a hardened container: batched builds, one process and one user a program."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from ct_tasks.errors import HarnessError
from ct_tasks.execution import docker
from ct_tasks.execution.jobs import Result, RunStatus
from ct_tasks.execution.languages import get
from ct_tasks.execution.languages.kept import Verdicts

CHUNK = 400  # programs a request: enough to fill a batch compiler, few enough that a lost container costs little
Progress = Callable[[int, int], None]


def run_programs(
    language: str,
    programs: Sequence[str],
    *,
    batch: bool = True,
    workers: int | None = None,
    runs: int = 1,
    retry: bool = True,
    kept: Path | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """Run each program; results in order. ``ok`` is the benchmark's own verdict that the program ran clean.

    ``batch=False`` builds every program alone and without a precompiled header, as the official runner does. A container that dies is replaced once and its
    unfinished programs run again; if it dies again on the same ones, each gets a fresh container, and one that kills
    its container is ``killed``. With ``runs`` each program is built once and run so often; ``ok`` means every time, and
    ``value`` says how many runs were clean. Without ``retry`` a program that does not pass in a batch is not built again alone:
    only ``ok`` then says anything. ``kept`` is a file of verdicts (``kept.Verdicts``): those found there are not
    reached anew, and new ones are added as each chunk ends. Raises ``HarnessError`` for a dead engine or a missing image,
    before anything runs.
    """
    lang = get(language)
    recipe = {"runs": runs, "retry": retry, **lang.recipe(), **({} if batch else {"batch": "", "extra_if": None})}
    workers = workers or min(os.cpu_count() or 1, 8)
    found: dict[int, Result] = {}
    unique = {text: i for i, text in reversed(list(enumerate(programs)))}
    verdicts = None
    if kept is not None and batch and retry and runs == 1:
        verdicts = Verdicts(kept, docker.image_id(lang.image), recipe, _guest())
        texts = list(unique)
        found.update({unique[texts[i]]: result for i, result in verdicts.find(texts).items()})
    todo = sorted(i for i in unique.values() if i not in found)
    while todo:
        size = min(CHUNK, len(todo))
        settled = False
        with docker.container(lang.image, memory_mb=lang.memory_mb * workers + 2048, cpus=float(workers)) as name:
            for begin in range(0, len(todo), size):
                part = todo[begin : begin + size]

                def arrived(rows: list[dict[str, Any]], part: list[int] = part) -> None:
                    new = {part[row["i"]]: _result(row, str(part[row["i"]])) for row in rows}
                    found.update(new)
                    if verdicts is not None:
                        verdicts.add([programs[i] for i in new], list(new.values()))
                    if progress is not None:
                        progress(len(found), len(unique))

                rows, error = _request(
                    name, recipe, [programs[i] for i in part], lang.memory_mb, workers, arrived
                )
                settled = settled or rows > 0
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


def _guest() -> str:
    """Source of the runner inside the container."""
    return resources.files("ct_tasks.execution.languages").joinpath("guest.py").read_text()


def _one(image: str, recipe: dict[str, Any], programs: Sequence[str], index: int, memory_mb: int) -> dict[int, Result]:
    found: dict[int, Result] = {}
    with docker.container(image, memory_mb=memory_mb + 2048, cpus=1.0) as name:
        _, error = _request(
            name, recipe, [programs[index]], memory_mb, 1,
            lambda rows: found.update((index, _result(row, str(index))) for row in rows),
        )  # fmt: skip
    return found or {
        index: Result("killed", error=f"the container ended while this program ran: {error}", id=str(index))
    }


def _request(
    name: str,
    recipe: dict[str, Any],
    programs: Sequence[str],
    memory_mb: int,
    workers: int,
    arrived: Callable[[list[dict[str, Any]]], None],
) -> tuple[int, str]:
    """Send one request; how many rows came back, and what went wrong if the guest did not finish.

    ``arrived`` gets each row once, about ten at a time, as they come.
    """
    process = docker.execute(name, ["python3", "-I", "-c", _guest()])
    assert process.stdin
    assert process.stdout
    assert process.stderr
    request = json.dumps({
        "recipe": recipe, "programs": list(programs), "memory_mb": memory_mb, "workers": workers, "runs": recipe["runs"],
    })  # fmt: skip
    count, fresh = 0, []
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
            count += 1
            fresh.append(row)
        if len(fresh) >= 10:
            arrived(fresh)
            fresh = []
    if fresh:
        arrived(fresh)
    error = process.stderr.read()
    process.wait()
    if not done and "No such container" not in error and "is not running" not in error and "Traceback" in error:
        raise HarnessError(f"the runner in the container failed: {error[-500:]}")
    return count, "" if done else (error.strip()[-300:] or "no reason given")


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
