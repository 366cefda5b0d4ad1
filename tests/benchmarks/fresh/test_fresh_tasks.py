"""ct_fresh's tasks: gold is right, hostile is not, questions follow from the options, and lm-eval takes them."""

import ast
import json

import pytest

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.base import Answer
from ct_tasks.contra import literals
from ct_tasks.errors import ConfigError, UnknownNameError
from ct_tasks.lm_eval.options import check_metadata, check_task
from ct_tasks.options import TaskOptions

TASKS = registry.GROUPS["codethinker_fresh"]
QUESTIONS = ("ct_fresh_state", "ct_fresh_trips", "ct_fresh_branch", "ct_fresh_raises")


def options(**given):
    return TaskOptions(**{"fresh_items": 24, **given})


@pytest.mark.slow
@pytest.mark.parametrize("paradigm", ["direct", "cot", "contra"])
@pytest.mark.parametrize("name", TASKS)
def test_gold_is_right_and_hostile_is_not(name, paradigm):
    task = registry.get(name)
    if paradigm not in task.paradigms:
        pytest.skip(f"{name} has no {paradigm}")
    asked = options(paradigm=paradigm)
    items = task.items(asked)
    assert len(items) == 24
    scores = task.score([Answer(i, task.gold(i, asked)) for i in items], asked)
    assert [(i.id, s.status, s.reason) for i, s in zip(items, scores, strict=True) if not s.acc] == []
    if paradigm == "contra":
        assert all(s.values["rcs"] == 1 and s.values["reward"] == 4 for s in scores)
    attacks = task.hostile(items[5], asked)
    assert len(attacks) >= 60
    won = [k for k, s in zip(attacks, task.score([Answer(items[5], t) for t in attacks.values()], asked), strict=True) if s.acc]
    assert won == []


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_is_asked_with_numbered_lines_and_read_as_a_value(name):
    task, asked = registry.get(name), options()
    item = task.items(asked)[0]
    text = task.prompt(item, asked, chat=True)
    assert f"The call: {item.data['call']}" in text
    assert item.data["question"] in text
    assert " 1  " in text
    assert task.prompt(item, asked, chat=False) == text + "\n[ANSWER]\n"
    assert task.prompt(item, options(paradigm="cot"), chat=False).endswith("[/QUESTION]\n[THOUGHT]\n")
    for reply, status in (
        (f"[ANSWER]\n{item.data['output']}\n[/ANSWER]", "right"),
        (item.data["output"], "right"),
        (f"[ANSWER]\n{literals.dump('another value')}\n[/ANSWER]", "wrong"),
        ("I do not know", None),
    ):
        found = task.score([Answer(item, reply)], asked)[0].status
        assert found == status if status else found != "right"


def test_answers_point_into_the_program():
    asked = options()
    for item in registry.get("ct_fresh_branch").items(asked):
        tree = ast.parse(item.data["code"])
        lines = {n.body[0].lineno for n in ast.walk(tree) if isinstance(n, ast.If)}
        lines |= {n.orelse[0].lineno for n in ast.walk(tree) if isinstance(n, ast.If) and n.orelse}
        assert ast.literal_eval(item.data["output"]) in lines | {None}
    said = [ast.literal_eval(i.data["output"]) for i in registry.get("ct_fresh_raises").items(asked)]
    assert None in said
    assert any(isinstance(line, int) for line in said)
    assert all(ast.literal_eval(i.data["output"]) > 0 for i in registry.get("ct_fresh_trips").items(asked))


def test_tasks_ask_about_the_same_programs():
    asked = options()
    code = {i.id: i.data["code"] for name in TASKS for i in registry.get(name).items(asked)}
    assert all(code[i.id] == i.data["code"] for name in TASKS for i in registry.get(name).items(asked))
    ids = [{i.id for i in registry.get(name).items(asked)} for name in TASKS]
    assert all(len(found & ids[0]) >= 6 for found in ids)
    assert all(len(found) == 24 for found in ids)


def test_options_choose_the_programs():
    task = registry.get("ct_fresh")
    first = task.items(options())
    assert [i.id for i in task.items(options(fresh_items=5))] == [i.id for i in first[:5]]
    assert first[0].id.startswith("fresh/2026-12/")
    assert task.items(options(fresh_edition="2026-12")) == first
    later, own = task.items(options(fresh_edition="2027-01")), task.items(options(fresh_seed=11))
    assert not {i.data["code"] for i in first} & {i.data["code"] for i in later + own}
    hard = task.items(options(fresh_dials={"blocks": 6, "depth": 3}))
    assert all(i.id.startswith("fresh/2026-12+blocks=6-6+depth=3-3/") for i in hard)
    assert {i.data["dials"]["blocks"] for i in hard} == {6}


def test_no_input_item_is_solved_by_empty_arguments():
    task, asked = registry.get("ct_fresh_i"), options()
    empty = {"list": "[]", "str": "''", "dict": "{}", "int": "0"}
    replies = []
    for item in task.items(asked):
        call = ast.parse(item.data["call"], mode="eval").body
        values = ", ".join(empty[type(ast.literal_eval(a)).__name__] for a in call.args)
        replies.append(Answer(item, f"[ANSWER]\nassert {item.data['entry']}({values}) == {item.data['output']}\n[/ANSWER]"))
    assert not any(s.acc for s in task.score(replies, asked))


@pytest.mark.parametrize(
    ("metadata", "kind", "match"),
    [
        ({"fresh_edition": "2026-11"}, ConfigError, "from 2026-12 on"),
        ({"fresh_editon": "2026-12"}, UnknownNameError, "did you mean fresh_edition"),
        ({"fresh_items": 0}, ConfigError, "from 1 to"),
        ({"fresh_dials": {"tripz": 3}}, UnknownNameError, "did you mean trips"),
        ({"shots": 1}, ConfigError, "no worked example"),
        ({"paradigm": "contra"}, UnknownNameError, "paradigm of ct_fresh_trips"),
    ],
)
def test_bad_options_are_refused_before_a_model_loads(metadata, kind, match):
    with pytest.raises(kind, match=match):
        check_task("ct_fresh_trips", check_metadata(metadata))


def test_lm_eval_makes_documents_of_them():
    from ct_tasks.lm_eval.task import CtTask

    task = CtTask({"task": "ct_fresh_state", "metadata": {"fresh_items": 24, "fresh_dials": {"blocks": 3}}})
    docs = list(task.test_docs())
    assert len(docs) == 24
    assert json.loads(docs[0]["data"])["question"] in task.doc_to_text(docs[0])
    assert task.config.metadata["ct_options"]["fresh_dials"] == {"blocks": 3}
