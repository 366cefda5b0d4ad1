"""What tests share: the benchmark data, the demo model, and skips that name their reason (failures in CI)."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
CI = os.environ.get("CI", "") not in ("", "0", "false")

# Hypothesis' own limits are wall time, which a busy machine passes.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


def missing(what: str) -> None:
    """Skip with a reason; in CI, where everything has been set up, fail."""
    if CI:
        pytest.fail(f"{what} (and CI must have it)")
    pytest.skip(what)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    folder = os.environ.get("CT_DATA_DIR")
    if not folder or not Path(folder).is_dir():
        missing("CT_DATA_DIR does not name a folder with the benchmark data")
    return Path(str(folder))


@pytest.fixture(scope="session")
def smollm2() -> Path:
    from ct_tasks import demo_model
    from ct_tasks.errors import HarnessError

    try:
        return demo_model.path()
    except HarnessError as error:
        missing(str(error))
        raise


@pytest.fixture(scope="session")
def docker_engine() -> str:
    docker = shutil.which("docker", path="/usr/bin:/usr/local/bin:/bin") or shutil.which("docker")
    if docker is None or subprocess.run([docker, "info"], capture_output=True).returncode != 0:
        missing("no Docker engine answers")
    return str(docker)


@pytest.fixture(scope="session")
def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        missing("no Chromium")
    return str(found)
