"""Programs in containers: gold passes, wrong values fail, attacks leave nothing behind."""

import os
import subprocess
import time

import pytest

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.base import Answer
from ct_tasks.errors import HarnessError
from ct_tasks.execution import docker
from ct_tasks.execution.languages import NAMES, get
from ct_tasks.execution.languages.runner import run_programs
from ct_tasks.options import TaskOptions

pytestmark = [pytest.mark.docker, pytest.mark.slow]


@pytest.fixture(autouse=True)
def engine(docker_engine):
    for image in {get(n).image for n in NAMES}:
        if not docker.has_image(image):
            from conftest import missing

            missing(f"the image {image} is not built")


@pytest.fixture(autouse=True)
def nothing_left(engine):
    yield
    listed = subprocess.run([docker.command(), "ps", "-a", "--filter", f"label={docker.LABEL}", "--format", f'{{{{.Label "{docker.LABEL}"}}}}'], capture_output=True, text=True, check=True)
    # Other runs on this machine may have containers of their own; ours, and those of the dead, must be gone.
    assert [owner for owner in listed.stdout.split() if owner.startswith(f"{os.getpid()}/") or not docker._alive(owner)] == []


@pytest.mark.parametrize("name", NAMES)
def test_gold_passes_and_a_wrong_value_fails(name, data_dir):
    task = registry.get(f"ct_cruxeval_x_{name}")
    bad = task.bad_references(TaskOptions())
    items = [i for i in task.items(TaskOptions()) if i.id not in bad][:3]
    golds = [task.parts(i).program(task.parts(i).gold) for i in items]
    other = {"sh": '"certainly not this"', "rkt": '"certainly not this"', "pl": '"certainly not this"'}.get(name)
    wrong = [task.parts(i).program(other or task.parts(items[(k + 1) % 3]).gold) for k, i in enumerate(items)]
    results = run_programs(name, [*golds, *wrong])
    assert [r.status for r in results[:3]] == ["ok"] * 3, [r.error for r in results[:3]]
    assert all(r.status in ("exception", "timeout") for r in results[3:]), [r.status for r in results[3:]]


@pytest.mark.parametrize("name", ["java", "scala", "ts"])
def test_a_batch_gives_the_verdicts_of_one_at_a_time(name, data_dir):
    task = registry.get(f"ct_cruxeval_x_{name}")
    items = task.items(TaskOptions())[:4]
    programs = [task.parts(i).program(task.parts(i).gold) for i in items] + ["this is no program", task.parts(items[0]).program("no_such_name")]
    together = [r.status for r in run_programs(name, programs)]
    assert together == [r.status for r in run_programs(name, programs, batch=False)]
    assert together[:4] == ["ok"] * 4
    assert together[4:] == ["exception"] * 2


def test_no_typescript_program_lends_another_its_globals():
    lender = "export {};\ndeclare global { var borrowed: number; }\n"
    borrower = "if (false) { console.log(borrowed); }\n"
    assert [r.status for r in run_programs("ts", [lender, borrower])] == ["ok", "exception"]


def test_scores_are_strict_and_official_is_beside(data_dir):
    task = registry.get("ct_cruxeval_x_py")
    item = next(i for i in task.items(TaskOptions()) if i.id == "3")
    gold = task.parts(item).gold.strip()
    texts = [task.gold(item, TaskOptions()), f"[ANSWER]\n{gold} or True\n[/ANSWER]", "[ANSWER]\n__import__('os')._exit(0)\n[/ANSWER]", "[ANSWER]\n'no'\n[/ANSWER]", "no answer here```"]
    scores = task.score([Answer(item, t) for t in texts], TaskOptions())
    assert [s.acc for s in scores] == [True, False, False, False, False]
    assert [s.acc_official for s in scores] == [True, True, True, False, False]
    assert scores[4].status == "no_answer"


ATTACKS = {
    "py network": ("py", "import socket; socket.create_connection(('1.1.1.1', 53), 2)", "exception"),
    "py fork bomb": ("py", "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", "timeout"),
    "py daemon": ("py", "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(1000)\n    os._exit(0)\nraise SystemExit(1)", "exception"),
    "py kill all": ("py", "import os, signal\nos.kill(-1, signal.SIGKILL)\nraise SystemExit(1)", "exception"),
    "py write outside": ("py", "open('/etc/passwd', 'a')", "exception"),
    "py read another": ("py", "import os, glob\nassert glob.glob('/tmp/ct-*/*/*.py') == ['x']", "exception"),
    "py disk": ("py", "f = open('big', 'wb')\nwhile True: f.write(b'x' * 1000000)", "exception"),
    "py memory": ("py", "x = []\nwhile True: x.append('y' * 10000000)", "memory"),
    "py output": ("py", "while True: print('x' * 10000)", "exception"),
    "sh flood": ("sh", "yes > /dev/full; while true; do echo flooding flooding; done", None),
    "sh loop": ("sh", "while :; do :; done", "timeout"),
    "sh env": ("sh", "[ -n \"$CT_DATA_DIR\" ] || exit 1", "exception"),
    "perl kill": ("pl", "kill 9, -1; exit 1;", "exception"),
    "perl signals": ("pl", "$SIG{$_} = 'IGNORE' for keys %SIG; 1 while 1;", "timeout"),
    "node loop": ("js", "process.on('SIGTERM', () => {}); for (;;) {}", "timeout"),
    "node net": ("js", "require('net').connect(53, '1.1.1.1')", "exception"),
    "ruby fork": ("rb", "loop { begin; fork; rescue; end }", None),
    "lua shell": ("lua", "os.execute('kill -9 -1'); os.exit(1)", "exception"),
    "php root": ("php", "<?php exit(posix_getuid() === 0 ? 0 : 1);", "exception"),
    "cpp segfault": ("cpp", "#include<bits/stdc++.h>\nint main() { *(volatile int*)0 = 1; }", "exception"),
}


@pytest.mark.parametrize("kind", ATTACKS)
def test_attack(kind, monkeypatch):
    name, program, status = ATTACKS[kind]
    monkeypatch.setattr("ct_tasks.execution.languages.base.Language.recipe", _short(get(name)))
    start = time.monotonic()
    hit, after = run_programs(name, [program, "" if name != "php" else "<?php"], workers=1) if name != "cpp" else (*run_programs(name, [program]), None)
    assert hit.status != "ok"
    if status is not None:
        assert hit.status in (status, "killed", "output_limit", "timeout"), (hit.status, hit.error)
    if after is not None:
        assert after.status == "ok", after
    assert time.monotonic() - start < 120


def _short(language):
    recipe = language.recipe()

    def short(self):
        return {**recipe, "run_s": 2.0}

    return short


def test_a_missing_image_says_what_to_do(monkeypatch):
    import dataclasses

    lang = dataclasses.replace(get("py"), image="codethinker-eval-no-such-image")
    monkeypatch.setattr("ct_tasks.execution.languages.runner.get", lambda name: lang)
    with pytest.raises(HarnessError, match="containers build"):
        run_programs("py", ["x"])


def test_a_dead_engine_says_what_to_do(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:9")
    with pytest.raises(HarnessError, match="start it"):
        run_programs("py", ["x"])


def test_a_killed_run_leaves_no_container(tmp_path):
    import signal
    import sys

    script = "from ct_tasks.execution.languages.runner import run_programs; print('go', flush=True); run_programs('py', ['import time; time.sleep(60)'])"
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"go\n"
    time.sleep(3)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    for _ in range(100):
        listed = subprocess.run([docker.command(), "ps", "-aq", "--filter", f"name=ct-lang-{process.pid}-"], capture_output=True, text=True, check=True).stdout
        if not listed:
            break
        time.sleep(0.1)
    assert listed == ""
