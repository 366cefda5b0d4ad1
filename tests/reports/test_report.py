"""Reading folders in every state, tables, comparison and scoring again."""

import csv
import io
import json
import shutil
import subprocess

import pytest
from test_site import write_run

from ct_tasks.cli.main import main
from ct_tasks.errors import ConfigError
from ct_tasks.reports import latex, tables
from ct_tasks.reports.read import read_runs, read_samples


@pytest.fixture
def runs(tmp_path):
    write_run(tmp_path / "a", "model_one & 100% #1", "contra", "answer")
    write_run(tmp_path / "b", "model-two", "direct", "none")
    return tmp_path


def test_tables(runs):
    found, problems = read_runs([runs])
    assert problems == []
    table = tables.rows(found)
    assert {r["task"] for r in table} == {"ct_mini", "plain_task"}
    text = tables.markdown(table)
    assert text.count("**") == 2  # one best in ct_mini; two that tie in plain_task are not ranked
    lines = list(csv.reader(io.StringIO(tables.as_csv(table))))
    assert all(len(line) == len(lines[0]) for line in lines)
    assert json.loads(tables.as_json(table))["rows"][0]["n"] == 30
    low, high = table[0]["low"], table[0]["high"]
    assert 0 <= low <= table[0]["value"] <= high <= 1


def test_latex_compiles(runs, tmp_path):
    if shutil.which("pdflatex") is None:
        from conftest import missing

        missing("no pdflatex")
    found, _ = read_runs([runs])
    table = latex.latex(tables.rows(found))
    (tmp_path / "t.tex").write_text("\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n" + table + "\\end{document}\n")
    done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-1500:]


def test_damaged_and_half_written_folders(runs, tmp_path):
    (runs / "torn").mkdir()
    (runs / "torn" / "results_1.json").write_text('{"results": {"a"')
    (runs / "other").mkdir()
    (runs / "other" / "results_1.json").write_text("[]")
    found, problems = read_runs([runs])
    assert len(found) == 2
    assert len(problems) == 2
    assert all("left out" in p for p in problems)
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "samples_x_1.jsonl").write_text("{}\n")
    with pytest.raises(ConfigError, match="did not finish"):
        read_runs([tmp_path / "half"])
    with pytest.raises(ConfigError, match="does not exist"):
        read_runs([tmp_path / "nowhere"])


def test_damaged_samples(runs):
    path = runs / "a" / "samples_ct_mini_x.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[0], "{torn", "[]", *lines[1:]]) + '\n{"doc_id": 1, "res')
    problems = []
    assert len(list(read_samples(path, problems))) == 30
    assert len(problems) == 4
    assert any("occurs twice" in p for p in problems)


def test_compare(runs, capsys):
    assert main(["compare", str(runs / "a"), str(runs / "b"), "--json"]) == 0
    row = json.loads(capsys.readouterr().out)["ct_mini"]
    assert row["n"] == 30
    assert len(row["won"]) == 5
    assert row["lost"] == []
    assert row["difference"] == pytest.approx(5 / 30)
    assert row["low"] <= row["difference"] <= row["high"]
    assert main(["compare", str(runs / "a"), str(runs / "a")]) == 0
    assert "not one sample differs" in capsys.readouterr().out


def test_compare_fails_when_worse(tmp_path, capsys):
    write_run(tmp_path / "a", "x", "contra", "none", n=60)
    write_run(tmp_path / "b", "x", "contra", "answer", n=60)
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--fail-if-worse"]) == 1
    assert main(["compare", str(tmp_path / "b"), str(tmp_path / "a"), "--fail-if-worse"]) == 0


def test_compare_without_common_samples(runs, capsys):
    (runs / "b" / "samples_ct_mini_x.jsonl").write_text("")
    assert main(["compare", str(runs / "a"), str(runs / "b")]) == 0
    assert "no sample has a verdict in both runs" in capsys.readouterr().out
    (runs / "b" / "samples_ct_mini_x.jsonl").unlink()
    assert main(["compare", str(runs / "a"), str(runs / "b")]) == 2


def test_rescore_names_what_changed(tmp_path, capsys):
    from ct_tasks.benchmarks import registry
    from ct_tasks.options import TaskOptions

    task = registry.get("ct_mini")
    item = task.items(TaskOptions())[0]
    gold = task.gold(item, TaskOptions())
    old = {"acc": False, "status": "wrong", "answer": "?", "reason": "an old scorer's reason"}
    row = {"doc_id": 0, "doc": {"id": item.id, "group": item.group, "data": json.dumps(dict(item.data))}, "target": gold, "arguments": {}, "resps": [[gold]], "filtered_resps": [[json.dumps(old)]]}
    (tmp_path / "samples_ct_mini_1.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "results_1.json").write_text(json.dumps({"results": {"ct_mini": {"acc,score": 0.0}}, "configs": {"ct_mini": {}}, "model_name": "m", "date": 1}))
    assert main(["rescore", str(tmp_path), "--out", str(tmp_path / "new.json")]) == 0
    assert "wrong -> right" in capsys.readouterr().out
    assert next(iter(json.loads((tmp_path / "new.json").read_text()).values()))["metrics"]["acc"] == 1
