"""What ``export`` writes, by shape here and by the engines' own loaders where those are installed.

``CT_VERL_PYTHON`` and ``CT_LLAMAFACTORY_PYTHON`` name Pythons with verl 0.9 and LlamaFactory 0.9 (environments of their own:
their versions of trl and transformers exclude ours); the tests with the real loaders skip where they are not set.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml
from datasets import load_dataset

from ct_tasks.contra.trace import Truth, render
from ct_train.__main__ import main
from ct_train.rewards.batch import compute_score

HERE = Path(__file__).parent
ROWS = [{"id": str(n), "program": "def f(n):\n    a = n + 1\n    for i in range(2):\n        a = a * 2\n    return a", "call": f"f({n})"} for n in range(12)]


def peer(variable: str, script: str, *arguments: str) -> list[dict]:
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} is not set: no Python with that engine")
    env = {**os.environ, "PYTHONPATH": str(HERE.parents[2]), "CT_TASKS_NO_AUTOLOAD": "1"}
    done = subprocess.run([python, str(HERE / script), *arguments], capture_output=True, text=True, timeout=1200, env=env, cwd=HERE)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"check"')]
    assert done.returncode == 0, done.stderr[-3000:]
    return found


@pytest.fixture(scope="module")
def verl(tmp_path_factory):
    folder = tmp_path_factory.mktemp("verl")
    data = folder / "rows.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    assert main(["export", "verl", "--out", str(folder / "out"), f"data={data}", "model=some/model", "output_dir=runs/x"]) == 0
    return folder / "out"


@pytest.fixture(scope="module")
def llamafactory(tmp_path_factory):
    folder = tmp_path_factory.mktemp("llamafactory")
    data = folder / "rows.jsonl"
    data.write_text("".join(json.dumps({"prompt": f"question {n}", "completion": f"answer {n}"}) + "\n" for n in range(3)))
    assert main(["export", "llamafactory", "--out", str(folder / "out"), f"data={data}", "model=some/model"]) == 0
    return folder / "out"


def test_verl_rows_carry_prompt_truth_and_loop(verl):
    rows = load_dataset("parquet", data_files={"train": str(verl / "train.parquet"), "test": str(verl / "validation.parquet")})
    assert (len(rows["train"]), len(rows["test"])) == (11, 1)
    row = rows["train"][0]
    assert row["agent_name"] == "ct_dbs"
    assert rows["test"][0]["agent_name"] == "single_turn_agent"
    assert [m["role"] for m in row["prompt"]] == ["user"]
    truth = row["reward_model"]["ground_truth"]
    gold = render(Truth.from_json(json.loads(truth)))
    assert compute_score("contra", gold, truth, row["extra_info"])["score"] == 4.0
    assert compute_score("contra", gold.replace("[/RETURN]", ""), truth, row["extra_info"])["score"] == 0.0
    assert not any(str(r["reward_model"]["ground_truth"]) in str(r["prompt"]) for r in rows["train"])


def test_the_launch_script_has_the_settings_of_the_run(verl):
    script = (verl / "train.sh").read_text()
    for setting in ("rollout.n=8", "entropy_coeff=0", "use_kl_loss=False", "clip_ratio=0.2", "max_response_length=4096", str(verl / "reward.py")):
        assert setting in script
    assert subprocess.run(["bash", "-n", str(verl / "train.sh")], check=False).returncode == 0


def test_the_beam_is_scored_by_the_switches_of_the_run(tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    assert main(["export", "verl", "--out", str(tmp_path), f"data={tmp_path / 'rows.jsonl'}", "model=m", "reward_options.rcc=false", "reward_options.alpha=0.5"]) == 0
    (loop,) = yaml.safe_load((tmp_path / "agent_loop.yaml").read_text())
    assert {k: v for k, v in loop.items() if k not in ("name", "_target_")} == {"group_size": 8, "regular": 4, "rcc": False}


def test_llamafactory_files(llamafactory):
    info = json.loads((llamafactory / "dataset_info.json").read_text())["contra"]
    turns = json.loads((llamafactory / info["file_name"]).read_text())[1]["conversations"]
    assert turns == [{"from": "human", "value": "question 1"}, {"from": "gpt", "value": "answer 1"}]
    assert yaml.safe_load((llamafactory / "sft.yaml").read_text())["cutoff_len"] == 6144


@pytest.mark.parametrize(("rows", "message"), [
    ("", "holds no rows"), ("[1]\n", "holds a list, not an object"), ('{"prompt": "a"}\n', "needs prompt and completion"), ('{"prompt": " ", "completion": "b"}\n', "empty prompt")])
def test_bad_rows_are_named(tmp_path, capsys, rows, message):
    (tmp_path / "x.jsonl").write_text(rows)
    assert main(["export", "llamafactory", "--out", str(tmp_path / "out"), f"data={tmp_path / 'x.jsonl'}"]) != 0
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_verl_reads_its_files_and_runs_its_loop(verl):
    from ct_tasks.demo_model import path

    configuration, data, reward, loop = peer("CT_VERL_PYTHON", "check_verl.py", str(verl), str(path()))
    assert configuration["n"] == 8
    assert data == {"check": "data", "rows": 11, "agent": "ct_dbs", "roles": ["user"]}
    assert (reward["gold"], reward["damaged"]) == (4.0, 0.0)
    assert loop["aligned"]
    assert loop["outputs"] == 8
    assert all(loop["right"][4:]), "DBS leaves no slot to a trajectory that went wrong"


@pytest.mark.slow
def test_llamafactory_reads_its_files(llamafactory):
    from ct_tasks.demo_model import path

    (data,) = peer("CT_LLAMAFACTORY_PYTHON", "check_llamafactory.py", str(llamafactory), str(path()))
    assert (data["rows"], data["answer"].strip()) == (3, "answer 0")
