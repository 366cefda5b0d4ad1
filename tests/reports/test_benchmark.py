"""benchmarks/report.py ends at any size: what it waits for is worked out from the size, and a page that never comes is named."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "report.py"


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("size", ["1x1x1", "5x3x9"])
def test_the_benchmark_of_the_report_ends_at_any_size(chromium, tmp_path, size):
    done = subprocess.run([sys.executable, str(BENCHMARK), "--sizes", size, "--loads", "1", "--out", str(tmp_path / "o.json")], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-1500:]
    found = json.loads((tmp_path / "o.json").read_text())["sizes"]
    assert [f"{f['models']}x{f['tasks']}x{f['samples']}" for f in found] == [size]
    assert all(t["worst_ms"] >= 0 for t in found[0]["times"].values())


def test_a_size_that_is_none_is_a_sentence():
    done = subprocess.run([sys.executable, str(BENCHMARK), "--sizes", "3x0x1"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "each at least 1" in done.stderr
