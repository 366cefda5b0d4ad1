"""Which protections are in force, who provides each, and the steps that put them there.

A protection is named by what it prevents, because several mechanisms can provide it: a network namespace or a container
without a network both give ``network``. Whatever cannot be put in force is reported with the kernel's reason; the pool
refuses to start unless the caller accepts that protection's absence by name.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import resource
import signal
import struct
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from ct_tasks.execution.sandbox import mounts, seccomp

PROTECTIONS: Final[dict[str, str]] = {
    "network": "a program could open network connections",
    "filesystem": "a program could read this machine's files, benchmark answers included, and leave files behind",
    "processes": "a program could see other processes, and one that it started could outlive it",
    "syscalls": "a program could start processes, send signals and trace others",
    "privileges": "a program would run as you, with access to whatever your other processes hold",
    "limits": "a program could use any amount of memory, CPU time and disk",
}
SCRATCH_MB: Final = 64
WORKDIR: Final = "ct-sandbox-"
OPEN_FILES: Final = 64
THREADS: Final = 64
_UIDS_PER_WORKER: Final = 1000


@dataclass
class Layers:
    """What this worker's sandbox is made of. ``missing`` maps a protection to the reason why it is not in force."""

    container: bool
    root: bool = False
    supervisor: int = 0
    own_pids: bool = False
    own_root: bool = False
    first_uid: int = 0
    filter: seccomp.Filter | None = None
    base_bytes: int = 0
    missing: dict[str, str] = field(default_factory=dict)
    workdir: str = "/tmp"

    def attempt(self, protections: tuple[str, ...], step: Callable[[], object]) -> bool:
        """Do one step; when the kernel refuses, note which protections that costs."""
        try:
            step()
        except (OSError, KeyError, ValueError) as error:
            for name in protections:
                self.missing.setdefault(name, getattr(error, "strerror", None) or str(error))
            return False
        return True


def prepare_supervisor(layers: Layers) -> None:
    """Before the fork server starts: its children shall live in a process namespace of their own, where allowed."""
    layers.root, layers.supervisor = os.geteuid() == 0, os.getpid()
    layers.first_uid = 2_000_000 + (os.getppid() if layers.container else os.getpid()) % 32768 * _UIDS_PER_WORKER
    if layers.container:
        return
    enter = (lambda: mounts.unshare(mounts.NEWPID)) if layers.root else _user_namespace
    layers.own_pids = layers.attempt(("processes",), enter)
    if not layers.root and not layers.own_pids:
        layers.missing["privileges"] = "no user namespace, and not root: programs cannot get a user of their own"


def _user_namespace() -> None:
    mounts.enter_user_namespace(mounts.NEWPID)


def prepare_zygote(layers: Layers) -> None:
    """In the fork server, after its imports: the namespaces and limits that children inherit."""
    if layers.container:
        layers.attempt(("network",), _verify_no_network)
        layers.attempt(("filesystem",), _verify_read_only)
    else:
        layers.attempt(("network",), lambda: mounts.unshare(mounts.NEWNET))
        isolated = mounts.NEWNS | mounts.NEWIPC | mounts.NEWUTS
        if layers.attempt(("filesystem",), lambda: mounts.unshare(isolated)):
            layers.base_bytes = _address_space()
            layers.own_root = layers.attempt(("filesystem",), lambda: mounts.private_root(SCRATCH_MB))
        if not layers.own_root:
            layers.workdir = tempfile.mkdtemp(prefix=f"{WORKDIR}{layers.supervisor}-")
            if layers.root:
                os.chmod(layers.workdir, 0o1777)
    layers.base_bytes = layers.base_bytes or _address_space()
    os.chdir(layers.workdir)
    with contextlib.suppress(OSError):  # without a filter the pool refuses below, so this is no silent loss
        layers.filter = seccomp.Filter()
    if sys.platform == "linux":
        seccomp.prctl_function()(seccomp.PR_SET_DUMPABLE, 0, 0, 0, 0)


def restrict(layers: Layers, number: int, cpu_s: float, memory_mb: int, disk_mb: int) -> None:
    """In the child, last thing before the program: limits, a user of its own, death with the parent, the filter.

    ``number`` is the fork's serial number, which picks the user. Limits are clamped to the hard limits in force.
    """
    mib = 1 << 20
    wanted = {
        resource.RLIMIT_AS: layers.base_bytes + memory_mb * mib,
        resource.RLIMIT_FSIZE: disk_mb * mib,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
    }
    if layers.root:  # where every child has a user of its own; otherwise it would count the user's other processes
        wanted[resource.RLIMIT_NPROC] = THREADS
    for which, value in wanted.items():
        layers.attempt(("limits",), partial(_limit, which, value))
    layers.attempt(("limits",), partial(_limit, resource.RLIMIT_CPU, math.ceil(cpu_s), grace=1))
    if layers.root:
        layers.attempt(("privileges",), lambda: _become(user_of(layers, number)))
    elif layers.own_pids:
        layers.attempt(("privileges",), _drop_capabilities)
    if sys.platform == "linux":
        seccomp.prctl_function()(seccomp.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if layers.filter is None:
        layers.missing.setdefault("syscalls", "no system-call filter on this system")
    else:
        layers.attempt(("syscalls",), layers.filter.install)


def user_of(layers: Layers, number: int) -> int:
    """The user number of one fork: no two children of a worker share one within a thousand forks."""
    return layers.first_uid + number % _UIDS_PER_WORKER


def _limit(which: int, value: int, grace: int = 0) -> None:
    hard = resource.getrlimit(which)[1]
    ceiling = value + grace if hard == resource.RLIM_INFINITY else min(value + grace, hard)
    resource.setrlimit(which, (min(value, ceiling), ceiling))


def _become(uid: int) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def _drop_capabilities() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    header = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0))
    if libc.capset(header, ctypes.create_string_buffer(24)) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def _address_space() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:  # no /proc on macOS, where RLIMIT_AS is not enforced either
        return 0


def _verify_no_network() -> None:
    others = [name for name in os.listdir("/sys/class/net") if name != "lo"]
    if others:
        raise OSError(f"the container has a network ({', '.join(others)})")


def _verify_read_only() -> None:
    if not os.statvfs("/").f_flag & os.ST_RDONLY:
        raise OSError("the container's root is writable")
