"""Incremental consistency read back from a run's samples."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ct_tasks.reports import tables
from ct_tasks.reports.consistency import run_consistency
from ct_tasks.reports.read import read_runs


def write(folder: Path, rights: dict[str, dict[str, list[bool]]]) -> Path:
    folder.mkdir()
    for task, rows in rights.items():
        (folder / f"samples_{task}_X.jsonl").write_text("".join(json.dumps({
            "doc": {"id": i}, "resps": [["r"] * len(verdicts)], "filtered_resps": [
                [json.dumps({"acc": v, "acc_official": not v, "status": "right" if v else "wrong"}) for v in verdicts]]}) + "\n"
            for i, verdicts in rows.items()))
    (folder / "results_X.json").write_text(json.dumps({"results": {task: {"acc,score": 0.5} for task in rights}, "model_name": "m"}))
    return folder


def test_consistency_of_a_run(tmp_path: Path) -> None:
    probes = ["DREval/0/0/3", "DREval/0/0/4", "DREval/90/1/2"]
    rights = {"ct_reval_c": dict(zip(probes, ([True, True], [True, False], [True, True]), strict=True)),
              "ct_reval_s": dict(zip(probes, ([True, True], [True, False], [False, False]), strict=True)),
              "ct_reval_p": dict(zip(probes, ([True, True], [False, False], [False, False]), strict=True)),
              "ct_reval_fo": {"DREval/0/0": [True, False], "DREval/0/1": [True, True]}, "ct_reval_co": {"DREval/90/1": [False, False]}}
    (run,), _ = read_runs([write(tmp_path / "all", rights)])
    first, second = (1 + 0 + 0.125) / 3, (0.5 + 0 + 0.125) / 3
    strict, official, count = run_consistency(run) or (0.0, None, 0)
    assert (strict, count) == (pytest.approx(100 * (first + second) / 2), 3)
    assert official is not None
    row = next(r for r in tables.rows([run]) if r["task"] == "reval_ic")
    assert row["metrics"]["ic"] == strict
    assert "reval_ic" in tables.as_json(tables.rows([run]))
    del rights["ct_reval_p"]
    (run,), _ = read_runs([write(tmp_path / "part", rights)])
    assert run_consistency(run) is None
