"""Plain lm_eval finds and runs the tasks: real command lines in real subprocesses."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lm_eval.tasks import TaskManager

from ct_tasks.benchmarks.registry import GROUPS, TASKS
from ct_tasks.errors import ConfigError, UnknownNameError
from ct_tasks.lm_eval import generate_yaml
from ct_tasks.lm_eval.hook import TASK_FOLDER
from ct_tasks.lm_eval.options import check_metadata
from ct_tasks.lm_eval.task import CtTask
from ct_tasks.reply import Ending, Reply

ROOT = Path(__file__).parents[2]


def lm_eval(*arguments, **env):
    command = [sys.executable, "-m", "lm_eval", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env}, cwd=ROOT, timeout=1200)


def test_yaml_files_are_those_of_the_registry():
    assert {p.name: p.read_text() for p in TASK_FOLDER.glob("*.yaml")} == generate_yaml.files()
    assert len(generate_yaml.files()) == len(TASKS) + len(GROUPS)


def test_nothing_heavy_is_imported_at_python_start():
    script = "import sys; print(len([m for m in sys.modules if m.split('.')[0] in ('lm_eval', 'torch', 'transformers', 'datasets', 'yaml', 'radon')])); print('ct_tasks._autoload' in sys.modules)"
    heavy, loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert heavy == "0"
    assert loaded == "True"


@pytest.mark.slow
def test_tasks_are_listed_and_can_be_switched_off():
    listed = lm_eval("ls", "groups")
    assert all(group in listed.stdout for group in GROUPS), listed.stderr[-2000:]
    assert "codethinker_main" not in lm_eval("ls", "groups", CT_TASKS_NO_AUTOLOAD="1").stdout


@pytest.mark.slow
def test_run_with_repeats_logs_every_generation(tmp_path):
    metadata = json.dumps({"paradigm": "direct", "repeats": 3})
    done = lm_eval("run", "--model", "dummy", "--tasks", "ct_mini", "--limit", "2", "--metadata", metadata, "--log_samples", "--output_path", str(tmp_path))
    assert done.returncode == 0, done.stderr[-3000:]
    results = json.loads(next(tmp_path.rglob("results_*.json")).read_text())
    found = results["results"]["ct_mini"]
    assert found["acc,score"] == 0
    assert {"acc_std,score", "pass@1,score", "pass@2,score", "no_answer,score"} <= found.keys()
    options = results["configs"]["ct_mini"]["metadata"]["ct_options"]
    assert (options["paradigm"], options["repeats"]) == ("direct", 3)
    samples = [json.loads(line) for line in next(tmp_path.rglob("samples_ct_mini*.jsonl")).read_text().splitlines()]
    assert len(samples) == 2
    assert all(len(s["resps"][0]) == 3 and len(s["filtered_resps"][0]) == 3 for s in samples)
    assert "holds an answer" in done.stderr or "no_answer" in json.dumps(samples)


@pytest.mark.slow
def test_an_unknown_paradigm_is_refused_before_the_model_loads():
    done = lm_eval("run", "--model", "hf", "--model_args", "pretrained=/no/such/model", "--tasks", "ct_mini", "--metadata", '{"paradigm": "contrra"}')
    assert done.returncode != 0
    assert "did you mean contra" in done.stderr
    assert "/no/such/model" not in done.stderr.split("UnknownNameError")[-1]


@pytest.mark.slow
def test_a_glob_expanded_by_the_shell_is_explained():
    done = lm_eval("run", "--model", "dummy", "--tasks", "ct_tasks,ct_train")
    assert "Quote it" in done.stderr


@pytest.mark.parametrize(
    ("tasks", "metadata", "match"),
    [
        (["ct_gsm8k"], {"paradigm": "cwm"}, "unknown paradigm of ct_gsm8k"),
        (["codethinker_math"], {"paradigm": "cwm"}, "unknown paradigm of ct_gsm8k"),
        (["ct_mini"], {"paradigm": "direct", "shots": 9}, "at most 1 shots"),
        (["ct_minni"], {}, "did you mean ct_mini"),
        (["cruxeval_o"], {}, "did you mean.*ct_cruxeval_o"),
        (["ct-mini"], {}, "did you mean.*ct_mini"),
        (["ct_mini"], {"shots": -1, "segmentation": "adaptiv", "start_date": "tomorrow"}, "(?s)did you mean adaptive.*shots must be.*start_date must be a date like 2024-01-31, got 'tomorrow'"),
        (["ct_tasks"], {}, "Quote it"),
        (["ct_train"], {}, "Quote it"),
    ],
)
def test_what_a_task_cannot_do_is_refused_before_the_model_loads(tasks, metadata, match):
    with pytest.raises(ConfigError, match=match):
        TaskManager(include_defaults=False, metadata=metadata).match_tasks(tasks)  # what lm_eval does first of all


def test_names_and_globs_that_exist_are_matched():
    manager = TaskManager(None, None, False, {"pretrained": "x", "paradigm": "direct"})
    assert set(manager.match_tasks(["ct_*"])) == set(TASKS)
    assert manager.match_tasks(["codethinker_main"]) == ["codethinker_main"]
    assert manager.match_tasks(["nothing_of_ours"]) == []


def test_cached_requests_are_those_of_the_same_options(monkeypatch):
    asked = []
    monkeypatch.setattr("lm_eval.api.task.load_from_cache", lambda file_name, cache: asked.append(file_name))
    for metadata in ({"paradigm": "direct"}, {"paradigm": "cot"}, {"paradigm": "cot", "shots": 1}, {"paradigm": "cot"}):
        CtTask({"task": "ct_mini", "metadata": metadata}).build_all_requests(limit=1)
    assert len(set(asked)) == 3
    assert asked[1] == asked[3]


def test_equal_repeats_are_warned_about(caplog):
    CtTask({"task": "ct_mini", "metadata": {"repeats": 2}}).build_all_requests(limit=1)
    assert "2 repeats without sampling" in caplog.text


def status(task, *replies):
    """Of replies to the task's first document."""
    task.build_all_requests(limit=1)
    (request,) = task.instances
    request.resps = [reply(task, request) for reply in replies]
    (rows,) = task.score_instances([request])
    return [json.loads(row)["status"] for row in rows]


def test_a_stop_string_is_no_cut():
    """Backends take the stop string away; here it begins with the closing tag."""
    task = CtTask({"task": "ct_mini", "metadata": {"paradigm": "direct", "tokenizer": ""}})
    stopped = Ending("stop", "[/ANSWER]")
    right, other = status(
        task,
        lambda task, request: Reply(task.doc_to_target(request.doc).removesuffix("[/ANSWER]"), stopped),
        lambda task, request: Reply(f"[ANSWER]\nassert {task.item(request.doc).data['call']} == ??\n", stopped),
    )
    assert right == "right"
    assert other == "unreadable"


def test_a_reply_is_cut_when_its_backend_says_so(caplog):
    """However long it is: a reply of the limit's length that ended by itself is whole, a short one that was cut is not."""
    task = CtTask({"task": "ct_mini", "metadata": {"paradigm": "cot", "max_gen_toks": 128, "tokenizer": ""}})
    closed = lambda task, request, end: Reply(task.doc_to_target(request.doc), end)  # noqa: E731
    open_ = lambda task, request, end: Reply(task.doc_to_target(request.doc).replace("[/ANSWER]", "").rstrip(), end)  # noqa: E731
    none = lambda task, request, end: Reply("so", end)  # noqa: E731
    found = {}
    for end in (Ending("length", None, 3), Ending("stop", "", 128), Ending(None, None, 128)):
        for name, reply in (("closed", closed), ("open", open_), ("none", none)):
            (found[end.finish_reason, name],) = status(task, lambda t, r, reply=reply, end=end: reply(t, r, end))
    assert found.pop(("length", "open")) == found.pop(("length", "none")) == "truncated"
    assert {found.pop(("stop", "open")), found.pop((None, "open"))} <= {"right", "unclosed"}
    assert found == {("length", "closed"): "right", ("stop", "closed"): "right", ("stop", "none"): "no_answer", (None, "closed"): "right", (None, "none"): "no_answer"}
    assert caplog.text.count("does not say why a reply ended. 1 of 1 replies") == 3  # the guess from the length is told, and no verdict


@pytest.mark.parametrize(
    ("metadata", "match"),
    [({"paradigm": "contrra"}, "contra"), ({"paradigms": "cot"}, "paradigm"), ({"repeat": 3}, "repeats"), ({"segmentation": "statements"}, "statement")],
)
def test_misspelt_options_are_suggested(metadata, match):
    with pytest.raises(UnknownNameError, match=f"did you mean.*{match}"):
        check_metadata(metadata)


def test_model_arguments_in_the_metadata_are_left_alone():
    options = check_metadata({"pretrained": "x", "dtype": "float32", "backend": "causal", "paradigm": "cot", "config_source": "y"})
    assert options.paradigm == "cot"
    assert options.backend == "local"


@pytest.mark.slow
@pytest.mark.model
def test_a_real_model_runs(smollm2, tmp_path):
    done = lm_eval("run", "--model", "hf", "--model_args", f"pretrained={smollm2},dtype=float32", "--device", "cpu", "--tasks", "ct_mini", "--limit", "2",
                   "--apply_chat_template", "--metadata", '{"paradigm": "direct"}', "--gen_kwargs", "max_gen_toks=16", "--log_samples", "--output_path", str(tmp_path))
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(next(tmp_path.rglob("results_*.json")).read_text())["results"]["ct_mini"]
    assert 0 < found["tokens_out,score"] <= 16
    samples = [json.loads(line) for line in next(tmp_path.rglob("samples_ct_mini*.jsonl")).read_text().splitlines()]
    endings = [json.loads(row)["ending"] for sample in samples for row in sample["filtered_resps"][0]]
    assert [e["finish_reason"] for e in endings] == ["length" if e["tokens"] == 16 else "stop" for e in endings]
    assert all(e["truncated"] is (e["finish_reason"] == "length") for e in endings)
