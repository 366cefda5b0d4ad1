"""What the shell is told, asked as the shell asks; and the console scripts."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(sys.executable).parent


def completions(tmp_path, line):
    out = tmp_path / "out"
    env = {**os.environ, "_ARGCOMPLETE": "1", "_ARGCOMPLETE_SHELL": "fish", "_ARGCOMPLETE_SUPPRESS_SPACE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)), "_ARGCOMPLETE_STDOUT_FILENAME": str(out)}
    subprocess.run([SCRIPTS / line.split()[0]], env=env, check=True, cwd=tmp_path)
    return {row.partition("\t")[0].strip() for row in out.read_text().replace("\x0b", "\n").split("\n")}


@pytest.mark.parametrize(
    ("line", "expected"),
    [("ct-tasks ", {"score", "run", "validate", "completion"}), ("ct-tasks sco", {"score"}), ("ct-tasks score ct_mi", {"ct_mini", "ct_micro"}), ("ct-tasks score --par", {"--paradigm"}), ("ct-tasks score ct_mini f --paradigm cw", {"cwm"}), ("ct-tasks 'open", set()), ("ct-train gr", {"grpo"})],
)
def test_what_may_follow_is_offered(tmp_path, line, expected):
    found = completions(tmp_path, line)
    assert expected <= found
    assert len(found) < 20


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_takes_what_is_printed_for_it(tmp_path, shell):
    script = subprocess.run([SCRIPTS / "ct-tasks", "completion", shell], capture_output=True, text=True, check=True).stdout
    assert "ct-tasks" in script
    assert "ct-train" in script
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    (tmp_path / "script").write_text(script)
    subprocess.run([shell, "-n", tmp_path / "script"], check=True)


def test_the_console_scripts_tell_their_version():
    for script in ("ct-tasks", "ct-train"):
        assert subprocess.run([SCRIPTS / script, "--version"], capture_output=True, text=True, check=True).stdout.strip() == "0.1.0"
