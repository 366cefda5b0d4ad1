"""Hostile programs for the Python pool. Each defines ``attack()``, which returns the expected answer if the attack worked.

The expected answer is a random word that the tests put where the attacks look for it: in a file, behind sockets, in the
environment and the memory of the scorer. ``@NAMES@`` are replaced by where it is this time. ``victims`` are honest jobs
that run after the attack in the same batch, with the values that they must still give.
"""

from __future__ import annotations

from dataclasses import dataclass, field

LIMITED = {"cpu_s": 1.0, "wall_s": 2.0, "memory_mb": 256, "output_bytes": 20_000, "disk_mb": 4}


@dataclass(frozen=True)
class Attack:
    name: str
    code: str
    stdin: str | None = None
    expr: str = "attack()"
    victims: tuple[tuple[str, str, str], ...] = field(default=())  # code, expression, value


def _python(name: str, body: str, **more: object) -> Attack:
    lines = "\n".join("    " + line for line in body.strip("\n").splitlines())
    return Attack(name, f"def attack():\n{lines}\n", **more)  # type: ignore[arg-type]


_SYSCALL = """
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": %d, "aarch64": %d}[platform.machine()]
result = libc.syscall(ctypes.c_long(number), %s)
if result >= 0:
    return "the kernel did it"
return ctypes.get_errno()
"""
_PATCHED = ("def f(x):\n    return sorted(x)[:len(x)]", "f([3, 1, 2])", "[1, 2, 3]")

ATTACKS: tuple[Attack, ...] = (
    # --- out of the machine ---
    _python("network_tcp", "import socket\ns = socket.create_connection(('127.0.0.1', @PORT@), 1)\nreturn s.recv(99).decode()"),
    _python("network_udp", "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\nreturn s.sendto(b'x', ('127.0.0.1', @PORT@))"),
    _python("network_dns", "import socket\nreturn socket.getaddrinfo('localhost', 80)[0][4][0] and socket.gethostbyname('example.org')"),
    _python("network_urllib", "import urllib.request\nreturn urllib.request.urlopen('http://127.0.0.1:@PORT@/', timeout=1).read().decode()"),
    _python("unix_socket", "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('@UNIX@')\nreturn s.recv(99).decode()"),
    _python("unix_socket_abstract", "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('\\0@ABSTRACT@')\nreturn s.recv(99).decode()"),
    _python("docker_socket", "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('/var/run/docker.sock')\ns.send(b'GET /info HTTP/1.0\\r\\n\\r\\n')\nreturn s.recv(99)"),
    _python("netlink", "import socket\nreturn socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).fileno()"),
    # --- using things up ---
    _python("fork_bomb", "import os\nwhile True:\n    os.fork()"),
    _python("fork_once_and_sleep", "import os, time\nif os.fork() == 0:\n    time.sleep(1000)\nreturn 1"),
    _python("fork_swallowing_errors", "import os\nn = 0\nfor _ in range(1000):\n    try:\n        n += os.fork() > 0\n    except OSError:\n        pass\nreturn n and '@ANYTHING@'"),
    _python("thread_bomb", "import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(1000,)).start()"),
    _python("memory_list", "x = []\nwhile True:\n    x.append(bytearray(1 << 20))"),
    _python("memory_mmap", "import mmap\nkeep = []\nwhile True:\n    m = mmap.mmap(-1, 1 << 24)\n    m.write(b'x' * (1 << 24))\n    keep.append(m)"),
    _python("memory_swallowing_errors", "x = []\nwhile True:\n    try:\n        x.append(bytearray(1 << 22))\n    except MemoryError:\n        pass"),
    _python("memory_memfd", "import os\nfd = os.memfd_create('x')\nwhile True:\n    os.write(fd, b'x' * (1 << 20))"),
    _python("disk_one_file", "with open('@MARK@', 'wb') as f:\n    while True:\n        f.write(b'x' * (1 << 20))\n        f.flush()"),
    _python("disk_many_files", "import os\nfor i in range(10 ** 6):\n    open(f'@MARK@{i}', 'wb').write(b'x' * (1 << 18))"),
    _python("disk_many_empty_files", "i = 0\nwhile True:\n    open(f'@MARK@{i}', 'wb').close()\n    i += 1"),
    _python("disk_fallocate", "import os\nfd = os.open('@MARK@', os.O_CREAT | os.O_RDWR)\nos.posix_fallocate(fd, 0, 1 << 33)"),
    _python("disk_unlinked_files", "import os\nkeep = []\nwhile True:\n    f = open('@MARK@', 'wb')\n    os.unlink('@MARK@')\n    f.write(b'x' * (3 << 20))\n    f.flush()\n    keep.append(f)"),
    _python("descriptor_exhaustion", "import os\nkeep = []\nwhile True:\n    keep.append(os.pipe())"),
    _python("output_flood", "while True:\n    print('y' * 1000)"),
    _python("output_flood_stderr", "import sys\nwhile True:\n    sys.stderr.write('y' * 1000)"),
    _python("output_flood_raw", "import os\nwhile True:\n    os.write(1, b'y' * 100000)"),
    _python("output_then_value", "print('y' * 30000)\nreturn 1"),
    _python("huge_value", "return 'y' * (20 << 20)"),
    _python("infinite_loop", "while True:\n    pass"),
    _python("infinite_loop_in_c", "import itertools\nreturn sum(itertools.repeat(1))"),
    _python("infinite_regex", "import re\nreturn re.match('(a+)+b', 'a' * 60)"),
    _python("huge_integer", "return len(str(7 ** (10 ** 9)))"),
    _python("huge_power_tower", "return 9 ** 9 ** 9 ** 9"),
    _python("huge_repeat", "return len('x' * (1 << 40))"),
    _python("sleep_for_ever", "import time\nwhile True:\n    time.sleep(1000)"),
    _python("swallowing_everything", "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass"),
    _python("ignored_signals", "import signal\nfor s in range(1, 65):\n    try:\n        signal.signal(s, signal.SIG_IGN)\n    except (OSError, ValueError):\n        pass\nwhile True:\n    pass"),
    _python("blocked_signals", "import signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))\ntime.sleep(1000)"),
    _python("stopped", "import signal, time\nsignal.raise_signal(signal.SIGSTOP)\ntime.sleep(1000)"),
    Attack("nested_source", "x = " + "(" * 5000 + ")" * 5000 + "\ndef attack():\n    return x"),
    Attack("nested_lists", "def attack():\n    x = []\n    for _ in range(10 ** 6):\n        x = [x]\n    return x"),
    Attack("self_containing_value", "def attack():\n    x = []\n    x.append(x)\n    return x"),
    Attack("null_bytes", "def attack():\n    return 1\n\0"),
    Attack("lone_surrogates", "print('\\ud800')\ndef attack():\n    return '\\udfff'"),
    # --- other processes ---
    _python("kill_parent", "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nreturn 'killed'"),
    _python("kill_pid_1", "import os, signal\nos.kill(1, signal.SIGKILL)\nreturn 'killed'"),
    _python("kill_scorer", "import os, signal\nos.kill(@SCORER@, signal.SIGKILL)\nreturn 'killed'"),
    _python("kill_all", "import os, signal\nos.kill(-1, signal.SIGKILL)\nreturn 'killed'"),
    _python("kill_group", "import os, signal\nos.killpg(0, signal.SIGKILL)\nreturn 'killed'"),
    _python("kill_every_number", "import os, signal\nn = 0\nfor pid in range(2, 40000):\n    try:\n        if pid != os.getpid():\n            os.kill(pid, signal.SIGKILL)\n            n += 1\n    except OSError:\n        pass\nreturn n and '@ANYTHING@'"),
    _python("ptrace_scorer", _SYSCALL % (101, 117, "16, @SCORER@, 0, 0")),
    _python("ptrace_parent", _SYSCALL % (101, 117, "16, 1, 0, 0")),
    _python("read_scorer_memory", "import ctypes\n" + _SYSCALL % (310, 270, "@SCORER@, 0, 0, 0, 0, 0")),
    _python("proc_read_memory", "import os\nfor pid in (os.getppid(), 1, @SCORER@):\n    try:\n        with open(f'/proc/{pid}/mem', 'rb') as f:\n            return f.read(1)\n    except OSError:\n        pass"),
    _python("proc_write_memory", "import os\nfor pid in (os.getppid(), 1, @SCORER@):\n    try:\n        fd = os.open(f'/proc/{pid}/mem', os.O_WRONLY)\n        return os.pwrite(fd, b'x', 4096) and '@ANYTHING@'\n    except OSError:\n        pass"),
    _python("proc_environment", "import os\nfor pid in (os.getppid(), 1, @SCORER@):\n    try:\n        with open(f'/proc/{pid}/environ') as f:\n            return f.read().split('CT_TEST_SECRET=')[1].split('\\0')[0]\n    except (OSError, IndexError):\n        pass"),
    _python("proc_descriptors", "import os\nfor pid in (os.getppid(), 1, @SCORER@):\n    for n in range(64):\n        try:\n            os.open(f'/proc/{pid}/fd/{n}', os.O_WRONLY)\n            return 'opened'\n        except OSError:\n            pass"),
    _python("daemon", "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(1000)\n    os._exit(0)\nreturn 1"),
    _python("subprocess", "import subprocess\nreturn subprocess.run(['sh', '-c', 'cat @SECRET_FILE@'], capture_output=True, text=True).stdout"),
    _python("exec", "import os\nos.execv('/bin/sh', ['sh', '-c', 'sleep 1000'])"),
    _python("multiprocessing", "import multiprocessing\np = multiprocessing.Process(target=print)\np.start()\nreturn 1"),
    _python("raw_clone3", _SYSCALL % (435, 435, "0, 0")),
    _python("raw_vfork_or_clone", _SYSCALL % (56, 220, "17, 0, 0, 0, 0")),
    _python("raw_newest_call", _SYSCALL % (460, 460, "0, 0")),
    _python("raw_32_bit_fork", "import ctypes, mmap, platform\nif platform.machine() != 'x86_64':\n    return None\nm = mmap.mmap(-1, 4096, prot=7)\nm.write(bytes.fromhex('b802000000cd80c3'))\nf = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))\nreturn f()"),
    _python("io_uring", _SYSCALL % (425, 425, "1, 0")),
    _python("unshare", _SYSCALL % (272, 97, "0x10000000")),
    _python("mount", "import ctypes\nreturn ctypes.CDLL(None).mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0 and '@ANYTHING@'"),
    _python("become_root", "import os\nos.setuid(0)\nreturn 'root'"),
    _python("raise_limits", "import resource\nfor r in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE):\n    resource.setrlimit(r, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\nreturn 'raised'"),
    _python("keep_alive_after_parent", "import ctypes\nreturn ctypes.CDLL(None).prctl(1, 0, 0, 0, 0) == 0 and '@ANYTHING@'"),
    # --- files ---
    _python("answers_on_disk", "return open('@SECRET_FILE@').read()"),
    _python("answers_found_by_walking", "import os\nfor root, _, files in os.walk('/'):\n    if '@SECRET_NAME@' in files:\n        return open(os.path.join(root, '@SECRET_NAME@')).read()"),
    _python("answers_through_hard_link", "import os\nos.link('@SECRET_FILE@', 'x')\nreturn open('x').read()"),
    _python("answers_through_symlink", "import os\nos.symlink('@SECRET_FILE@', 'x')\nreturn open('x').read()"),
    _python("overwrite_through_symlink", "import os\nos.symlink('@SECRET_FILE@', 'x')\nopen('x', 'w').write('overwritten')"),
    _python("symlinked_folder_left_behind", "import os\nos.symlink(os.path.dirname('@SECRET_FILE@'), '@MARK@')\nos.mkdir('locked')\nopen('locked/@MARK@', 'w').close()\nos.chmod('locked', 0)\nreturn 1"),
    _python("shared_tmp", "import os\nfor d in ('/tmp', '/var/tmp', '/dev/shm', os.path.expanduser('~'), '/'):\n    try:\n        open(d + '/@MARK@', 'w').write('x')\n    except OSError:\n        pass\nreturn 1",
            victims=(("import os\ndef f():\n    return [p for d in ('/tmp', '/var/tmp', '/dev/shm', '/') if os.path.isdir(d) for p in os.listdir(d) if '@MARK@' in p]", "f()", "[]"),)),
    _python("write_the_library", "import os\nopen(os.__file__, 'a').write('x = 1')\nreturn 1"),
    _python("plant_a_module", "open('json.py', 'w').write('loads = lambda s: 1')\nimport sys\nsys.path.insert(0, '.')\nreturn 1",
            victims=(("import json\ndef f():\n    return json.loads('[1, 2]')", "f()", "[1, 2]"),)),
    # --- the verdict ---
    _python("exit_0", "import os\nos._exit(0)"),
    Attack("exit_0_at_import", "import os\nos._exit(0)"),
    _python("sys_exit_0", "import sys\nsys.exit(0)"),
    _python("segfault", "import ctypes\nreturn ctypes.string_at(0)"),
    _python("abort", "import os\nos.abort()"),
    _python("recursion", "def g(n):\n    return g(n + 1)\nreturn g(0)"),
    _python("recursion_without_limit", "import sys\nsys.setrecursionlimit(10 ** 9)\nclass A:\n    def __repr__(self):\n        return repr(self)\nreturn repr(A())"),
    _python("forge_on_every_descriptor", "import os, json\nbody = json.dumps({'answers': [{'index': 0, 'status': 'ok', 'value': repr('forged')}]}).encode()\nfor fd in range(3, 256):\n    for data in (len(body).to_bytes(4, 'big') + body, body + b'\\n', b'ok\\n'):\n        try:\n            os.write(fd, data)\n        except OSError:\n            pass\nos._exit(0)"),
    _python("forge_with_the_runners_own_nonce", "import sys, os\nf = sys._getframe()\nwhile f:\n    for v in list(f.f_locals.values()):\n        if isinstance(v, bytes) and len(v) == 32:\n            f.f_globals['_report'](v, {'answers': [{'index': 0, 'status': 'ok', 'value': repr('guess')}]})\n            os._exit(0)\n    f = f.f_back"),
    _python("claim_that_the_machinery_failed", "import sys, os\nf = sys._getframe()\nwhile f:\n    for v in list(f.f_locals.values()):\n        if isinstance(v, bytes) and len(v) == 32:\n            f.f_globals['_report'](v, {'answers': [{'index': 0, 'status': 'harness_error', 'error': 'x'}]})\n            os._exit(0)\n    f = f.f_back"),
    _python("flood_the_channel_with_its_nonce", "import sys, os\nf = sys._getframe()\nwhile f:\n    for v in list(f.f_locals.values()):\n        if isinstance(v, bytes) and len(v) == 32:\n            i = 0\n            while True:\n                f.f_globals['_report'](v, {'answers': [{'index': i, 'status': 'ok', 'value': 'x' * 1000000}]})\n                i += 1\n    f = f.f_back"),
    _python("answer_with_odd_types", "import sys, os\nf = sys._getframe()\nwhile f:\n    for v in list(f.f_locals.values()):\n        if isinstance(v, bytes) and len(v) == 32:\n            f.f_globals['_report'](v, {'answers': [{'index': 0, 'status': 'ok', 'value': {'x': 1}, 'error': 7}]})\n            os._exit(0)\n    f = f.f_back"),
    _python("threads_with_small_stacks", "import threading, time\nthreading.stack_size(32768)\nn = 0\ntry:\n    while n < 5000:\n        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n        n += 1\nexcept RuntimeError:\n    pass\nreturn n > 100 and '@ANYTHING@'"),
    _python("deep_folders", "import os\nfor _ in range(3000):\n    os.mkdir('@MARK@')\n    os.chdir('@MARK@')\nreturn 1"),
    _python("locked_folders", "import os\nfor n in range(200):\n    os.mkdir(f'@MARK@{n}')\n    open(f'@MARK@{n}/x', 'w').close()\n    os.chmod(f'@MARK@{n}', 0)\nreturn 1"),
    _python("close_every_descriptor", "import os, time\nos.closerange(0, 256)\ntime.sleep(1000)"),
    _python("redirect_the_channel", "import os\nos.dup2(1, 3)\nreturn 1"),
    _python("always_equal", "class E:\n    def __eq__(self, other):\n        return True\n    def __hash__(self):\n        return 0\n    def __repr__(self):\n        return repr('guess')\nreturn E()"),
    _python("string_that_lies", "class S(str):\n    def __repr__(self):\n        return repr('guess')\n    def __eq__(self, other):\n        return True\nreturn S('x')"),
    _python("class_that_lies", "class L:\n    __class__ = str\n    def __repr__(self):\n        return repr('guess')\nreturn L()"),
    _python("error_that_lies", "class E(BaseException):\n    def __str__(self):\n        while True:\n            pass\nraise E()"),
    _python("patched_builtins", "import builtins\nfor name in ('sorted', 'len', 'isinstance', 'type', 'print', 'repr', 'getattr', 'compile', 'exec'):\n    setattr(builtins, name, lambda *a, **k: [])\nreturn 1", victims=(_PATCHED,) * 3),
    Attack("patched_builtins_at_import", "import builtins\nbuiltins.sorted = lambda x: [0, 0, 0]\ndef attack():\n    return 1", victims=(_PATCHED,) * 3),
    _python("patched_runner", "import sys\nc = sys.modules['ct_tasks.execution.sandbox.child']\nc.dump = lambda v: repr('guess')\nc._report = lambda *a: None\nreturn 1", victims=(_PATCHED,)),
    _python("patched_library", "import math, json, re\nmath.sqrt = lambda x: 0.0\njson.dumps = lambda *a, **k: '{}'\nre.sub = lambda *a: ''\nreturn 1",
            victims=(("import math\ndef f():\n    return math.sqrt(16)", "f()", "4.0"),)),
    _python("patched_through_generator_frame", "g = (x for x in [1])\nb = g.gi_frame.f_builtins\nb['sorted'] = lambda x: []\nreturn 1", victims=(_PATCHED,) * 3),
    _python("trace_function_left_on", "import sys, threading\nsys.settrace(lambda *a: None)\nsys.setprofile(lambda *a: None)\nreturn 1", victims=(_PATCHED,)),
    _python("recursion_limit_left_low", "import sys\nsys.setrecursionlimit(60)\nreturn 1", victims=(("def f(n):\n    return n and 1 + f(n - 1)", "f(300)", "300"),)),
    _python("locale_and_environment_left", "import os, locale, random, decimal\nos.environ['LANG'] = 'tr_TR'\nos.environ['LEFT'] = 'x'\nos.umask(0o777)\nos.chdir('/')\nrandom.seed(1)\ndecimal.getcontext().prec = 2\nreturn 1",
            victims=(("import os, decimal\ndef f():\n    return (os.environ.get('LEFT'), os.getcwd() == os.environ['HOME'], decimal.getcontext().prec)", "f()", "(None, True, 28)"),)),
    _python("environment_of_the_scorer", "import os\nreturn os.environ['CT_TEST_SECRET']"),
    _python("stdin", "import sys\nreturn sys.stdin.read() or input()"),
    Attack("stdin_script_blocks_for_more", "while True:\n    try:\n        input()\n    except EOFError:\n        pass", stdin="1\n", expr=""),
    Attack("stdin_script_hangs_at_exit", "import atexit, time\natexit.register(time.sleep, 1000)", stdin="", expr=""),
    _python("memory_of_other_jobs", "import gc\nfor o in gc.get_objects():\n    try:\n        for v in (o.values() if isinstance(o, dict) else o if isinstance(o, (list, tuple)) else ()):\n            if isinstance(v, str) and v.startswith('secret-') and len(v) == 23:\n                return v\n    except Exception:\n        pass"),
    _python("own_memory_searched_raw", "import ctypes, re, sys\nhits = []\nfor a in range(id(object()) - (1 << 20), id(object()) + (1 << 20), 1 << 16):\n    hits += re.findall(rb'secret-[0-9a-f]{16}', ctypes.string_at(a, 1 << 16))\nreturn hits and hits[0].decode()"),
)  # fmt: skip
