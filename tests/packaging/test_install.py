"""Both ways of installing, in new virtual environments: `pip install .` and `pip install -e .` let plain lm_eval find the tasks."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.registry import GROUPS, TASKS
from ct_tasks.options import TaskOptions

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["wheel", "editable"])
def installed(request, tmp_path_factory):
    """The Python of a new environment with our package alone. It sees the packages installed here, but runs none of their
    ``.pth`` files, so that only its own installation can bring the tasks."""
    folder = tmp_path_factory.mktemp(request.param)
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    site = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    (site / "host.pth").write_text(sysconfig.get_path("purelib") + "\n")
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--ignore-installed"]
    command += ["-e", str(ROOT)] if request.param == "editable" else [str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, env=environment())
    assert done.returncode == 0, done.stderr[-3000:]

    def run(*arguments, **env):
        return subprocess.run([python, *arguments], capture_output=True, text=True, timeout=1500, cwd=folder, env=environment(**env))

    run.mode, run.site = request.param, site
    return run


def environment(**extra):
    return {**{k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "CT_TASKS_NO_AUTOLOAD")}, **extra}


def test_the_package_is_where_it_was_installed(installed):
    found = installed("-c", "import ct_tasks, ct_train, sys; print(ct_tasks.__file__); print('ct_tasks._autoload' in sys.modules)").stdout.split()
    assert Path(found[0]).is_relative_to(installed.site if installed.mode == "wheel" else ROOT)
    assert found[1] == "True"


def test_the_opt_out_keeps_python_as_it_was(installed):
    script = "import sys; print([f for f in sys.meta_path if 'ct_tasks' in getattr(f, '__module__', '')])"
    assert installed("-c", script).stdout.strip() != "[]"
    assert installed("-c", script, CT_TASKS_NO_AUTOLOAD="1").stdout.strip() == "[]"


def test_data_files_are_there(installed):
    script = "from ct_tasks.cli.containers import sources; from ct_tasks.benchmarks import registry as r; from ct_tasks.options import TaskOptions as o; print(sorted(p.name for p in sources().iterdir())); print(len(r.get('ct_mini').items(o())))"
    done = installed("-c", script)
    assert "languages.Dockerfile" in done.stdout, done.stderr
    assert int(done.stdout.split()[-1]) >= 120


def test_lm_eval_finds_every_task_and_group(installed):
    script = "from lm_eval.tasks import TaskManager; print(*TaskManager(include_defaults=False).all_tasks)"
    assert set(installed("-c", script).stdout.split()) == {*TASKS, *GROUPS}


def test_lm_eval_runs_the_tasks(installed, data_dir, tmp_path):
    """All of them from a wheel; from an editable install, which differs only in where the files are, a group and a task."""
    asked, ran = ("ct_*", TASKS) if installed.mode == "wheel" else ("ct_mini,codethinker_main", ("ct_mini", *GROUPS["codethinker_main"]))
    done = installed("-m", "lm_eval", "run", "--model", "dummy", "--tasks", asked, "--limit", "1", "--output_path", str(tmp_path))
    assert done.returncode == 0, done.stderr[-3000:]
    results = json.loads(next(tmp_path.rglob("results_*.json")).read_text())["results"]
    assert set(results) - set(GROUPS) == set(ran)
    # A first problem whose own reference is known to be wrong is not scored, and says so.
    unsound = {name for name in ran if registry.get(name).items(TaskOptions())[0].id in registry.get(name).bad_references(TaskOptions())}
    unscored = {name for name in ran if results[name]["harness_error,score"] > 0}
    assert unscored <= unsound
    assert {name for name in ran if results[name].get("acc,score") != 0} == unscored
