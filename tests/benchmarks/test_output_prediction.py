"""Output and input prediction end to end: gold and hostile texts in every paradigm, published generations row by row."""

import gzip
import json
import subprocess
import sys

import pytest

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.base import Answer
from ct_tasks.benchmarks.generations import read_generations
from ct_tasks.errors import DataError
from ct_tasks.options import PARADIGMS, TaskOptions

OUTPUT = ("ct_mini", "ct_cruxeval_o", "ct_lcb_o", "ct_reval_fo")


def sample(task, options, step):
    return task.items(options)[::step]


@pytest.mark.parametrize("paradigm", PARADIGMS)
@pytest.mark.parametrize("name", OUTPUT)
def test_gold_is_right_and_hostile_is_not(name, paradigm, data_dir):
    task = registry.get(name)
    options = TaskOptions(paradigm=paradigm)
    items = sample(task, options, 1 if paradigm == "direct" or name == "ct_lcb_o" else 29)
    scores = task.score([Answer(i, task.gold(i, options)) for i in items], options)
    assert [(i.id, s.status, s.reason) for i, s in zip(items, scores, strict=True) if not s.acc] == []
    item = items[len(items) // 2]
    attacks = task.hostile(item, options)
    assert len(attacks) >= 60
    won = [kind for (kind, _), s in zip(attacks.items(), task.score([Answer(item, t) for t in attacks.values()], options), strict=True) if s.acc]
    assert won == []


def test_contra_gold_has_the_full_reward(data_dir):
    task = registry.get("ct_cruxeval_o")
    options = TaskOptions(paradigm="contra")
    items = sample(task, options, 20)
    scores = task.score([Answer(i, task.gold(i, options)) for i in items], options)
    assert all(s.values["rcs"] == 1 and s.values["reward"] == 4 and s.values["hack"] == 0 for s in scores)


@pytest.mark.parametrize("paradigm", [p for p in PARADIGMS if p not in ("contra", "cwm")])
def test_input_prediction(paradigm, data_dir):
    task = registry.get("ct_cruxeval_i")
    options = TaskOptions(paradigm=paradigm)
    items = sample(task, options, 80)
    scores = task.score([Answer(i, task.gold(i, options)) for i in items], options)
    assert all(s.acc for s in scores), [s.reason for s in scores if not s.acc]
    item = items[3]
    attacks = task.hostile(item, options)
    if paradigm == "codeio":  # its answers are values, and for some functions the output is an input that gives it
        attacks = {k: t for k, t in attacks.items() if k != "the value alone"}
    assert [k for (k, _), s in zip(attacks.items(), task.score([Answer(item, t) for t in attacks.values()], options), strict=True) if s.acc] == []


PUBLISHED = [
    ("ct_cruxeval_o", "cruxeval/codellama-7b_temp0.2_output.json.gz"), ("ct_cruxeval_o", "cruxeval/gpt-4-0613+cot_temp0.2_output.json.gz"), ("ct_lcb_o", "lcb_execution/codellama-7b_temp0.2_output.json.gz"),
    ("ct_cruxeval_i", "cruxeval/codellama-7b_temp0.2_input.json.gz"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "file"), PUBLISHED)
def test_published_verdicts_row_by_row(name, file, data_dir):
    path = data_dir / "published_generations" / file
    with gzip.open(path) as packed:
        published = json.load(packed)
    task = registry.get(name)
    options = TaskOptions()
    items = {i.id: i for i in task.items(options)}
    shared = [k for k in published["raw_generations"] if k in items]
    assert len(shared) == len(items)
    generations = read_generations(path, task)
    answers = [Answer(items[k], row.text, extracted=True, extra=row.extra) for k in shared for row in generations[k]]
    scores = iter(task.score(answers, options))
    differ = []
    for key in shared:
        mine = [next(scores) for _ in published["raw_generations"][key]]
        theirs = published["raw_scored_generations"][key]
        counted = [s.acc_official for s in mine if s.acc_official is not None]
        if (counted or [False] * len(mine)) != theirs and key != "sample_664":
            differ.append((key, counted, theirs))
        assert all(s.reason for s in mine if s.acc_official is not None and s.acc != s.acc_official)
    assert differ == []


def test_missing_data_names_both_ways_out(monkeypatch, tmp_path):
    monkeypatch.setenv("CT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(DataError, match=r"(?s)CT_DATA_DIR.*cruxeval") as caught:
        type(registry.get("ct_cruxeval_o"))().items(TaskOptions())
    assert "hub" in str(caught.value)


def test_the_bundled_task_is_made_by_its_script():
    subprocess.run([sys.executable, "-m", "ct_tasks.benchmarks.mini.build", "--check"], check=True)
    items = registry.get("ct_mini").items(TaskOptions())
    assert len({i.group for i in items}) >= 120


def test_prompts_never_hold_the_answer(data_dir):
    for name in ("ct_cruxeval_o", "ct_reval_fo"):
        task = registry.get(name)
        for paradigm in PARADIGMS:
            options = TaskOptions(paradigm=paradigm)
            for item in sample(task, options, 97):
                for chat in (True, False):
                    prompt = task.prompt(item, options, chat=chat)
                    assert f"{item.data['call']} == {item.data['output']}" not in prompt, (name, paradigm, item.id)
                    assert item.data["call"].split("(")[0] in prompt


def test_stop_strings_never_fire_inside_a_gold_reply(data_dir):
    for name in OUTPUT:
        task = registry.get(name)
        for paradigm in PARADIGMS:
            options = TaskOptions(paradigm=paradigm)
            until = task.generation(options).until
            for item in sample(task, options, 61):
                gold = task.gold(item, options)
                assert not [u for u in until if u in gold.rstrip().removesuffix(u)], (name, paradigm, until)
            assert task.generation(options).max_gen_toks >= 1024
