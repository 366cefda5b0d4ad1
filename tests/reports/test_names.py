"""Names of runs: every model that a training writes is called final, and no run may replace another in silence."""

import json
from pathlib import Path

import pytest

from ct_tasks.cli.main import main
from ct_tasks.reports import latex, shapes, tables
from ct_tasks.reports.names import shorten
from ct_tasks.reports.read import read_runs


def write(folder: Path, model: str, acc: float = 0.5, *, date: float = 1.0, tasks=("ct_mini",), metadata=None, **data) -> Path:
    """A results file as lm-eval leaves it; ``data`` goes into it, ``config`` into its config."""
    folder.mkdir(parents=True)
    config = {"metadata": metadata or {"ct_options": {"paradigm": "contra"}}}
    found = {"results": {t: {"acc,score": acc} for t in tasks}, "configs": dict.fromkeys(tasks, config), "n-samples": {t: {"effective": 10} for t in tasks}, "model_name": model, "date": date}
    (folder / "results_x.json").write_text(json.dumps({**found, **data}))
    return folder


def names(*folders: Path) -> list[str]:
    return [r.name for r in read_runs(folders)[0]]


def test_before_and_after_of_a_training_are_two_rows_everywhere(tmp_path, capsys):
    write(tmp_path / "eval" / "a", "/home/u/demo/sft/final", 0.25)
    write(tmp_path / "eval" / "b", "/home/u/demo/grpo/final", 0.75, date=2.0)
    assert names(tmp_path) == ["sft/final · contra", "grpo/final · contra"]
    assert main(["report", str(tmp_path), "--out", str(tmp_path / "site")]) == 0
    capsys.readouterr()
    for file in ("report.md", "report.tex", "report.csv"):
        text = (tmp_path / "site" / file).read_text()
        assert ("25.00" in text and "75.00" in text) or file == "report.csv"
        assert "sft/final" in text
        assert "grpo/final" in text
    runs, _ = read_runs([tmp_path])
    assert [r.stage for r in runs] == ["sft", "grpo"]
    rows = [{**r, "task": "ct_cruxeval_o"} for r in tables.rows(runs)]
    before_and_after = next(f for f in shapes.filled(rows) if f.shape.number == "3")
    assert [name for name, *_ in before_and_after.rows] == ["sft/final · contra", "grpo/final · contra"]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["/a/final"], ["a/final"]),
        (["/x/SmolLM2-135M"], ["SmolLM2-135M"]),
        (["Qwen/Qwen2.5-0.5B"], ["Qwen/Qwen2.5-0.5B"]),
        (["/r/s0/grpo/final", "/r/s1/grpo/final"], ["s0/grpo/final", "s1/grpo/final"]),
        (["/r/grpo/checkpoint-10", "/r/grpo/checkpoint-20"], ["grpo/checkpoint-10", "grpo/checkpoint-20"]),
        (["/one/a/b/c/d/m", "/two/a/b/c/d/m"], ["one/…/m", "two/…/m"]),
        (["m", "/x/m"], ["m", "x/m"]),
        (["/m", "m"], ["/m", "m"]),
        (["final", "/final"], ["final", "/final"]),
        (["/c/models--Q--X/snapshots/" + "a" * 40, "/c/models--Q--Y/snapshots/" + "a" * 40], ["models--Q--X/snapshots/" + "a" * 40, "models--Q--Y/snapshots/" + "a" * 40]),
    ],
)
def test_the_shortest_part_that_tells_paths_apart(paths, expected):
    assert [shorten(paths)[p] for p in paths] == expected


def test_shortened_paths_are_never_the_same():
    paths = [f"/{a}/{b}/{c}/final" for a in ("x", "y", "z/z/z/z/z") for b in ("x", "sft", "y/y/y/y/y/y") for c in ("grpo", "final", "model")]
    assert len(set(shorten(paths).values())) == len(paths)


def test_an_adapter_is_not_its_base(tmp_path):
    arguments = {"model_args": {"pretrained": "Qwen/X", "dtype": "float32"}}
    write(tmp_path / "a", "Qwen/X", config=arguments)
    write(tmp_path / "b", "Qwen/X", date=2.0, config={"model_args": {**arguments["model_args"], "peft": "/r/sft/final"}})
    write(tmp_path / "c", "Qwen/X", date=3.0, config={"model_args": "pretrained=Qwen/X,peft=/r/grpo/final/"})
    runs, problems = read_runs([tmp_path])
    assert problems == []
    assert [r.name for r in runs] == ["Qwen/X · contra", "Qwen/X + sft/final · contra", "Qwen/X + grpo/final · contra"]
    assert [r.stage for r in runs] == ["", "sft", "grpo"]
    assert {r.identity.family for r in runs} == {"Qwen/X"}


def test_the_stage_from_the_trainings_own_settings(tmp_path):
    """A folder that names nothing: the settings beside the model tell its stage and what it began with."""
    for name, settings in (("one", {"model": "Qwen/X", "packing": True}), ("two", {"model": str(tmp_path / "one" / "final"), "group_size": 8})):
        (tmp_path / name / "final").mkdir(parents=True)
        (tmp_path / name / "config.json").write_text(json.dumps({"settings": settings, "versions": {}}))
        (tmp_path / name / "final" / "config.json").write_text('{"model_type": "llama"}')
        write(tmp_path / "eval" / name, str(tmp_path / name / "final"), date=len(name) + ord(name[0]))
    runs, _ = read_runs([tmp_path / "eval"])
    assert [(r.name, r.stage) for r in runs] == [("one/final · sft · contra", "sft"), ("two/final · grpo · contra", "grpo")]
    assert {r.identity.family for r in runs} == {"Qwen/X"}


def test_the_stage_from_the_runs_folder_and_never_from_above_it(tmp_path):
    above = tmp_path / "grpo-of-somebody"
    write(above / "runs" / "base", "m", date=1.0)
    write(above / "runs" / "m-sft-2", "m", date=2.0)
    write(above / "runs" / "grouper", "m", date=3.0)
    assert [r.stage for r in read_runs([above / "runs"])[0]] == ["base", "sft", ""]
    given = {"ct_options": {"paradigm": "contra"}, "stage": "w/o DBS"}
    write(above / "runs" / "grpo", "m", date=4.0, metadata=given)
    assert read_runs([above / "runs"])[0][-1].stage == "w/o DBS"  # what the user says counts


def test_options_that_differ_stand_in_the_name(tmp_path):
    for number, (options, gen) in enumerate((({}, {}), ({"shots": 1}, {}), ({"shots": 1}, {"temperature": 0.8}))):
        write(tmp_path / str(number), "m", date=number + 1.0, metadata={"ct_options": {"paradigm": "contra", "repeats": 1, **options}}, config={"gen_kwargs": gen})
    assert names(tmp_path) == ["m · contra", "m · contra · shots=1", "m · contra · shots=1, temperature=0.8"]
    write(tmp_path / "4", "m", date=9.0, metadata={"ct_options": {"paradigm": "direct", "shots": 1}})
    assert names(tmp_path)[-1] == "m · direct"  # nothing to tell it from


def test_what_else_was_recorded_tells_apart_what_options_do_not(tmp_path):
    write(tmp_path / "a", "m", config={"limit": 10.0})
    write(tmp_path / "b", "m", date=2.0, config={"limit": 20.0})
    assert names(tmp_path) == ["m · contra · limit=10", "m · contra · limit=20"]


def test_two_runs_that_nothing_tells_apart_are_both_shown_and_named_in_a_warning(tmp_path, capsys):
    write(tmp_path / "a", "m", 0.25)
    write(tmp_path / "b", "m", 0.75, date=2.0)
    assert names(tmp_path) == ["m · contra #1", "m · contra #2"]
    assert main(["report", str(tmp_path), "--out", str(tmp_path / "site")]) == 0
    out, err = capsys.readouterr()
    assert "2 runs are all called m · contra" in err
    assert str(tmp_path / "a" / "results_x.json") in err
    found = tables.rows(read_runs([tmp_path])[0])
    for text in (out, tables.markdown(found), latex.latex(found)):
        assert "25.00" in text
        assert "75.00" in text
    assert len(tables.as_csv(found).splitlines()) == 3
    assert len({line.split(",")[0] for line in tables.as_csv(found).splitlines()}) == 3


def test_parts_of_one_evaluation_share_a_row(tmp_path):
    write(tmp_path / "a", "m", 0.25, tasks=("ct_mini",), config={"limit": 10.0})
    write(tmp_path / "b", "m", 0.75, tasks=("ct_gsm8k",), date=2.0)
    runs, problems = read_runs([tmp_path])
    assert [r.name for r in runs] == ["m · contra"] * 2
    assert problems == []
    assert len(tables.grid(tables.rows(runs))[0]) == 1


def test_languages_of_one_evaluation_are_averaged_together(tmp_path):
    write(tmp_path / "a", "m", 0.2, tasks=("ct_cruxeval_x_cpp",))
    write(tmp_path / "b", "m", 0.6, tasks=("ct_cruxeval_x_rs",), date=2.0)
    found = {r["task"]: r["value"] for r in tables.rows(read_runs([tmp_path])[0])}
    assert found["cruxeval_x (2 languages)"] == pytest.approx(0.4)


def test_a_copy_counts_once(tmp_path):
    write(tmp_path / "a", "m")
    write(tmp_path / "b", "m")
    runs, problems = read_runs([tmp_path, tmp_path / "a"])  # and a folder that is given twice is no copy
    assert [r.name for r in runs] == ["m · contra"]
    assert len(problems) == 1
    assert "is a copy of" in problems[0]
