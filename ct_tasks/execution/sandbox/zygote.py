"""The fork server. It never reads a program or a result, so nothing of one job is in the memory that the next inherits.

Orders come from the supervisor over a Unix socket, descriptors beside them: the job's text, the verdict channel, and
the child's standard streams. One child lives at a time.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import sys
from typing import Any, Final

from ct_tasks.execution.sandbox import child, layers, mounts, seccomp

PRELOAD: Final = """
    abc array bisect cmath collections collections.abc contextlib copy copyreg dataclasses datetime decimal enum
    fractions functools gc hashlib heapq inspect io itertools json keyword linecache locale math numbers operator os
    queue random re site statistics string struct sys textwrap threading time traceback types typing unicodedata warnings
""".split()  # noqa: SIM905 - a list literal would fill the screen
ENVIRONMENT: Final = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
DESCRIPTORS: Final = 5  # job, verdict channel, stdin, stdout, stderr
MESSAGE: Final = 65536


def serve(control: socket.socket, state: layers.Layers, preload: list[str]) -> None:
    """Run until the supervisor closes ``control``; then end this process and every child."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        seccomp.prctl_function()(seccomp.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    try:
        for name in [*PRELOAD, *preload]:
            importlib.import_module(name)
        layers.prepare_zygote(state)
        os.environ.clear()
        os.environ.update(ENVIRONMENT, HOME=state.workdir, TMPDIR=state.workdir)
        state.missing.update(_probe(state))
        gc.collect()
        gc.freeze()  # children then neither scan nor copy what all of them share
        _answer(control, {"missing": state.missing, "python": sys.version.split()[0]})
    except (ImportError, OSError) as error:
        _answer(control, {"failed": f"{type(error).__name__}: {error}"})
        return
    _Server(control, state).loop()


class _Server:
    def __init__(self, control: socket.socket, state: layers.Layers) -> None:
        self.control, self.state = control, state
        self.number = 0
        self.scratch_mb = layers.SCRATCH_MB

    def loop(self) -> None:
        while True:
            message, descriptors, _, _ = socket.recv_fds(self.control, MESSAGE, DESCRIPTORS)
            if not message:
                return
            order = json.loads(message)
            try:
                if order["do"] == "fork":
                    self._fork(order, descriptors)
                else:
                    _answer(self.control, self._reap(order["pid"]))
            except OSError as error:
                _answer(self.control, {"failed": f"{order['do']}: {error}"})
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)

    def _fork(self, order: dict[str, Any], descriptors: list[int]) -> None:
        self.number += 1
        if self.state.own_root and not order["group"] and order["disk_mb"] != self.scratch_mb:
            self.scratch_mb = order["disk_mb"]
            mounts.resize("/tmp", self.scratch_mb)
        pid = os.fork()
        if pid == 0:
            try:
                self.control.close()
                child.main(descriptors, self.state, self.number, order)
            finally:
                os._exit(70)  # child.main does not return; an exception in it must not reach the server's loop
        handles = []
        if hasattr(os, "pidfd_open"):
            handles.append(os.pidfd_open(pid))
        try:
            socket.send_fds(self.control, [json.dumps({"pid": pid}).encode()], handles)
        finally:
            for handle in handles:
                os.close(handle)

    def _reap(self, pid: int) -> dict[str, Any]:
        """Kill the child and whatever it started, wait for all, and leave an empty directory."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        _, status, usage = os.wait4(pid, 0)
        if self.state.own_pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)  # everybody in this namespace except its first process, which is us
        elif self.state.root:
            self._as_user(_kill_all)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, 0):
                pass
        try:
            self._clean()
            dirty = ""
        except OSError as error:
            dirty = f"could not empty {self.state.workdir}: {error}"
        cpu_s = usage.ru_utime + usage.ru_stime
        return {"status": status, "cpu_s": cpu_s, "peak_kb": usage.ru_maxrss, "dirty": dirty}

    def _clean(self) -> None:
        if not os.listdir(self.state.workdir):
            return
        if self.state.own_root:
            os.chdir("/")
            mounts.detach("/tmp")
            mounts.scratch("/tmp", self.scratch_mb)
            os.chdir("/tmp")
        else:
            self._as_user(_empty_directory)
            if left := os.listdir("."):
                raise OSError(f"{len(left)} entries are left")

    def _as_user(self, action: Any) -> None:
        """Do something in a helper that has the last child's user."""
        pid = os.fork()
        if pid == 0:
            try:
                if self.state.root:
                    uid = layers.user_of(self.state, self.number)
                    os.setgroups([])
                    os.setresgid(uid, uid, uid)
                    os.setresuid(uid, uid, uid)
                action()
            finally:
                os._exit(0)
        os.waitpid(pid, 0)


def _kill_all() -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(-1, signal.SIGKILL)


def _empty_directory() -> None:
    """Empty the working directory, however deep; paths would grow too long and recursion too deep, so it walks."""
    entered: list[str] = []
    full = [_clear_level()]
    while True:
        if full[-1]:
            entered.append(full[-1].pop())
            os.chmod(entered[-1], 0o700)
            os.chdir(entered[-1])
            full.append(_clear_level())
        elif entered:
            full.pop()
            os.chdir("..")
            os.rmdir(entered.pop())
        else:
            return


def _clear_level() -> list[str]:
    """Remove what can be removed here at once; the names of the directories that are not empty."""
    full = []
    for entry in list(os.scandir(".")):
        if not entry.is_dir(follow_symlinks=False):
            os.unlink(entry.name)
        else:
            try:
                os.rmdir(entry.name)
            except OSError:
                full.append(entry.name)
    return full


def _probe(state: layers.Layers) -> dict[str, str]:
    """Put every protection on in a throw-away child, and report what the kernel refused."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            layers.restrict(state, 0, 5, 512, 16)
            os.write(writer, json.dumps(state.missing).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        text = stream.read()
    os.waitpid(pid, 0)
    if not text:
        return {"syscalls": "the child died while the filter was put on"}
    found: dict[str, str] = json.loads(text)
    return found


def _answer(control: socket.socket, message: dict[str, Any]) -> None:
    control.sendall(json.dumps(message).encode())
