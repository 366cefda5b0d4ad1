"""One worker of the Python pool, seen from the pool: a supervisor process, on this machine or in a container, and its pipes."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, Final, Literal

from ct_tasks.errors import HarnessError
from ct_tasks.execution.jobs import Job, Result
from ct_tasks.execution.sandbox import protocol
from ct_tasks.execution.sandbox.layers import PROTECTIONS

Backend = Literal["local", "docker"]
IMAGE: Final = "codethinker-eval-python"
LABEL: Final = "codethinker-eval.pool"
_ROOT: Final = Path(__file__).resolve().parents[2]
_BOOT: Final = (
    "import sys; sys.path.insert(0, {root!r}); from ct_tasks.execution.sandbox.supervisor import main; main()"
)
# In a container there is no file of ours: the sources come first on standard input, as {module: [is a package, text]}.
_BOOT_SHIPPED: Final = """
import importlib.abc, importlib.util, json, os, sys
def read(size):
    data = b""
    while len(data) < size:
        data += os.read(0, size - len(data)) or sys.exit("no sources")
    return data
class Shipped(importlib.abc.Loader, importlib.abc.MetaPathFinder):
    sources = json.loads(read(int.from_bytes(read(4), "big")))
    def find_spec(self, name, path=None, target=None):
        if name in self.sources:
            return importlib.util.spec_from_loader(name, self, is_package=self.sources[name][0])
    def exec_module(self, module):
        exec(compile(self.sources[module.__name__][1], module.__name__, "exec"), module.__dict__)
sys.meta_path.append(Shipped())
from ct_tasks.execution.sandbox.supervisor import main
main()
"""
_START_S: Final = 300.0
_ENGINE_S: Final = 180.0
_SILENCE_S: Final = 300.0  # beyond the jobs' own limits; a supervisor that is silent for longer is given up


class Worker:
    """Starts at once. Raises ``HarnessError`` when it cannot start or lacks a protection that nobody waived.

    ``hook`` is the module whose functions this worker's children can call, or ``""`` for plain programs.
    """

    def __init__(self, hook: str, backend: Backend, allow_missing: tuple[str, ...], hash_seed: int = 0) -> None:
        self.hook, self.backend = hook, backend
        self.stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in stop
        self.name = f"ct-pool-{os.getpid()}-{secrets.token_hex(4)}"
        local = backend == "local"
        command = _local_command(hook) if local else _docker_command(self.name, hash_seed)
        shipped = b"" if local else _shipment(hook)
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.stderr,
                env=_environment(local, hash_seed),
                cwd="/",
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise HarnessError(f"cannot start {command[0]}: {error}; is it installed?") from None
        assert self.process.stdin
        assert self.process.stdout
        self.requests, self.replies = self.process.stdin.fileno(), self.process.stdout.fileno()
        config = {
            "parent": os.getpid() if local else 0,
            "container": not local,
            "preload": [hook] if hook else [],
            "allow_missing": list(allow_missing),
        }
        try:
            protocol.send_bytes(self.requests, shipped)
            protocol.send(self.requests, config)
            hello = protocol.receive(self.replies, _START_S)
        except protocol.Closed as error:
            self.stop()
            raise HarnessError(f"the sandbox worker did not start ({error}). {self.words}{_advice(backend)}") from None
        if "failed" in hello:
            self.stop()
            raise HarnessError(f"the sandbox worker did not start: {hello['failed']}")
        self.missing: dict[str, str] = hello["missing"]
        refused = sorted(set(self.missing) - set(allow_missing))
        if refused:
            self.stop()
            raise HarnessError(_refusal(refused, self.missing))

    def batch(self, jobs: Sequence[Job]) -> Iterable[list[tuple[int, Result]]]:
        """Results with positions, in groups as they come; the jobs are all scripts (with ``stdin``) or none is. Raises
        ``protocol.Closed`` when the worker dies."""
        header = {
            "count": len(jobs),
            "scripts": jobs[0].stdin is not None,
            "memory_mb": min(job.limits.memory_mb for job in jobs),
        }
        text = json.dumps([_encode(job) for job in jobs], separators=(",", ":")).encode("ascii")
        protocol.send_bytes(self.requests, protocol.encode(header) + protocol.frame(text))
        patience = _SILENCE_S + protocol.STRETCH * max(job.limits.wall_s for job in jobs) + 0.5 * len(jobs)
        missing = set(range(len(jobs)))
        while missing:
            reply = protocol.receive(self.replies, patience)
            group = [(i, _decode(answer, jobs[i])) for i, answer in zip(reply["at"], reply["answers"], strict=True)]
            missing.difference_update(reply["at"])
            yield group

    def stop(self) -> None:
        """End the process tree and wait for it; ``words`` keeps the end of what it wrote to its standard error."""
        self._close_pipes()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            if self.backend == "docker":
                _docker("rm", "--force", self.name)
        if not self.stderr.closed:
            self.stderr.seek(max(0, self.stderr.seek(0, os.SEEK_END) - 2000))
            self.words = "It said: " + (self.stderr.read().decode("utf-8", "replace").strip() or "nothing")
            self.stderr.close()

    def abandon(self) -> None:
        """Close this process's copies of the pipes to a worker that belongs to the process we were forked from."""
        self._close_pipes()
        self.stderr.close()
        self.process.returncode = 0  # not our child: nothing to wait for

    def _close_pipes(self) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()


def _local_command(hook: str) -> list[str]:
    # A hook may need installed packages; plain programs get the standard library alone. -P -s and an environment of our own
    # isolate like -I, which would also ignore PYTHONHASHSEED.
    return [sys.executable, "-P", "-s", "-W", "ignore", *([] if hook else ["-S"]), "-c", _BOOT.format(root=str(_ROOT))]


def _environment(local: bool, hash_seed: int) -> dict[str, str]:
    if not local:
        return dict(os.environ)  # the docker client wants its own settings; nothing of it reaches the container
    return {"PATH": os.environ.get("PATH", os.defpath), "PYTHONHASHSEED": str(hash_seed), "LC_ALL": "C.UTF-8"}


def _docker_command(name: str, hash_seed: int) -> list[str]:
    _sweep_containers()
    image = os.environ.get("CT_PYTHON_IMAGE", IMAGE)
    flags = f"""
        --rm --interactive --network=none --ipc=none --read-only --cap-drop=ALL --cap-add=SETUID --cap-add=SETGID
        --cap-add=KILL --security-opt=no-new-privileges --memory=4g --memory-swap=4g --pids-limit=128
        --ulimit=nofile=256 --env=PYTHONHASHSEED={hash_seed} --env=LC_ALL=C.UTF-8
        --tmpfs=/tmp:rw,nosuid,nodev,size=64m,nr_inodes=4096,mode=1777
        --log-driver=none --pull=never
    """.split()
    owner = f"--label={LABEL}={os.getpid()}:{_started(os.getpid())}"
    return [
        "docker",
        "run",
        *flags,
        f"--name={name}",
        owner,
        image,
        "python3",
        "-P",
        "-s",
        "-S",
        "-W",
        "ignore",
        "-c",
        _BOOT_SHIPPED,
    ]


@cache
def _sweep_containers() -> None:
    """Once a process: remove containers of pools whose process is gone. Raises ``HarnessError`` without an engine."""
    listed = _docker("ps", "--all", "--filter", f"label={LABEL}", "--format", f'{{{{.ID}}}} {{{{.Label "{LABEL}"}}}}')
    if listed.returncode != 0:
        raise HarnessError(
            f"no Docker engine answers: {listed.stderr.strip()[-300:]}. Start it, or use backend='local'."
        )
    for line in listed.stdout.splitlines():
        container, _, owner = line.partition(" ")
        pid, _, started = owner.partition(":")
        if pid.isdigit() and _started(int(pid)) != started:
            _docker("rm", "--force", container)


def _docker(*arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(["docker", *arguments], capture_output=True, text=True, timeout=_ENGINE_S, check=False)
    except FileNotFoundError:
        raise HarnessError("the docker command is not installed; install Docker, or use backend='local'") from None
    except subprocess.TimeoutExpired:
        raise HarnessError(f"the Docker engine did not answer within {_ENGINE_S:g} s") from None


def _started(pid: int) -> str:
    """When a process started, in the kernel's ticks; empty when it is gone or where there is no /proc."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


@cache
def _shipment(hook: str) -> bytes:
    """The sources that a container needs, framed: our sandbox, and all non-standard modules that ``hook`` imports."""
    code = (
        f"import sys, json; sys.path.insert(0, {str(_ROOT)!r}); import ct_tasks.execution.sandbox.supervisor\n"
        f"if {hook!r}: __import__({hook!r})\n"
        "print(json.dumps({n: [hasattr(m, '__path__'), m.__file__] for n, m in list(sys.modules.items())"
        " if getattr(m, '__file__', None) and n != '__main__'}))"
    )
    ran = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise HarnessError(f"cannot import {hook}: {ran.stderr.strip()[-500:]}")
    standard = sysconfig.get_path("stdlib")
    sources: dict[str, tuple[bool, str]] = {}
    for name, (package, path) in json.loads(ran.stdout).items():
        if "site-packages" not in path and path.startswith(standard):
            continue
        if not path.endswith(".py"):
            raise HarnessError(
                f"{hook} needs {name}, which is compiled and cannot be sent to a container; use backend='local'"
            )
        sources[name] = (package, importlib.util.decode_source(Path(path).read_bytes()))
    body = json.dumps(sources).encode()
    return len(body).to_bytes(4, "big") + body


def _advice(backend: Backend) -> str:
    if backend == "local":
        return ""
    return (
        f". If the image is missing: docker build -t {IMAGE} -f containers/python.Dockerfile containers"
        " (or name another in CT_PYTHON_IMAGE)"
    )


def _refusal(refused: list[str], missing: dict[str, str]) -> str:
    lines = [f"  {name}: without it {PROTECTIONS[name]} ({missing[name]})" for name in refused]
    names = ",".join(refused)
    return (
        "this system does not grant the sandbox all its protections. Missing:\n"
        + "\n".join(lines)
        + f"\nUse backend='docker', or accept the risk by name: allow_missing={tuple(refused)!r}"
        + f" or CT_SANDBOX_ALLOW_MISSING={names}"
    )


def _encode(job: Job) -> dict[str, Any]:
    limits = job.limits
    encoded: dict[str, Any] = {
        "code": job.code,
        "cpu_s": limits.cpu_s,
        "wall_s": limits.wall_s,
        "memory_mb": limits.memory_mb,
        "output_bytes": limits.output_bytes,
        "disk_mb": limits.disk_mb,
    }
    if job.expr is not None:
        encoded["expr"] = job.expr
    if job.stdin is not None:
        encoded["stdin"] = job.stdin
    if job.hook is not None:
        encoded.update(hook=job.hook, payload=dict(job.payload))
    return encoded


def _decode(reply: dict[str, Any], job: Job) -> Result:
    get = reply.get
    return Result(
        reply["status"], get("value"), get("error", ""), get("stdout", ""), get("stderr", ""), get("cpu_s", 0.0),
        get("wall_s", 0.0), job.id,
    )  # fmt: skip
