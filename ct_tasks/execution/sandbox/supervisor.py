"""The pool's far end: takes batches of jobs, has children forked for them, keeps the clock, and reports every result.

Runs as ``python -I`` with frames on stdin and stdout. It never runs a program itself, and ends, with everything below
it, when the pool's process does.
"""

from __future__ import annotations

import contextlib
import functools
import glob
import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
from typing import Any

from ct_tasks.execution.sandbox import child, layers, protocol, zygote
from ct_tasks.execution.sandbox.children import Lost, Nursery, Shared


def main() -> None:
    """Serve the pool until it hangs up. The first frame configures; every later one is a batch."""
    replies = os.dup(1)
    os.dup2(2, 1)  # nothing below may write to the frames' pipe by accident
    config = protocol.receive(0)
    state = layers.Layers(container=config["container"])
    _sweep()
    layers.prepare_supervisor(state)
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    pid = os.fork()
    if pid == 0:
        try:
            near.close()
            os.close(replies)
            os.close(0)
            zygote.serve(far, state, config["preload"])
        finally:
            os._exit(0)
    far.close()
    try:
        alarms = _parent_handle(config["parent"])
        hello = json.loads(near.recv(zygote.MESSAGE) or b'{"failed": "the fork server died at its start"}')
        protocol.send(replies, hello)
        nursery = Nursery(near, config["allow_missing"], alarms)
        while True:
            select.select([0, *alarms], [], [])
            nursery.check()
            header = protocol.receive(0)
            _Batch(nursery, replies, header, protocol.receive_bytes(0)).run()
    except (protocol.Closed, Lost) as error:
        print(f"supervisor ends: {error}", file=sys.stderr)
    finally:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        _sweep(os.getpid())


def _sweep(own: int = 0) -> None:
    """Remove working directories (they exist only without ``filesystem``) of this and of dead supervisors."""
    for path in glob.glob(os.path.join(tempfile.gettempdir(), f"{layers.WORKDIR}*")):
        owner = path.rsplit("-", 2)[-2]
        with contextlib.suppress(PermissionError):  # of another user, who sweeps them
            try:
                os.kill(int(owner), 0)
                if int(owner) != own:
                    continue
            except (ProcessLookupError, ValueError):
                pass
            shutil.rmtree(path, ignore_errors=True)


def _parent_handle(parent: int) -> list[int]:
    """What becomes readable when the pool's process ends, even if some other process still holds the pipes open."""
    if not parent or not hasattr(os, "pidfd_open"):
        return []
    handle = os.pidfd_open(parent)
    if os.getppid() != parent:
        raise protocol.Closed("the pool's process has ended")
    return [handle]


class _Batch:
    """Some jobs of one kind. Their text stays as it came unless some of them have to be picked out."""

    def __init__(self, nursery: Nursery, replies: int, header: dict[str, Any], text: bytes) -> None:
        self.nursery, self.replies, self.text = nursery, replies, text
        self.count: int = header["count"]
        self.memory_mb: int = header["memory_mb"]
        self.scripts: bool = header["scripts"]

    @functools.cached_property
    def jobs(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.text)
        return found

    def run(self) -> None:
        """Shared children first, then every job that has no plain ``ok`` from there in a child of its own.

        When a shared child dies or has doubts, the group it was at runs again, reporting job by job, to find the cause.
        """
        positions = list(range(self.count))
        waiting, alone = ([], positions) if self.scripts or self.count == 1 else (positions, [])
        careful = 0
        while waiting:
            part = waiting[: careful or len(waiting)]
            seen = self._shared(part, 1 if careful else child.GROUP)
            again = [part[p] for p, status in seen.unsettled.items() if status == "again"]
            alone += [part[p] for p, status in seen.unsettled.items() if status != "again"]
            rest = part[seen.reached :]
            if rest and not seen.stopped:  # died without a verdict on the next group, or, job by job, on the next job
                if careful:
                    alone.append(rest.pop(0))
                else:
                    again += rest[: child.GROUP]
                    rest = rest[child.GROUP :]
            waiting = again + rest + waiting[len(part) :]
            careful = len(again) or (len(rest) if careful else 0)
        for index in alone:
            protocol.send(self.replies, {"at": [index], "answers": [self.nursery.run_alone(self.jobs[index])]})
            self.nursery.check()

    def _shared(self, part: list[int], group: int) -> Shared:
        whole = len(part) == self.count
        text = self.text if whole else json.dumps([self.jobs[i] for i in part]).encode()

        def forward(first: int, count: int, answers: bytes) -> None:
            at = json.dumps(part[first : first + count]).encode()
            protocol.send_bytes(self.replies, protocol.frame(b'{"at":%b,"answers":%b}' % (at, answers)))

        return self.nursery.run_shared(text, len(part), self.memory_mb, group, forward)
