"""What happens round the pool: the scorer dies, the kernel forbids a layer, the user is not root."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from ct_tasks.execution.jobs import Job
from ct_tasks.execution.pool import PythonPool
from ct_tasks.execution.sandbox import seccomp
from ct_tasks.execution.sandbox.layers import PROTECTIONS, WORKDIR
from ct_tasks.execution.worker import LABEL

ROOT = Path(__file__).resolve().parents[2]
_SCORER = """
import sys, threading, time
from ct_tasks.execution.jobs import Job, Limits
from ct_tasks.execution.pool import PythonPool
pool = PythonPool(2, backend=sys.argv[1])
good, slow = Job("x = 1", expr="x"), Job("import time\\ntime.sleep(300)", limits=Limits(cpu_s=300, wall_s=300))
pool.run([good] * 8)
threading.Thread(target=pool.run, args=([slow, slow, good, slow],), daemon=True).start()
while len(pool._busy) < 2:
    time.sleep(0.01)
time.sleep(0.5)
{extra}
print("running", flush=True)
time.sleep(300)
"""


def _start(backend: str, extra: str = "") -> subprocess.Popen[str]:
    scorer = subprocess.Popen(
        [sys.executable, "-c", _SCORER.format(extra=extra), backend],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert scorer.stdout
    assert scorer.stdout.readline() == "running\n"
    return scorer


def _descendants(pid: int) -> set[int]:
    parents = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, IndexError, ValueError):
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    found = {pid}
    while more := {p for p, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def _alive(pids: set[int]) -> set[int]:
    def state(pid: int) -> str:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return "gone"

    return {pid for pid in pids if state(pid) not in ("gone", "Z", "X")}


def _wait_until_dead(pids: set[int]) -> set[int]:
    deadline = time.monotonic() + 120
    while (left := _alive(pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def _right(pool: PythonPool) -> bool:
    return [r.value for r in pool.run([Job("def f(x):\n    return x + 1", expr=f"f({n})") for n in range(50)])] == [
        str(n + 1) for n in range(50)
    ]


def test_kill_9_of_the_scorer_leaves_no_process() -> None:
    scorer = _start("local")
    tree = _descendants(scorer.pid)
    assert len(tree) == 6, "two supervisors, two fork servers, two children"
    scorer.send_signal(signal.SIGKILL)
    scorer.wait()
    assert _wait_until_dead(tree) == set()
    with PythonPool(2) as pool:
        assert _right(pool)


def test_kill_9_while_another_process_holds_the_pipes() -> None:
    """Without a hang-up on the pipes the supervisor must still notice that its scorer is gone."""
    extra = "import subprocess\nfds = [fd for w in pool._busy for fd in (w.requests, w.replies)]\nprint_ = subprocess.Popen(['sleep', '30'], pass_fds=fds, stdout=subprocess.DEVNULL).pid"
    scorer = _start("local", extra)
    tree = _descendants(scorer.pid)
    (holder,) = [pid for pid in tree if Path(f"/proc/{pid}/comm").read_text() == "sleep\n"]
    scorer.send_signal(signal.SIGKILL)
    scorer.wait()
    try:
        assert _wait_until_dead(tree - {holder}) == set()
        assert _alive({holder}), "the pipes were open all the time"
    finally:
        os.kill(holder, signal.SIGKILL)


def test_kill_9_of_a_supervisor_takes_its_children_along() -> None:
    scorer = _start("local")
    try:
        supervisors = {p for p in _descendants(scorer.pid) if p in _children(scorer.pid)}
        below = set().union(*map(_descendants, supervisors))
        assert len(below) == 4
        for pid in supervisors:
            os.kill(pid, signal.SIGKILL)
        assert _wait_until_dead(below) == set()
    finally:
        scorer.kill()
        scorer.wait()


def _children(pid: int) -> set[int]:
    return {int(p) for p in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()}


@pytest.mark.docker
def test_kill_9_of_the_scorer_leaves_no_container() -> None:
    if not shutil.which("docker") or subprocess.run(["docker", "info"], capture_output=True).returncode != 0:
        if os.environ.get("CI"):
            pytest.fail("no Docker engine in CI")
        pytest.skip("no Docker engine answers")
    scorer = _start("docker")
    own = ["docker", "ps", "-aq", "--filter", f"name=ct-pool-{scorer.pid}-"]
    assert len(subprocess.run(own, capture_output=True, text=True).stdout.split()) == 2
    tree = _descendants(scorer.pid)
    scorer.send_signal(signal.SIGKILL)
    scorer.wait()
    deadline = time.monotonic() + 120
    while (left := subprocess.run(own, capture_output=True, text=True).stdout) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert left == ""
    assert _wait_until_dead(tree) == set()
    # A container that did stay behind (the engine was stopped, say) is removed by the next pool.
    label = f"--label={LABEL}=999999:1"
    stale = ["docker", "run", "--detach", "--network=none", label, "codethinker-eval-python", "sleep", "60"]
    name = subprocess.run(stale, capture_output=True, text=True, check=True).stdout.strip()
    sweep = "from ct_tasks.execution.pool import PythonPool\nfrom ct_tasks.execution.jobs import Job\nwith PythonPool(1, 'docker') as p:\n    print(p.run([Job('x = 1', expr='x')])[0].value)"
    ran = subprocess.run(
        [sys.executable, "-c", sweep], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert ran.stdout == "1\n", ran.stderr
    assert (
        subprocess.run(["docker", "ps", "-aq", "--filter", f"id={name}"], capture_output=True, text=True).stdout == ""
    )


# --- a kernel that forbids a layer: a filter over the scorer itself answers EPERM, as a container's profile would ---
_UNDER_A_FILTER = """
import ctypes, struct, sys
from ct_tasks.execution.sandbox import seccomp
numbers = [seccomp.DENIED[n][{column}] for n in {denied!r}]
code = struct.pack("HBBI", 0x20, 0, 0, 0)
for n in numbers:
    code += struct.pack("HBBI", 0x15, 0, 1, n) + struct.pack("HBBI", 0x06, 0, 0, 0x00050001)
code += struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000)
buffer = ctypes.create_string_buffer(code, len(code))
program = seccomp._Program(len(code) // 8, ctypes.addressof(buffer))
prctl = seccomp.prctl_function()
assert prctl(38, 1, 0, 0, 0) == 0 and prctl(22, 2, ctypes.addressof(program), 0, 0) == 0
from ct_tasks.execution.pool import PythonPool
from ct_tasks.execution.jobs import Job
from ct_tasks.errors import HarnessError
jobs = [Job("def f():\\n    return open({secret!r}).read()", expr="f()"), Job("x = 6", expr="x * 7"),
        Job("import os\\nos.mkdir('locked')\\nopen('locked/x', 'w').close()\\nos.chmod('locked', 0)", expr="1"),
        Job("import os", expr="os.listdir('.')")]
try:
    with PythonPool(1, allow_missing=sys.argv[1:]) as pool:
        print(*[r.value for r in pool.run(jobs)], sep="\\n")
except HarnessError as error:
    print(error)
"""


def _under_a_filter(denied: list[str], secret: Path, *allowed: str) -> str:
    column = {"x86_64": 0, "aarch64": 1}[platform.machine()]
    script = _UNDER_A_FILTER.format(denied=denied, column=column, secret=str(secret))
    ran = subprocess.run(
        [sys.executable, "-c", script, *allowed],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_kernel_without_namespaces_is_refused_by_name(tmp_path: Path) -> None:
    secret = tmp_path / "answers.txt"
    secret.write_text("secret")
    for folder in (secret, *secret.parents):
        with contextlib.suppress(OSError):
            folder.chmod(folder.stat().st_mode | 0o055)
    said = _under_a_filter(["unshare"], secret)
    for name in ("network", "filesystem", "processes"):
        assert f"{name}: without it {PROTECTIONS[name]} (unshare: Operation not permitted)" in said
    assert "syscalls" not in said
    assert "CT_SANDBOX_ALLOW_MISSING=filesystem,network,processes" in said
    assert "backend='docker'" in said

    partly = _under_a_filter(["unshare"], secret, "network", "processes")
    assert "filesystem: without it" in partly
    assert "network: without it" not in partly

    # With the risk accepted it runs, is exposed in just that way (so the attack tests do detect), and still cleans up.
    before = set(Path(tempfile.gettempdir()).glob(f"{WORKDIR}*"))
    values = _under_a_filter(["unshare"], secret, "network", "filesystem", "processes").splitlines()
    assert values == ["'secret'", "42", "1", "[]"]
    assert set(Path(tempfile.gettempdir()).glob(f"{WORKDIR}*")) <= before


def test_a_kernel_without_mounts_is_refused(tmp_path: Path) -> None:
    said = _under_a_filter(["mount"], tmp_path)
    assert "filesystem: without it" in said
    assert "network: without it" not in said


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become somebody else")
def test_an_unprivileged_user_gets_all_protections(tmp_path: Path) -> None:
    script = (
        "from ct_tasks.execution.pool import PythonPool\nfrom ct_tasks.execution.jobs import Job\n"
        "import os\nassert os.getuid() == 65534\n"
        "code = 'import os\\ndef f():\\n    try:\\n        os.kill(1, 9)\\n    except PermissionError:\\n        return os.listdir(\"/\")'\n"
        "with PythonPool(1) as pool:\n    print(pool.run([Job(code, expr='f()')])[0])\n"
        "    print(pool.run([Job('x = 1', expr='x')])[0].value, pool._idle[0].missing)"
    )
    drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    # The interpreter must be one that a foreign user can reach: a virtual environment below /root is not.
    python = next(
        (p for p in ("/usr/bin/python3.13", "/usr/bin/python3.12", "/usr/bin/python3.11") if os.path.exists(p)), ""
    )
    if not python or subprocess.run([*drop, "unshare", "-Ur", "true"], capture_output=True).returncode != 0:
        pytest.skip("no system Python 3.11 or newer, or no user namespaces for users")
    shutil.copytree(ROOT / "ct_tasks", tmp_path / "ct_tasks", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (tmp_path, *tmp_path.parents):
        with contextlib.suppress(OSError):
            path.chmod(path.stat().st_mode | 0o055)
    ran = subprocess.run(
        [*drop, python, "-c", script], capture_output=True, text=True, env={"PYTHONPATH": str(tmp_path)}, cwd="/"
    )
    assert ran.returncode == 0, ran.stderr
    first, second = ran.stdout.splitlines()
    assert "status='ok'" in first
    assert "'home'" not in first
    assert "'proc'" not in first
    assert second == "1 {}"


def test_filters_for_both_architectures() -> None:
    """The filter's program, interpreted here: what it answers for calls that matter, on both architectures."""
    allow, eperm, enosys, kill = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
    cases = {
        "x86_64": (0xC000003E, {0: allow, 41: eperm, 57: eperm, 59: eperm, 62: eperm, 435: enosys, 451: enosys, 0x40000001: kill}),
        "aarch64": (0xC00000B7, {63: allow, 198: eperm, 221: eperm, 129: eperm, 435: enosys, 451: enosys}),
    }  # fmt: skip
    for machine, (arch, expected) in cases.items():
        code = seccomp.build(machine)
        for number, answer in expected.items():
            assert _interpret(code, arch, number, 0) == answer, (machine, number)
        assert _interpret(code, arch ^ 1, 0, 0) == kill
        clone, prctl, prlimit = ((56, 157, 302), (220, 167, 261))[machine == "aarch64"]
        assert _interpret(code, arch, clone, 0x3D0F00) == allow, "a thread"
        assert _interpret(code, arch, clone, 17) == eperm, "a process"
        assert _interpret(code, arch, prctl, 15) == allow
        assert _interpret(code, arch, prctl, 1) == eperm
        assert _interpret(code, arch, prlimit, 0) == allow
        assert _interpret(code, arch, prlimit, 1234) == eperm


def _interpret(code: bytes, arch: int, number: int, argument: int) -> int:
    data = struct.pack("IIQQ", number, arch, 0, argument)
    position, register = 0, 0
    while True:
        op, yes, no, value = struct.unpack_from("HBBI", code, position * 8)
        position += 1
        if op == 0x06:
            return value
        if op == 0x20:
            (register,) = struct.unpack_from("I", data, value)
        else:
            met = {
                0x15: register == value,
                0x25: register > value,
                0x35: register >= value,
                0x45: bool(register & value),
            }[op]
            position += yes if met else no


def test_the_table_agrees_with_the_kernels_headers() -> None:
    header = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    if platform.machine() != "x86_64" or not header.exists():
        pytest.skip("no kernel headers for x86_64 here")
    known = dict(line.split()[1:3] for line in header.read_text().splitlines() if line.startswith("#define __NR_"))
    for name, (number, _) in seccomp.DENIED.items():
        assert known[f"__NR_{name}"] == str(number)


def test_installing_a_filter_elsewhere_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(OSError, match="riscv64"):
        seccomp.Filter()
    assert ctypes.sizeof(seccomp._Program) == 16
