"""The commands as people type them."""

import ast
import datetime
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ct_tasks.benchmarks import data, registry
from ct_tasks.benchmarks.generations import read_generations
from ct_tasks.cli.main import COMMANDS, main
from ct_tasks.cli.score import summary
from ct_tasks.errors import ConfigError, DataError
from ct_tasks.options import TaskOptions
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


SEPARATORS = "\u2028\u2029\u0085\x0b\x0c\x1c"


@pytest.mark.parametrize("packed", [False, True])
def test_rows_end_at_line_feeds_alone(tmp_path, packed):
    """A reply that holds what Python's ``splitlines`` also cuts at, written unescaped as other tools do."""
    file = tmp_path / "g.jsonl"
    texts = {"sample_0": f"a{SEPARATORS}b", "sample_1": "c"}
    content = "".join(json.dumps({"id": k, "texts": [v]}, ensure_ascii=False) + "\r\n" for k, v in texts.items()).encode()
    file.write_bytes(gzip.compress(content) if packed else content)
    read = read_generations(file, registry.get("ct_cruxeval_o"))
    assert {k: [t.text for t in v] for k, v in read.items()} == {k: [v] for k, v in texts.items()}
    assert data.read_file(file) == [{"id": k, "texts": [v]} for k, v in texts.items()]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ('{"id": "sample_0", "texts": ["a"]}\n\n{"id": "sample_1", "texts": ["b"', "g.jsonl:3 is no JSON"),
        ('{"id": "sample_0", "texts": ["a"]}\n\n7', "g.jsonl:3 is a int, not an object"),
        ('{"id": "sample_0", "texts": ["a"]}\n{"id": "sample_1", "texts": [null]}', "g.jsonl:2: the entry 'sample_1' holds null, which is not a text"),
        ('{"doc": {"id": "sample_0"}, "resps": [["a", null]]}', "g.jsonl:1: the entry 'sample_0' holds null"),
        ('{"doc": {"id": "sample_0"}, "resps": [["a"]]}\n{"doc": {"id": "sample_0"}, "resps": [["b"]]}', "g.jsonl:2: 'sample_0' occurs a second time, with other texts"),
        ('{"sample_0": ["a"]}\n{"sample_0": ["b"]}', "g.jsonl:2: 'sample_0' occurs a second time"),
        ('{"sample_0": ["a"], "sample_0": ["b"]}', "the key 'sample_0' occurs twice"),
        ('{"sample_0": ["a"], "0": ["b"]}', "'0' is the id 'sample_0', which occurs a second time"),
    ],
)  # fmt: skip
def test_no_row_is_dropped_without_a_word(capsys, tmp_path, content, match):
    file = tmp_path / "g.jsonl"
    file.write_text(content)
    with pytest.raises(DataError, match=re.escape(match)):
        read_generations(file, registry.get("ct_cruxeval_o"))


def test_a_row_for_each_filter_is_one_sample(tmp_path):
    file = tmp_path / "g.jsonl"
    file.write_text('{"doc": {"id": "sample_0"}, "resps": [["a"]], "filter": "x"}\n' * 2)
    assert [t.text for t in read_generations(file, registry.get("ct_cruxeval_o"))["sample_0"]] == ["a"]


def test_samples_tell_what_is_known_of_a_reply(tmp_path):
    file = tmp_path / "g.jsonl"
    verdicts = [json.dumps({"status": "wrong", "ending": {"truncated": known, "thinking": known is True}}) for known in (True, False, None)]
    file.write_text(json.dumps({"doc": {"id": "sample_0"}, "resps": [["a", "b", "c"]], "filtered_resps": [verdicts]}))
    read = read_generations(file, registry.get("ct_cruxeval_o"))["sample_0"]
    assert [(t.text, t.truncated, t.thinking) for t in read] == [("a", True, True), ("b", False, False), ("c", None, False)]


def test_damaged_benchmark_data_is_told_with_its_line(tmp_path):
    file = tmp_path / "test.jsonl"
    for content, match in (('{"id": 1}\n{"id"\n', "test.jsonl:2 is no JSON"), ('{"id": 1}\n[2]\n', "test.jsonl:2 is a list, not an object")):
        file.write_text(content)
        with pytest.raises(DataError, match=match):
            data.read_file(file)


def test_validate_tells_everything_at_once(capsys, tmp_path):
    """lm-eval's config and a training config, each with several mistakes."""
    evaluation, training = tmp_path / "e.yaml", tmp_path / "t.yaml"
    evaluation.write_text("model: dummi\ntaks: x\ntasks: [ct_minni, ct_gsm8k]\nmetadata: {paradigm: cwmm, repeats: 0, start_date: 2024-13-01, end_date: soon}")
    training.write_text("model: m\ndata: d\nreward: codethinker\noutput_dir: o\ngroup_sise: 8\nlora: {q: 1}\nregular: many\nengine: 3")
    code, out, _ = run(capsys, "validate", str(evaluation), str(training))
    assert code == 1
    lines = out.splitlines()
    mistakes = {
        evaluation: ["did you mean dummy", "did you mean tasks", "did you mean ct_mini", "did you mean cwm", "repeats must be a whole number of at least 1, got 0", "start_date must be a date like 2024-01-31, got '2024-13-01'", "end_date must be a date like 2024-01-31, got 'soon'"],
        training: ["did you mean group_size", "unknown setting 'lora.q'", "regular = 'many' is not of type", "engine = 3 is not of type"],
    }
    assert len(lines) == sum(map(len, mistakes.values())), out
    for path, texts in mistakes.items():
        for text in texts:
            assert sum(line.startswith(f"{path}: ") and text in line for line in lines) == 1, text


def test_validate_asks_each_task_whether_the_options_fit(capsys, tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("tasks: [ct_gsm8k, ct_mini, ct_math500]\nmetadata: {paradigm: cwm, languages: [rust]}")
    _, out, _ = run(capsys, "validate", str(file))
    assert [text in out for text in ("paradigm of ct_gsm8k 'cwm'", "paradigm of ct_math500 'cwm'", "unknown language 'rust'")] == [True] * 3
    assert "Traceback" not in out


def test_yaml_dates_are_dates(capsys, tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("tasks: [ct_lcb_o]\nmetadata: {start_date: 2023-05-01, end_date: '2023-06-01'}")
    assert run(capsys, "validate", str(file))[0] == 0
    assert TaskOptions.from_mapping({"start_date": datetime.date(2023, 5, 1)}).start_date == "2023-05-01"
    file.write_text("tasks: [ct_lcb_o]\nmetadata: {start_date: 2023-07-01, end_date: 2023-06-01}")
    assert "is after end_date" in run(capsys, "validate", str(file))[1]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"temperature": -1}, "temperature must be a number of at least 0"), ({"temperature": "hot"}, "temperature must be"), ({"top_p": 0}, "top_p must be"), ({"max_gen_toks": 0}, "max_gen_toks must be a whole"),
        ({"limit_s": 0}, "limit_s must be a number above 0"), ({"alpha": float("nan")}, "alpha must be"), ({"shots": True}, "shots must be"), ({"languages": "rs"}, "languages must be a list"), ({"start_date": 20240131}, "start_date must be a date"),
    ],
)  # fmt: skip
def test_an_option_that_cannot_be_is_a_sentence(options, match):
    with pytest.raises(ConfigError, match=match):
        TaskOptions.from_mapping(options)


@pytest.mark.parametrize("model", [["--model", "dummi"], ["--model=dummi"], ["-M", "dummi"]])
def test_run_suggests_a_model_before_anything_is_loaded(capsys, tmp_path, model):
    code, _, err = run(capsys, "run", "--run_dir", str(tmp_path / "r"), *model, "--tasks", "ct_mini")
    assert code == 2
    assert "did you mean dummy" in err
    assert not (tmp_path / "r").exists()
    config = tmp_path / "c.yaml"
    config.write_text("model: dummi\ntasks: ct_mini\n")
    assert "did you mean dummy" in run(capsys, "run", "--run_dir", str(tmp_path / "r"), "--config", str(config))[2]


def test_no_module_of_ct_tasks_imports_ct_train():
    """Neither in its source nor by what it imports when the commands are loaded."""
    found = []
    for path in sorted((Path(__file__).parents[2] / "ct_tasks").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [node.args[0].value] if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in ("import_module", "__import__") and node.args and isinstance(node.args[0], ast.Constant) else []
            found += [f"{path}:{node.lineno}" for name in names if str(name).split(".")[0] == "ct_train"]
    assert found == []
    script = "import importlib, sys; from ct_tasks.cli.main import COMMANDS; [importlib.import_module(f'ct_tasks.cli.{c}') for c in COMMANDS]; print([m for m in sys.modules if m.split('.')[0] == 'ct_train'])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip() == "[]"


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
