"""The commands as people type them."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ct_tasks.benchmarks import registry
from ct_tasks.cli.main import COMMANDS, main
from ct_tasks.cli.score import summary
from ct_tasks.score import Score


def run(capsys, *arguments):
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def test_every_command_has_help_with_an_example(capsys):
    for name in COMMANDS:
        with pytest.raises(SystemExit) as ended:
            main([name, "--help"])
        assert ended.value.code == 0
        out = capsys.readouterr().out
        assert "python -m ct_tasks" in out, name


def test_no_command_and_wrong_command(capsys):
    assert run(capsys)[0] == 2
    code, _, err = run(capsys, "scroe")
    assert code == 2
    assert "did you mean score" in err


def test_list(capsys):
    code, out, _ = run(capsys, "list", "--json")
    tasks = {t["task"]: t for t in json.loads(out)["tasks"]}
    assert code == 0
    assert tasks["ct_cruxeval_o"]["rows"] == 800
    assert {t for t, row in tasks.items() if row["data"] == "bundled"} == {"ct_mini", "ct_micro", *registry.GROUPS["codethinker_fresh"]}
    assert run(capsys, "list")[0] == 0


def test_trace(capsys, tmp_path):
    program = tmp_path / "p.py"
    program.write_text("def f(n):\n    x = n\n    for i in range(3):\n        x += i\n    return x\n")
    code, out, _ = run(capsys, "trace", str(program), "--call", "f(3)", "--json")
    truth = json.loads(out)
    assert code == 0
    assert truth["returned"] == "6"
    assert [b["locals"] for b in truth["blocks"]] == ["{'n': 3, 'x': 3}", "{'n': 3, 'x': 6, 'i': 2}"]
    program.write_text("def f(n):\n    return 1 // n\n")
    code, _, err = run(capsys, "trace", str(program), "--call", "f(0)")
    assert code == 1
    assert "ProgramRaised: ZeroDivisionError" in err
    assert run(capsys, "trace", str(tmp_path / "none.py"), "--call", "f()")[0] == 2


def test_selftest_of_the_bundled_task(capsys):
    code, out, _ = run(capsys, "selftest", "ct_mini", "--json")
    found = json.loads(out)["ct_mini"]
    assert code == 0
    assert found["gold"][0] == found["gold"][1] > 20
    assert found["hostile"][0] == 0


LAYOUTS = {
    "ids": lambda g: json.dumps(g),
    "official": lambda g: json.dumps({"raw_generations": g, "raw_scored_generations": {}}),
    "lines": lambda g: "\n".join(json.dumps({"id": k, "texts": v}) for k, v in g.items()),
    "one a line": lambda g: "\n".join(json.dumps({k: v}) for k, v in g.items()),
    "samples": lambda g: "\n".join(json.dumps({"doc": {"id": k}, "resps": [v]}) for k, v in g.items()),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("packed", [False, True])
def test_score_reads_every_layout(capsys, tmp_path, layout, packed, data_dir):
    generations = {"sample_0": ["[(4, 1), (4, 1), (4, 1), (4, 1), (2, 3), (2, 3)]", "[]"], "sample_1": ["{1: None, 2: None}", "6 or True"]}
    file = tmp_path / "g.json"
    text = LAYOUTS[layout](generations).encode()
    file.write_bytes(gzip.compress(text) if packed else text)
    code, _, _ = run(capsys, "score", "ct_cruxeval_o", str(file), "--answers", "--out", str(tmp_path / "v.json"))
    assert code == 0
    out = json.loads((tmp_path / "v.json").read_text())
    assert [[v["acc"] for v in out["verdicts"][k]] for k in generations] == [[True, False], [True, False]]
    assert [v["status"] for v in out["verdicts"]["sample_0"]] == ["right", "wrong"]
    assert out["metrics"]["acc"] == 0.5


@pytest.mark.parametrize(("content", "match"), [("{", "neither JSON"), ('{"no_such_id": ["1"]}', "none of its 1 ids"), ('{"sample_0": 3}', "not a list of texts"), ("[1]", "not an object")])
def test_score_says_what_is_wrong_with_a_file(capsys, tmp_path, content, match, data_dir):
    file = tmp_path / "g.json"
    file.write_text(content)
    code, _, err = run(capsys, "score", "ct_cruxeval_o", str(file), "--answers", "--out", str(tmp_path / "v.json"))
    assert code == 2
    assert match in err


@pytest.mark.parametrize(
    ("config", "match"),
    [
        ("tasks: [ct_mini]\nmetadata: {paradigm: cot}", "ok"), ("tasks: codethinker_main", "ok"), ("tasks: 'ct_cruxeval_*'", "ok"), ("taks: [ct_mini]", "did you mean tasks"), ("tasks: [ct_minni]", "did you mean ct_mini"),
        ("tasks: [ct_mini]\nmetadata: {paradigm: contrra}", "did you mean contra"), ("tasks: [ct_gsm8k]\nmetadata: {paradigm: cwm}", "unknown paradigm of ct_gsm8k 'cwm'"), ("- a", "not a mapping"), ("a: [", "is not YAML"), ("{}", "names no tasks"),
        ("tasks: ['ct_nothing*']", "matches no task"), ("tasks: [ct_mini]\nmetadata: {paradigm: direct, shots: 9}", "at most 1 shots"),
        ("model: m\ndata: d\nreward: codethinker\noutput_dir: o\ngroup_sise: 8", "did you mean group_size"), ("model: m\ndata: d\nreward: codethinker\noutput_dir: o\ngroup_size: true", "is not of type"),
    ],
)
def test_validate(capsys, tmp_path, config, match):
    file = tmp_path / "c.yaml"
    file.write_text(config)
    code, out, _ = run(capsys, "validate", str(file))
    assert match in out
    assert code == (0 if match == "ok" else 1)


def test_the_module_runs():
    done = subprocess.run([sys.executable, "-m", "ct_tasks", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0.1.0"


def test_the_configs_that_we_ship_are_valid(capsys):
    configs = [p for p in sorted((Path(__file__).parents[2] / "harness_configs").rglob("*.yaml")) if p.parent.name != "accelerate"]
    assert len(configs) > 20
    for config in configs:
        # What a user adds on the command line: a model and data where the command has them.
        given = {"grpo": ["model=m", "data=d"], "sft": ["model=m", "data=d"], "synth": ["data=d"], "ablate": [f"data={__file__}"]}
        given = given.get(config.name.partition("_")[0], [])
        code, out, _ = run(capsys, "validate", str(config), *given)
        assert code == 0, out
        assert ": ok (" in out


def test_a_harness_error_is_no_verdict():
    metrics = summary({"a": [Score("right"), Score("harness_error")], "b": [Score("harness_error")], "c": [Score("wrong")]})
    assert metrics["acc"] == 0.5
    assert metrics["harness_error"] == pytest.approx(0.5)
    assert summary({"a": [Score("harness_error")]})["acc"] is None


def test_the_table_of_defaults_in_the_docs_is_the_one_in_the_code() -> None:
    from ct_tasks.cli.list import defaults

    text = (Path(__file__).resolve().parents[2] / "docs" / "tasks.md").read_text()
    assert "\n".join(defaults()) in text, "docs/tasks.md is out of date: python -m ct_tasks list --defaults"
