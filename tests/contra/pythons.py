"""Other Pythons that are installed on this machine, and how to run the tracer with them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def other_python(version: str, folder: Path) -> tuple[str, dict[str, str]]:
    """Its path and an environment in which it finds this repository and what the tracer imports; skips without one."""
    installed = [str(p) for p in Path.home().glob(f".pyenv/versions/{version}*/bin/python")]
    found = [shutil.which(f"python{version}"), *installed]
    # A version manager's shim exists without the Python behind it, so each candidate is asked to run.
    candidates = [p for p in found if p and subprocess.run([p, "-c", ""], capture_output=True).returncode == 0]
    if not candidates:
        pytest.skip(f"no Python {version} on this machine")
    import mando
    import radon

    for package in (radon, mando):
        source = Path(package.__file__).parent
        (folder / source.name).symlink_to(source)
    return candidates[-1], {**os.environ, "PYTHONPATH": f"{ROOT}:{folder}"}
