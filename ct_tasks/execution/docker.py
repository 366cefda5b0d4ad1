"""The Docker engine: finding it, images, hardened containers, and leaving nothing behind.

Everything goes through the ``docker`` command, which people have wherever the engine is local, remote or podman's.
Containers carry a label with the process that owns them, so one that a killed run left is found and removed later.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from ct_tasks import jsonl
from ct_tasks.errors import HarnessError

LABEL = "codethinker-eval.languages"
_HARDENED = (
    "--network=none", "--read-only", "--cap-drop=ALL", "--cap-add=SETUID", "--cap-add=SETGID", "--cap-add=KILL",
    "--cap-add=CHOWN", "--cap-add=DAC_OVERRIDE", "--cap-add=FOWNER", "--security-opt=no-new-privileges",
    "--ulimit=nofile=1024", "--ulimit=core=0", "--tmpfs=/tmp:rw,exec,nosuid,nodev,size=2g,mode=1777",
    "--tmpfs=/dev/shm:rw,size=64k,mode=0700",
    "--hostname=sandbox", "--init",
)  # fmt: skip


@cache
def command() -> str:
    """The docker (or podman) command. ``CT_DOCKER`` names another. Raises ``HarnessError`` when there is none."""
    given = os.environ.get("CT_DOCKER")
    found = (
        given
        or shutil.which("docker", path="/usr/bin:/usr/local/bin")
        or shutil.which("docker")
        or shutil.which("podman")
    )
    if not found:
        raise HarnessError("no docker command; install Docker (or podman), or name it in CT_DOCKER")
    return found


def call(*arguments: str, timeout_s: float = 180.0, input_text: str | None = None) -> str:
    """Run one docker command and return its output. Raises ``HarnessError`` with what to do."""
    try:
        done = subprocess.run(
            [command(), *arguments], capture_output=True, text=True, timeout=timeout_s, input=input_text, check=False
        )
    except subprocess.TimeoutExpired:
        raise HarnessError(
            f"docker {arguments[0]} did not answer within {timeout_s:g} s; is the engine alive?"
        ) from None
    if done.returncode != 0:
        raise HarnessError(explain(done.stderr or done.stdout, arguments[0]))
    return done.stdout


def explain(text: str, action: str) -> str:
    """What an engine's error message means and what to do about it."""
    low = text.lower()
    short = " ".join(text.split())[:300]
    if "cannot connect to the docker daemon" in low or "connection refused" in low:
        return (
            f"the Docker engine does not answer (docker {action}); start it (as root: systemctl start docker): {short}"
        )
    if "no space left" in low:
        return f"the disk of the Docker engine is full (docker {action}); free some, e.g. docker system prune: {short}"
    if "no such image" in low or "unable to find image" in low or "pull access denied" in low:
        return f"an image is missing (docker {action}); make it with `python -m ct_tasks containers build`: {short}"
    if "permission denied" in low:
        return f"no right to use the Docker engine (docker {action}); join the group docker, or use sudo: {short}"
    return f"docker {action} failed: {short}"


def check_engine() -> None:
    """Raises ``HarnessError`` unless an engine answers."""
    call("version", "--format", "{{.Server.Version}}", timeout_s=120)


def has_image(name: str) -> bool:
    """Whether the engine has an image of that name. Raises ``HarnessError`` when no engine answers."""
    check_engine()
    done = subprocess.run([command(), "image", "inspect", name], capture_output=True, check=False)
    return done.returncode == 0


def image_id(name: str) -> str:
    """The engine's id of an image. Raises ``HarnessError`` for a dead engine or a missing image."""
    if not has_image(name):
        raise HarnessError(f"the image {name} is missing; make it with `python -m ct_tasks containers build`")
    return call("image", "inspect", "--format", "{{.Id}}", name).strip()


def sweep() -> int:
    """Remove containers whose owner is gone (a run that was killed). Returns how many."""
    rows = call("ps", "-a", "--filter", f"label={LABEL}", "--format", "{{json .}}")
    removed = 0
    for _, data in jsonl.rows(rows, "docker ps"):
        labels = dict(part.partition("=")[::2] for part in data.get("Labels", "").split(","))
        if not _alive(labels.get(LABEL, "")):
            with contextlib.suppress(HarnessError):  # another process may have removed it meanwhile
                call("rm", "-f", data["ID"])
                removed += 1
    return removed


def _alive(owner: str) -> bool:
    pid, _, started = owner.partition("/")
    return pid.isdigit() and _start_of(int(pid)) == started


def _start_of(pid: int) -> str:
    """Kernel start time of a process: with the pid it names a process for good, because pids are used again."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):
        return ""


@contextlib.contextmanager
def container(image: str, *, memory_mb: int, cpus: float, pids: int = 512) -> Iterator[str]:
    """A hardened container that waits for work; removed at the end, and by the next run if this process is killed.

    Raises ``HarnessError`` for a dead engine or a missing image.
    """
    sweep()
    if not has_image(image):
        raise HarnessError(f"the image {image} is missing; make it with `python -m ct_tasks containers build`")
    name = f"ct-lang-{os.getpid()}-{secrets.token_hex(4)}"
    owner = f"{os.getpid()}/{_start_of(os.getpid())}"
    call(
        "run",
        "-d",
        "--rm",
        "--name",
        name,
        "--label",
        f"{LABEL}={owner}",
        *_HARDENED,
        f"--memory={memory_mb}m",
        f"--memory-swap={memory_mb}m",
        f"--cpus={cpus:g}",
        f"--pids-limit={pids}",
        image,
        "sleep",
        "86400",
    )
    # The container ends when this process does: `sleep` is tied to nothing, so a watcher removes it on our end of file.
    watcher = _watch(name)
    try:
        yield name
    finally:
        with contextlib.suppress(HarnessError):  # it may have died already, which the caller has seen as lost results
            call("rm", "-f", name)
        watcher.terminate()
        watcher.wait()


def _watch(name: str) -> subprocess.Popen[bytes]:
    """A shell that removes the container when its standard input closes, that is when this process is gone, however it ended."""
    script = 'cat >/dev/null; exec "$0" rm -f "$1" >/dev/null 2>&1'
    return subprocess.Popen(["/bin/sh", "-c", script, command(), name], stdin=subprocess.PIPE, start_new_session=True)


def execute(name: str, arguments: Sequence[str]) -> subprocess.Popen[str]:
    """``docker exec -i`` with text pipes."""
    return subprocess.Popen(
        [command(), "exec", "-i", name, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="surrogateescape",
    )
