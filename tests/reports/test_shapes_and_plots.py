"""Tables shaped like the paper's, and plots: their numbers worked out by hand, their files the same each time."""

import json
import statistics

import pytest

from ct_tasks.reports import plots, shapes
from ct_tasks.reports.rollouts import read_trainings
from ct_tasks.reports.summary import Summary
from ct_train.grpo.rollout_log import RolloutLog

MAIN = ("ct_cruxeval_o", "ct_lcb_o", "ct_reval_fo")


def row(stage, task, value, model="m", **metrics):
    return {"key": f"{model}{stage}", "run": f"{model} · {stage}", "model": model, "family": model, "stage": stage, "paradigm": "contra", "task": task, "value": value, "metrics": {"acc": value, **metrics}}


TABLE = [
    *(row(stage, task, base + 0.01 * i, rcs=base / 2, tokens_out=1000 * base) for stage, base in (("base", 0.5), ("sft", 0.6), ("grpo", 0.8)) for i, task in enumerate(MAIN)),
    *(row(stage, task, value) for stage, value in (("alpha=2", 0.79), ("alpha=0.5", 0.78), ("group=16", 0.81), ("group=4", 0.77), ("ratio=8:0", 0.7), ("ratio=4:4", 0.75), ("ratio=0:8", 0.6), ("w/o DBS", 0.76)) for task in MAIN),
    *(row(stage, f"ct_cruxeval_x_{lang}", value) for stage, value in (("base", 0.3), ("grpo", 0.4)) for lang in ("cpp", "rs", "rb")),
    row("base", "ct_gsm8k", 0.6), row("grpo", "ct_gsm8k", 0.65), row("base", "cruxeval_x (2 languages)", 0.1),
]


def table(number):
    return next(f for f in shapes.filled(TABLE) if f.shape.number == number)


def test_the_papers_tables_are_all_there():
    assert [f.shape.number for f in shapes.filled(TABLE)] == ["1", "2", "3", "4", "6", "8", "9", "12"]
    assert shapes.filled([]) == []
    assert shapes.filled([row("", "ct_mini", 0.5)]) == []


def test_before_and_after_with_gains():
    found = table("3")
    assert found.columns == ["CRUXEval-O", "LCB-O", "REval-FO", "Average"]
    assert [name for name, *_ in found.rows] == ["m · base", "m · sft", "m · grpo"]
    assert found.rows[0][1] == pytest.approx([50, 51, 52, 51])
    assert found.rows[0][2] == [None] * 4
    assert found.rows[2][2] == pytest.approx([30, 30, 30, 30])
    assert found.rank(3) == {2: 1, 1: 2}


def test_rows_of_ablation_alpha_and_group_size():
    assert [name for name, *_ in table("2").rows] == ["m · grpo", "m · w/o DBS"]
    assert [name for name, *_ in table("6").rows] == ["m · alpha=0.5", "m · alpha=2"]
    assert [name for name, *_ in table("8").rows] == ["m · group=4", "m · group=16"]


def test_half_of_the_data_beside_all_of_it():
    halves = [*TABLE, *(row(stage, task, value) for stage, value in (("half=tests", 0.70), ("half=code", 0.72)) for task in MAIN)]
    found = next(f for f in shapes.filled(halves) if f.shape.number == "5")
    assert [name for name, *_ in found.rows] == ["m · grpo", "m · half=code", "m · half=tests"]
    assert found.rows[1][1] == pytest.approx([72, 72, 72, 72])
    assert [name for name, *_ in next(f for f in shapes.filled(halves) if f.shape.number == "2").rows] == ["m · grpo", "m · w/o DBS"]


def test_each_part_of_reval_is_a_column():
    probes = [row("base", f"ct_reval_{part}", 0.1 * n) for n, part in enumerate(("co", "c", "p", "s"), 1)]
    found = shapes.fill(table("4").shape, [*TABLE, *probes])
    assert found.columns == ["REval-CO", "REval-C", "REval-P", "REval-S", "GSM8K"]
    assert found.rows[0][1][:4] == pytest.approx([10, 20, 30, 40])


def test_other_domains_and_languages():
    assert table("4").columns == ["GSM8K"]  # CRUXEval-X is there only with the paper's 17 languages or more
    more = shapes.fill(table("4").shape, [*TABLE, row("base", "cruxeval_x (17 languages)", 0.2)])
    assert more.columns == ["CRUXEval-X", "GSM8K"]
    assert table("4").rows[1][2] == pytest.approx([5])
    languages = table("12")
    assert languages.columns == ["cpp", "rb", "rs", "Average"]
    assert languages.rows[1][1] == pytest.approx([40, 40, 40, 40])


def test_markdown_of_a_shape():
    text = shapes.markdown([table("3")])
    assert "## As Table 3" in text
    assert "| m · grpo | **80.00** (+30.00) |" in text
    assert "<u>60.00</u> (+10.00)" in text


def test_rewards_a_step_from_the_trainers_own_log(tmp_path):
    rewards = {0: [0.0, 1.0, 2.0, 4.0], 1: [1.0, 1.0, 3.0, 3.0]}
    log = RolloutLog(tmp_path / "with dbs")
    for step, values in rewards.items():
        log.write([{"step": step, "group": 0, "half": "regular" if i < 2 else "dbs", "id": "x", "text": "t", "reward": v} for i, v in enumerate(values)])
    log.write([{"step": 1, "group": 0, "half": "dbs", "id": "x", "text": "t", "reward": None}])
    (training,), problems = read_trainings([tmp_path])
    assert problems == []
    assert training.name == "with dbs"
    assert [(s.step, s.rollouts) for s in training.steps] == [(0, 4), (1, 4)]
    for step in training.steps:
        assert step.mean == statistics.fmean(rewards[step.step])
        assert step.std == statistics.pstdev(rewards[step.step])
        assert step.regular == statistics.fmean(rewards[step.step][:2])
        assert step.dbs == statistics.fmean(rewards[step.step][2:])
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "rollouts.jsonl").write_text("no\n{}\n")
    assert len(read_trainings([tmp_path])[1]) == 2


@pytest.mark.slow
def test_every_plot_is_made_and_the_same_each_time(tmp_path):
    log = RolloutLog(tmp_path / "train")
    log.write([{"step": s, "half": "regular", "reward": float(s)} for s in range(3)])
    trainings, _ = read_trainings([tmp_path])
    found = Summary(samples=40, months={"2023-05": (3.0, 10), "2023-06": (1.0, 10)}, blocks={k: (k / 2, 10) for k in range(1, 15)}, complexity={1: (5.0, 20), 2: (2.5, 20)}, first_wrong=[4, 0, 0, 2, 0, 0, 0, 0, 0, 1], traces=40)
    summaries = {("mbase", "ct_cruxeval_o"): found, ("gone", "ct_mini"): found}
    made = plots.write(TABLE, summaries, trainings, tmp_path / "a")
    assert [p["name"] for p in made] == ["stages", "rollouts", "ratio", "complexity", "blocks", "months", "first-error", "languages"]
    text = {p["name"]: p["text"] for p in made}
    assert text["stages"] == "m · contra, rcs: base 25.0, sft 30.0, grpo 40.0; m · contra, tokens_out: base 500.0, sft 600.0, grpo 800.0"
    assert "reward 0.000 in step 0, 2.000 in step 2" in text["rollouts"]
    assert "8:0, 4:4, 0:8" in text["ratio"]
    assert "82 % of 40 traces have no wrong block" in text["first-error"]
    plots.write(TABLE, summaries, trainings, tmp_path / "b")
    for path in (tmp_path / "a" / "plots").glob("*"):
        assert path.read_bytes() == (tmp_path / "b" / "plots" / path.name).read_bytes(), path.name
    assert plots.write([], {}, [], tmp_path / "c") == []


def test_bins_join_thin_neighbours():
    bins = plots._bins({"r": {k: (0.0, 100 if k < 3 else 1) for k in range(1, 40)}})
    assert len(bins) <= 9 + 1
    assert sorted(k for _, keys in bins for k in keys) == list(range(1, 40))
    assert bins[0][0] == "1"
    assert json.dumps([name for name, _ in bins]).count("–") < len(bins)
