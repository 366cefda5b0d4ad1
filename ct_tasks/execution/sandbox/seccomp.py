"""A system-call filter in classic BPF, installed with ``prctl``: what no evaluated program has any business to call.

Numbers are from the kernel's own tables (``asm/unistd_64.h`` and ``asm-generic/unistd.h``, Linux 6.1); calls that are
newer than the table are answered ``ENOSYS``, so a future kernel opens no hole. A call through another architecture's
entry (32-bit ``int 0x80``, x32) kills the process.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
import sys
from typing import Final

# name: (x86_64, aarch64); None where the architecture lacks the call.
DENIED: Final[dict[str, tuple[int | None, int | None]]] = {
    # talking to anything outside (socketpair stays: an event loop needs one, and it is connected to itself)
    "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201), "accept": (43, 202),
    "accept4": (288, 242),
    # other processes (clone without CLONE_THREAD is in the code below)
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281), "kill": (62, 129),
    "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424), "pidfd_getfd": (438, 438), "ptrace": (101, 117),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "process_madvise": (440, 440), "process_mrelease": (448, 448), "setsid": (112, 157), "setpgid": (109, 154),
    "setpriority": (141, 140), "ioprio_set": (251, 30), "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118), "sched_setattr": (314, 274), "sched_setaffinity": (203, 122),
    "migrate_pages": (256, 238), "move_pages": (279, 239), "mbind": (237, 235), "set_mempolicy": (238, 237),
    # namespaces, mounts, files by handle
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "mknod": (133, None), "mknodat": (259, 33),
    "fanotify_init": (300, 262), "fanotify_mark": (301, 263), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    # memory that no limit counts, and objects that outlive the process
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "shmat": (30, 196),
    "shmctl": (31, 195), "shmdt": (67, 197), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188),
    "msgctl": (71, 187), "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192),
    "mq_open": (240, 180), "mq_unlink": (241, 181), "mq_timedsend": (242, 182), "mq_timedreceive": (243, 183),
    "mq_notify": (244, 184), "mq_getsetattr": (245, 185), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219),
    # who the process is
    "setuid": (105, 146), "setgid": (106, 144), "setreuid": (113, 145), "setregid": (114, 143),
    "setresuid": (117, 147), "setresgid": (119, 149), "setfsuid": (122, 151), "setfsgid": (123, 152),
    "setgroups": (116, 159), "capset": (126, 91), "personality": (135, 92), "seccomp": (317, 277),
    # the kernel itself
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225), "settimeofday": (164, 170),
    "clock_settime": (227, 112), "clock_adjtime": (305, 266), "adjtimex": (159, 171), "sethostname": (170, 161),
    "setdomainname": (171, 162), "iopl": (172, None), "ioperm": (173, None), "modify_ldt": (154, None),
    "acct": (163, 89), "syslog": (103, 116), "vhangup": (153, 58), "nfsservctl": (180, 42),
    "lookup_dcookie": (212, 18), "uselib": (134, None), "sysfs": (139, None),
}  # fmt: skip
_CLONE: Final = (56, 220)
_CLONE3: Final = (435, 435)
_PRCTL: Final = (157, 167)
_PRLIMIT: Final = (302, 261)
_NEWEST: Final = 450
_AUDIT_ARCH: Final = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_CLONE_THREAD: Final = 0x00010000
_ALLOWED_PRCTL: Final = (15, 16)  # PR_SET_NAME, PR_GET_NAME: thread names

_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LD, _JEQ, _JGT, _JSET, _RET = 0x20, 0x15, 0x25, 0x45, 0x06
_NR, _ARCH, _ARG0 = 0, 4, 16

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def build(machine: str) -> bytes:
    """The filter for ``machine`` (``x86_64`` or ``aarch64``) as raw instructions. Raises ``KeyError`` for others."""
    column, arch = _AUDIT_ARCH[machine]
    denied = sorted(number for pair in DENIED.values() if (number := pair[column]) is not None)
    eperm, enosys = (_RET, 0, 0, _ERRNO | errno.EPERM), (_RET, 0, 0, _ERRNO | errno.ENOSYS)
    allow = (_RET, 0, 0, _ALLOW)
    code = [(_LD, 0, 0, _ARCH), (_JEQ, 1, 0, arch), (_RET, 0, 0, _KILL), (_LD, 0, 0, _NR)]
    if machine == "x86_64":
        code += [(0x35, 0, 1, 0x40000000), (_RET, 0, 0, _KILL)]  # jge: the x32 entry
    code += [(_JGT, 0, 1, _NEWEST), enosys, (_JEQ, 0, 1, _CLONE3[column]), enosys]
    code += [(_JEQ, 0, 4, _CLONE[column]), (_LD, 0, 0, _ARG0), (_JSET, 0, 1, _CLONE_THREAD), allow, eperm]
    code += [(_JEQ, 0, 5, _PRCTL[column]), (_LD, 0, 0, _ARG0)]
    code += [(_JEQ, 1, 0, _ALLOWED_PRCTL[0]), (_JEQ, 0, 1, _ALLOWED_PRCTL[1]), allow, eperm]
    code += [(_JEQ, 0, 4, _PRLIMIT[column]), (_LD, 0, 0, _ARG0), (_JEQ, 0, 1, 0), allow, eperm]
    for left, number in enumerate(denied):
        code.append((_JEQ, len(denied) - left, 0, number))
    code += [allow, eperm]
    return b"".join(struct.pack("HBBI", *instruction) for instruction in code)


class Filter:
    """The filter for this machine, built once before forking; ``install`` is what a child calls."""

    def __init__(self) -> None:
        if sys.platform != "linux" or platform.machine() not in _AUDIT_ARCH:
            raise OSError(f"no system-call filter for {sys.platform} on {platform.machine()}")
        code = build(platform.machine())
        self._buffer = ctypes.create_string_buffer(code, len(code))
        self._program = _Program(len(code) // 8, ctypes.addressof(self._buffer))
        self._prctl = prctl_function()

    def install(self) -> None:
        """Filter this process from now on, for good. Raises ``OSError`` when the kernel refuses."""
        _check(self._prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
        _check(self._prctl(PR_SET_SECCOMP, 2, ctypes.addressof(self._program), 0, 0), "seccomp filter")


def prctl_function() -> ctypes._NamedFuncPointer:
    """``prctl`` of the C library, with all five arguments as longs."""
    function = ctypes.CDLL(None, use_errno=True).prctl
    function.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    function.restype = ctypes.c_int
    return function


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {errno.errorcode.get(number, number)}")
