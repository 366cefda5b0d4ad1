"""Every attack of the corpus, one test each, on this machine and in a container: it gains nothing and leaves nothing."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from attacks import ATTACKS, LIMITED, Attack

from ct_tasks.execution.jobs import Job, Limits, Result
from ct_tasks.execution.pool import PythonPool

SHARED_PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/", os.path.expanduser("~"))


class Target:
    """A scorer with something to steal: the expected answer, in a file, behind three sockets, in its environment."""

    def __init__(self, folder: Path) -> None:
        self.answer = f"secret-{secrets.token_hex(8)}"
        self.mark = f"ct-mark-{secrets.token_hex(4)}"
        self.file = folder / f"answers-{secrets.token_hex(4)}.txt"
        self.file.write_text(self.answer)
        for parent in self.file.parents:  # so that nothing but the sandbox keeps a foreign user out
            with contextlib.suppress(OSError):
                parent.chmod(parent.stat().st_mode | 0o055)
        self.sockets = [socket.create_server(("127.0.0.1", 0))]
        for address in (str(folder / "s"), f"\0{self.mark}"):
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(address)
            listener.listen()
            self.sockets.append(listener)
        (folder / "s").chmod(0o777)
        for listener in self.sockets:
            threading.Thread(target=self._serve, args=(listener,), daemon=True).start()
        self.places = {
            "@PORT@": str(self.sockets[0].getsockname()[1]),
            "@UNIX@": str(folder / "s"),
            "@ABSTRACT@": self.mark,
            "@SECRET_FILE@": str(self.file),
            "@SECRET_NAME@": self.file.name,
            "@SCORER@": str(os.getpid()),
            "@MARK@": self.mark,
            "@ANYTHING@": self.answer,
        }

    def _serve(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                connection.sendall(self.answer.encode())
                connection.close()

    def fill(self, text: str) -> str:
        for name, value in self.places.items():
            text = text.replace(name, value)
        return text

    def job(self, attack: Attack) -> Job:
        return Job(self.fill(attack.code), expr=attack.expr or None, stdin=attack.stdin, limits=Limits(**LIMITED))

    def is_right(self, result: Result) -> bool:
        """What a scorer would call right: the answer as a value, or as a script's output."""
        return result.status == "ok" and (result.value == repr(self.answer) or self.answer in result.stdout)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    found = Target(tmp_path_factory.mktemp("answers"))
    os.environ["CT_TEST_SECRET"] = found.answer
    yield found
    del os.environ["CT_TEST_SECRET"]
    for listener in found.sockets:
        listener.close()


@pytest.fixture(scope="module")
def local_pool(target: Target) -> Iterator[PythonPool]:
    with PythonPool(1) as pool:
        yield pool


@pytest.fixture(scope="module")
def docker_pool(target: Target) -> Iterator[PythonPool]:
    if not shutil.which("docker") or subprocess.run(["docker", "info"], capture_output=True).returncode != 0:
        if os.environ.get("CI"):
            pytest.fail("no Docker engine in CI")
        pytest.skip("no Docker engine answers")
    with PythonPool(1, backend="docker") as pool:
        yield pool
    left = subprocess.run(
        ["docker", "ps", "-aq", "--filter", f"name=ct-pool-{os.getpid()}-"], capture_output=True, text=True
    ).stdout
    assert left == ""


def _processes() -> dict[int, tuple[int, int]]:
    """Parent and real user of every process that is not a zombie of ours waiting for pytest."""
    found = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            status = (entry / "status").read_text()
            field = {k: v.split() for k, _, v in (line.partition(":") for line in status.splitlines())}
            found[int(entry.name)] = (int(field["PPid"][0]), int(field["Uid"][0]))
    return found


def _below(pid: int, processes: dict[int, tuple[int, int]]) -> set[int]:
    found = {pid}
    while more := {p for p, (parent, _) in processes.items() if parent in found} - found:
        found |= more
    return found


def _assert_harmless(pool: PythonPool, target: Target, attack: Attack) -> None:
    victims = [(Job(target.fill(code), expr=expr), value) for code, expr, value in attack.victims]
    honest = Job("def f(x):\n    return [x, x]", expr="f(21)")
    results = pool.run([target.job(attack), *(job for job, _ in victims), honest])
    assert not target.is_right(results[0]), results[0]
    assert results[0].status != "harness_error", results[0]
    assert len(results[0].stdout) + len(results[0].stderr) <= 2 * LIMITED["output_bytes"]
    assert [r.value for r in results[1:-1]] == [value for _, value in victims]
    assert results[-1].value == "[21, 21]"
    # The same worker goes on, and finds an empty directory and no process but its own.
    look = Job("import os\ndef f():\n    return os.listdir('.')", expr="f()")
    assert pool.run([look])[0].value == "[]"
    assert target.file.read_text() == target.answer
    for place in SHARED_PLACES:
        assert not [name for name in os.listdir(place) if target.mark in name]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda a: a.name)
def test_attack_here(attack: Attack, local_pool: PythonPool, target: Target) -> None:
    _assert_harmless(local_pool, target, attack)
    (worker,) = local_pool._idle
    processes = _processes()
    tree = _below(worker.process.pid, processes)
    assert len(tree) == 2, "a supervisor and its fork server, and nothing else"
    first = 2_000_000 + worker.process.pid % 32768 * 1000
    assert not [p for p, (_, uid) in processes.items() if first <= uid < first + 1000 and p not in tree]


@pytest.mark.docker
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda a: a.name)
def test_attack_in_a_container(attack: Attack, docker_pool: PythonPool, target: Target) -> None:
    _assert_harmless(docker_pool, target, attack)
    (worker,) = docker_pool._idle
    top = subprocess.run(["docker", "top", worker.name, "-o", "pid"], capture_output=True, text=True, check=True).stdout
    assert len(top.split()) == 1 + 2, "a supervisor and its fork server, and nothing else"


def test_the_corpus_is_large_enough() -> None:
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) >= 40
