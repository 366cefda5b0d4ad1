"""Namespaces and a root file system that holds the standard library and nothing else (Linux, through ``libc``)."""

from __future__ import annotations

import ctypes
import os
import sys
import sysconfig
from typing import Final

NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = (
    0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
_DETACH: Final = 2
_SYSTEM: Final = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo")
_DEVICES: Final = ("null", "zero", "full", "random", "urandom")
_MOUNT_POINTS: Final = ("/sys", "/mnt", "/proc", "/tmp")  # any directory that exists: the mount is ours alone

_libc = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *args: object) -> None:
    if getattr(_libc, name)(*args) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """``unshare(2)``. Raises ``OSError``."""
    if sys.platform != "linux":
        raise OSError("no namespaces on this system")
    _call("unshare", ctypes.c_int(flags))


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """``mount(2)``. Raises ``OSError`` that names the target."""
    encoded = [None if v is None else os.fsencode(v) for v in (source, target, kind)]
    try:
        _call("mount", *encoded, ctypes.c_ulong(flags), None if data is None else data.encode())
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror} at {target}") from None


def scratch(target: str, size_mb: int) -> None:
    """An empty memory file system at ``target``, of at most ``size_mb`` MiB and 4,096 files."""
    mount("tmpfs", target, "tmpfs", _NOSUID | _NODEV, _scratch_options(size_mb))


def resize(target: str, size_mb: int) -> None:
    """Another limit for the (empty) file system that ``scratch`` made."""
    mount("tmpfs", target, None, _REMOUNT | _NOSUID | _NODEV, _scratch_options(size_mb))


def _scratch_options(size_mb: int) -> str:
    return f"size={size_mb}m,nr_inodes=4096,mode=1777"


def detach(target: str) -> None:
    """Take the mount at ``target`` away, whoever still holds files in it."""
    _call("umount2", os.fsencode(target), ctypes.c_int(_DETACH))


def enter_user_namespace(flags: int) -> None:
    """New user namespace together with ``flags``, where the present user is root. Raises ``OSError``."""
    uid, gid = os.getuid(), os.getgid()
    unshare(NEWUSER | flags)
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def library_paths() -> list[str]:
    """Directories that a program needs to import the standard library, C extensions included."""
    paths = [p for p in _SYSTEM if os.path.isdir(p) and not os.path.islink(p)]
    stdlib = os.path.realpath(sysconfig.get_path("stdlib"))
    library = os.path.realpath(sysconfig.get_config_var("LIBDIR") or stdlib)
    paths.append(library if stdlib.startswith(library + "/") else stdlib)  # with the libraries beside it (conda)
    return [p for p in dict.fromkeys(paths) if not any(p != q and p.startswith(q + "/") for q in paths)]


def private_root(size_mb: int) -> None:
    """Replace the root of this mount namespace: libraries read-only, five devices, an empty ``/tmp``; no ``/proc``.

    Raises ``OSError`` at the first step that the kernel refuses.
    """
    mount("none", "/", None, _REC | _PRIVATE)
    root = next(p for p in _MOUNT_POINTS if os.path.isdir(p) and not os.path.islink(p))
    sources = [(p, os.open(p, os.O_PATH | os.O_CLOEXEC)) for p in library_paths()]
    links = [(p, os.readlink(p)) for p in _SYSTEM if os.path.islink(p)]
    devices = [(f"/dev/{n}", os.open(f"/dev/{n}", os.O_PATH | os.O_CLOEXEC)) for n in _DEVICES]
    handles = os.open("/proc/self/fd", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    os.fchdir(handles)  # so that sources stay reachable whatever the new root covers
    mount("tmpfs", root, "tmpfs", _NOSUID, "size=1m,nr_inodes=512,mode=755")
    for path, handle in sources + devices:
        target = root + path
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.isdir(str(handle)):
            os.makedirs(target, exist_ok=True)
        else:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o444))
        mount(str(handle), target, None, _BIND)
        if not path.startswith("/dev/"):
            _read_only(target)
        os.close(handle)
    for path, destination in links:
        os.makedirs(os.path.dirname(root + path), exist_ok=True)
        os.symlink(destination, root + path)
    for name in ("site-packages", "dist-packages"):
        for base in (sysconfig.get_path("stdlib"), "/usr/lib/python3"):
            target = f"{root}{os.path.realpath(base)}/{name}"
            if os.path.isdir(target):
                mount("tmpfs", target, "tmpfs", _NOSUID | _NODEV | _RDONLY, "size=4k")
    os.mkdir(root + "/tmp")
    scratch(root + "/tmp", size_mb)
    os.mkdir(root + "/old")
    os.close(handles)
    _call("pivot_root", os.fsencode(root), os.fsencode(root + "/old"))
    os.chdir("/")
    detach("/old")
    os.rmdir("/old")
    mount("tmpfs", "/", None, _REMOUNT | _RDONLY | _NOSUID, "size=1m,nr_inodes=512,mode=755")
    os.chdir("/tmp")


def _read_only(target: str) -> None:
    # The flags that the source mount carries are locked in a user namespace and must be named again.
    kept = os.statvfs(target).f_flag & (_NODEV | _NOEXEC | os.ST_NOATIME | os.ST_NODIRATIME | os.ST_RELATIME)
    relatime = {os.ST_NOATIME: 1024, os.ST_NODIRATIME: 2048, os.ST_RELATIME: 1 << 21}
    flags = kept & (_NODEV | _NOEXEC)
    for bit, flag in relatime.items():
        flags |= flag if kept & bit else 0
    mount("none", target, None, _REMOUNT | _BIND | _RDONLY | _NOSUID | flags)
