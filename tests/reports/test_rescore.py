"""Scoring again: what changed is named, the new folder is read like any other, and the committed results are today's."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from test_site import write_run

from ct_tasks.benchmarks import registry
from ct_tasks.cli.main import main
from ct_tasks.cli.rescore import answer_of, cut_by_limit
from ct_tasks.options import TaskOptions
from ct_tasks.reports import tables
from ct_tasks.reports.read import Sample, read_runs, read_samples
from ct_tasks.reports.summary import summarise

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture
def runs(tmp_path):
    write_run(tmp_path / "a", "model_one & 100% #1", "contra", "answer")
    write_run(tmp_path / "b", "model-two", "direct", "none")
    return tmp_path


def old_run(folder: Path, replies, n: int = 3) -> Path:
    """A run whose scorer found every answer wrong; ``replies(task, item)`` are an item's replies."""
    task = registry.get("ct_mini")
    items = task.items(TaskOptions())[:n]
    lines = []
    for i, item in enumerate(items):
        texts = replies(task, item)
        old = [{"acc": False, "status": "wrong", "answer": "?", "acc_official": None, "reason": "an old scorer's reason", "tokens_out": 7 + k} for k, _ in enumerate(texts)]
        lines.append({"doc_id": i, "doc": {"id": item.id, "group": item.group, "data": json.dumps(dict(item.data))}, "target": task.gold(item, TaskOptions()), "arguments": {"gen_args_0": {"arg_0": "p", "arg_1": {"max_gen_toks": 48}}},
                      "resps": [texts], "filtered_resps": [[json.dumps(v) for v in old]], "metrics": ["acc", "old_metric"], "acc": 0.0, "old_metric": 1.0})
    folder.mkdir(parents=True)
    (folder / "samples_ct_mini_1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
    options = {"paradigm": "contra", "repeats": len(texts)}
    data = {"results": {"ct_mini": {"alias": "ct_mini", "acc,score": 0.0, "old_metric,score": 1.0}, "gsm8k": {"exact_match,strict-match": 0.5}}, "configs": {"ct_mini": {"metadata": {"version": 0, "ct_options": options}}, "gsm8k": {}},
            "versions": {"ct_mini": 0}, "model_name": "m", "date": 1}
    (folder / "results_1.json").write_text(json.dumps(data))
    return folder


def gold(task, item):
    return [task.gold(item, TaskOptions())]


def test_what_changed_is_named(tmp_path, capsys):
    old_run(tmp_path / "run", gold, n=1)
    assert main(["rescore", str(tmp_path / "run"), "--out", str(tmp_path / "new.json")]) == 0
    assert "wrong -> right" in capsys.readouterr().out
    assert next(iter(json.loads((tmp_path / "new.json").read_text()).values()))["metrics"]["acc"] == 1


def test_a_folder_that_report_and_compare_read(tmp_path, capsys):
    old_run(tmp_path / "run" / "deep", lambda task, item: [*gold(task, item), "no idea"])
    before = {p: p.read_bytes() for p in (tmp_path / "run").rglob("*") if p.is_file()}
    assert main(["rescore", str(tmp_path / "run"), "--out", str(tmp_path / "new")]) == 0
    assert before == {p: p.read_bytes() for p in (tmp_path / "run").rglob("*") if p.is_file()}
    found, problems = read_runs([tmp_path / "new"])
    assert problems == []
    result = found[0].tasks["ct_mini"]
    assert result.metrics["acc"] == pytest.approx(0.5)
    assert result.metrics["no_answer"] == pytest.approx(0.5)
    assert result.metrics["tokens_out"] == pytest.approx(7.5)  # what the evaluation knew of a reply stays
    assert "old_metric" not in result.metrics
    assert result.n == 3
    assert result.version == str(registry.get("ct_mini").version)
    assert found[0].tasks["gsm8k"].metrics == {"exact_match": 0.5}  # of lm-eval's own: as it was
    rows = [json.loads(line) for line in (tmp_path / "new" / "deep" / "samples_ct_mini_1.jsonl").read_text().splitlines()]
    assert all(row["acc"] == 0.5 and "old_metric" not in row for row in rows)
    sample = next(iter(read_samples(result.samples)))
    assert [v["status"] for v in sample.verdicts] == ["right", "no_answer"]
    assert main(["report", str(tmp_path / "new"), "--out", str(tmp_path / "site")]) == 0
    assert "50.00" in capsys.readouterr().out
    assert main(["report", str(tmp_path / "run"), str(tmp_path / "new"), "--out", str(tmp_path / "both")]) == 0
    out = capsys.readouterr().out
    assert "0.00" in out
    assert "rescored=" in out
    assert main(["compare", str(tmp_path / "run"), str(tmp_path / "new")]) == 0


def test_again_changes_nothing_also_in_place(tmp_path, capsys):
    old_run(tmp_path / "run", gold)
    assert main(["rescore", str(tmp_path / "run"), "--out", str(tmp_path / "run")]) == 0
    assert "3 verdicts changed" in capsys.readouterr().out
    before = {p: p.read_bytes() for p in (tmp_path / "run").iterdir()}
    assert main(["rescore", str(tmp_path / "run"), "--out", str(tmp_path / "run")]) == 0
    assert "0 verdicts changed" in capsys.readouterr().out
    assert before == {p: p.read_bytes() for p in (tmp_path / "run").iterdir()}


def test_a_task_that_cannot_be_scored_again_is_left_out(runs, capsys):
    path = runs / "a" / "results_x.json"
    data = json.loads(path.read_text())
    data["configs"]["ct_mini"]["metadata"]["ct_options"] = {"no_such_option": 1}
    path.write_text(json.dumps(data))
    old_run(runs / "c", gold)
    assert main(["rescore", str(runs), "--out", str(runs / "new")]) == 0
    assert "cannot be scored again: unknown task option" in capsys.readouterr().err
    assert not (runs / "new" / "a").exists()


def test_in_place_a_run_is_written_whole_or_left_as_it_was(tmp_path, capsys):
    old_run(tmp_path / "run", gold)
    path = tmp_path / "run" / "results_1.json"
    data = json.loads(path.read_text())
    data["results"]["ct_humaneval"] = {"acc,score": 0.5}  # of ours, without samples to score again
    path.write_text(json.dumps(data))
    before = path.read_bytes()
    assert main(["rescore", str(tmp_path / "run"), "--out", str(tmp_path / "run")]) == 0
    assert "is left as it was" in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("verdict", "limit", "expected"),
    [
        ({"ending": {"truncated": True}, "tokens_out": 1}, 48, True), ({"ending": {"truncated": False}, "tokens_out": 48}, 48, False), ({"ending": {"truncated": None}, "tokens_out": 48}, 48, None),
        ({"tokens_out": 48}, 48, True), ({"tokens_out": 47}, 48, None), ({"tokens_out": 48}, None, None), ({"status": "truncated"}, 48, None), ({}, 48, None),
    ],
)
def test_what_tells_that_the_limit_cut_a_reply(verdict, limit, expected):
    assert cut_by_limit(Sample("i", "g", "", "", [""], [verdict], limit=limit), verdict) is expected


def verdicts(path: Path) -> dict[str, list[dict[str, object]]]:
    """By sample, without the words that explain them."""
    return {s.id: [{k: v for k, v in row.items() if k not in ("reason", "detail")} for row in s.verdicts] for s in read_samples(path)}


def test_a_reply_is_scored_as_its_evaluation_scored_it():
    """The stop string that ended it is the model's own text; what nobody recorded is not made up."""
    item = registry.get("ct_mini").items(TaskOptions())[0]
    sample = Sample("i", "g", "", "", ["[ANSWER]3"], [], limit=48, until=("[/ANSWER]",))
    known = answer_of(item, sample, "[ANSWER]3", {"ending": {"finish_reason": "stop", "stop": "[/ANSWER]", "truncated": False, "thinking": True}})
    assert (known.text, known.truncated, known.thinking, known.extra) == ("[ANSWER]3[/ANSWER]", False, True, {"whole": True})
    unknown = answer_of(item, sample, "[ANSWER]3", {})
    assert (unknown.text, unknown.truncated, unknown.thinking, unknown.extra) == ("[ANSWER]3", None, False, {})


def test_the_committed_results_are_those_of_todays_scorer(tmp_path, capsys):
    """Every committed sample, scored again: the same verdicts, and the same means in the results file."""
    assert main(["rescore", str(RESULTS / "runs"), "--out", str(tmp_path)]) == 0
    told = capsys.readouterr()
    again = "the committed results are not those of today's scorer: make rescored, look at the changes, commit them\n" + told.out
    compared = 0
    for path in sorted(tmp_path.rglob("*.json*")):
        committed = RESULTS / "runs" / path.relative_to(tmp_path)
        if path.suffix == ".json":
            new, old = (json.loads(p.read_text()) for p in (path, committed))
            for task in new["results"]:  # a task whose data is not on this machine is left out of the new file
                assert new["results"][task] == pytest.approx(old["results"][task]), again
                assert new["versions"][task] == old["versions"][task], again
        else:
            new, old = verdicts(path), verdicts(committed)
            assert new == old, again
            compared += len(new)
    if not compared:
        from conftest import missing

        missing(f"no committed result can be scored here: {told.err}")


def test_the_committed_tables_are_those_of_the_committed_results():
    runs, _ = read_runs([RESULTS / "runs"])
    summaries = {(r.key, t): summarise(r, t, found.samples) for r in runs for t, found in r.tasks.items() if found.samples}
    text = tables.markdown(tables.rows(runs, summaries))
    assert (RESULTS / "site" / "report.md").read_text().startswith(text), "results/site is out of date: make site"


@pytest.mark.slow
def test_of_a_run_of_plain_lm_eval(tmp_path, capsys):
    command = [sys.executable, "-m", "lm_eval", "run", "--model", "dummy", "--tasks", "ct_mini", "--limit", "3", "--metadata", '{"paradigm": "direct"}', "--log_samples", "--output_path", str(tmp_path)]
    assert subprocess.run(command, capture_output=True).returncode == 0
    assert main(["rescore", str(tmp_path)]) == 0
    assert "ct_mini: 3 samples, acc 0.0000 (was 0.0000), 0 verdicts changed" in capsys.readouterr().out
    assert main(["report", str(tmp_path), "--out", str(tmp_path / "site")]) == 0


def test_names_what_it_cannot_do(runs, capsys):
    for folder, change in (("a", {"no_such_option": 1}), ("b", {"paradigm": "direct"})):
        path = runs / folder / "results_x.json"
        data = json.loads(path.read_text())
        data["configs"]["ct_mini"]["metadata"]["ct_options"] = change
        path.write_text(json.dumps(data))
    assert main(["rescore", str(runs)]) == 0
    err = capsys.readouterr().err
    assert "cannot be scored again: unknown task option" in err
    assert "plain_task is not a task of ours" in err
    assert "30 samples are no items of ct_mini here, such as s0" in err


