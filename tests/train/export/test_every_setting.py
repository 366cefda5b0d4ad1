"""No setting is dropped in silence: each changes what an export writes, or is refused, or the table says what takes its place."""

import dataclasses
import json
import re
import shlex

import pytest
import yaml

from ct_tasks.contra.tracer import trace_call
from ct_tasks.errors import ConfigError
from ct_train import config
from ct_train.__main__ import main
from ct_train.export import honoured
from ct_train.export.verl_settings import overrides
from ct_train.grpo.config import GrpoSettings
from ct_train.sft.config import SftSettings

DOCS = config.Path(__file__).parents[3] / "docs" / "export.md"
PROGRAM = "def f(n):\n    a = n + 1\n    for i in range(2):\n        a = a * 2\n    return a"
ROWS = [{"id": str(n), "program": PROGRAM.replace("2", str(2 + n // 6)), "call": f"f({n})"} for n in range(40)]
GRPO = {"model": "some/model", "output_dir": "runs/x", "prompts_per_rollout": "4", "prompts_per_update": "2", "completions_per_device": "2", "save_steps": "2"}
SFT = {"model": "some/model", "output_dir": "runs/x"}

OTHER_GRPO = {
    "model": "other/model", "output_dir": "runs/y", "adapter": "runs/adapter", "reward": "codereasoner", "reward_options": "{alpha: 0.5}", "paradigm": "codereasoner",
    "segmentation": "coalesced", "chat": "false", "group_size": "4", "regular": "8", "engine": "vllm", "prompts_per_rollout": "8", "prompts_per_update": "4", "completions_per_device": "4",
    "learning_rate": "1e-5", "optimizer": "muon", "schedule": "cosine", "epochs": "0.5", "max_steps": "6", "warmup_steps": "5", "clip": "0.1", "clip_high": "0.28", "loss_type": "dapo",
    "beta": "0.04", "entropy": "0.01", "scale_rewards": "none", "weight_decay": "0.1", "max_grad_norm": "0.5", "temperature": "0.7", "max_prompt_tokens": "512", "max_response_tokens": "128",
    "mask_truncated": "true", "lora": "{r: 8, alpha: 16}", "bf16": "false", "gradient_checkpointing": "false", "limit": "20", "halve": "tests", "seed": "3", "save_steps": "4",
    "report_to": "wandb", "vllm_memory": "0.5", "vllm_tensor_parallel": "2", "vllm_server_url": "http://host:1",
}
WITH_GRPO = {"paradigm": {"reward": "codereasoner", "regular": "8"}, "group_size": {"regular": "2"}, "optimizer": {"lora.r": "0"}, "prompts_per_rollout": {"save_steps": "4"}}
OTHER_SFT = {
    "model": "other/model", "output_dir": "runs/y", "eval_data": None, "segmentation": "coalesced", "chat": "false", "lora": "{r: 8}", "learning_rate": "1e-5", "optimizer": "muon",
    "schedule": "linear", "warmup_steps": "5", "weight_decay": "0.1", "epochs": "0.5", "max_steps": "7", "batch_size": "2", "accumulation": "3", "max_tokens": "512", "packing": "true",
    "bf16": "false", "gradient_checkpointing": "false", "limit": "20", "halve": "code", "eval_limit": "3", "eval_steps": "7", "probe": "4", "probe_tokens": "9", "save_steps": "7",
    "keep_checkpoints": "5", "merge": "false", "seed": "3", "report_to": "wandb",
}
WITH_SFT = {"optimizer": {"lora.r": "0"}, "eval_limit": {"eval_data": None}, "eval_steps": {"eval_data": None}, "probe": {"eval_data": None}}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    path.write_text("".join(json.dumps({**row, "truth": trace_call(row["program"], row["call"]).to_json()}) + "\n" for row in ROWS))
    return path


def untraced(data):
    """The same rows without their traces, so that the segmentation asked for is the one used."""
    path = data.with_name("untraced.jsonl")
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def exported(engine, data, folder, settings):
    """What the files of an export hold; None when it is refused with a sentence. Paths of the folder itself are left out."""
    given = [f"{k}={data if v is None else v}" for k, v in {"data": None, **settings}.items()]
    code = main(["export", engine, "--out", str(folder), *given])
    if code:
        assert not folder.exists(), "a refused export leaves nothing behind"
        return None
    texts = {}
    for file in sorted(folder.iterdir()):
        if file.suffix == ".parquet":
            from datasets import Dataset

            texts[file.name] = json.dumps(list(Dataset.from_parquet(str(file), cache_dir=str(folder.parent))))
        else:
            texts[file.name] = file.read_text().replace(str(folder), "OUT")
    return texts


def test_the_tables_have_a_row_for_every_setting_and_stand_in_the_docs():
    for kind, cells, name in ((GrpoSettings, honoured.VERL, "verl"), (SftSettings, honoured.LLAMAFACTORY, "LlamaFactory")):
        assert set(cells) == {f.name for f in dataclasses.fields(kind)}
        assert honoured.markdown(cells, name) in DOCS.read_text()


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(GrpoSettings) if f.name != "data"])
def test_verl_is_told_every_setting_or_refuses_it(field, data, tmp_path, capsys):
    base = {**GRPO, **WITH_GRPO.get(field, {})}
    rows = untraced(data) if field == "segmentation" else data
    told, before = exported("verl", rows, tmp_path / "b", {**base, field: OTHER_GRPO[field]}), exported("verl", rows, tmp_path / "a", base)
    _check(honoured.VERL[field], told, before, capsys.readouterr().err)


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(SftSettings) if f.name != "data"])
def test_llamafactory_is_told_every_setting_or_refuses_it(field, data, tmp_path, capsys):
    base = {**SFT, **WITH_SFT.get(field, {})}
    rows = untraced(data) if field == "segmentation" else data
    told, before = exported("llamafactory", rows, tmp_path / "b", {**base, field: OTHER_SFT[field]}), exported("llamafactory", rows, tmp_path / "a", base)
    _check(honoured.LLAMAFACTORY[field], told, before, capsys.readouterr().err)


def _check(cell, told, before, err):
    assert before is not None, err
    if cell.startswith(honoured.NOT_USED):
        assert told == before
    elif told is None:
        assert "refused" in cell
        assert "set " in err
    else:
        assert told != before


def grpo(**more):
    values = {"model": "m", "data": "d", "output_dir": "o", "prompts_per_rollout": 4, "prompts_per_update": 2, "save_steps": 4, **more}
    return overrides(GrpoSettings(**values), config.Path("/x"), 8, 1, 36)


def test_lengths_are_in_rollouts():
    def length(**more):
        made = grpo(**more)
        return made["trainer.total_epochs"], made.get("trainer.total_training_steps"), made["trainer.save_freq"]

    assert length() == (3, None, 2)
    assert length(epochs=0.5) == (5, 5, 2)  # half of nine rollouts, the last one whole
    assert length(epochs=1.5, save_steps=0) == (14, 14, -1)
    assert length(max_steps=6) == (3, 3, 2)
    with pytest.raises(ConfigError, match="set max_steps to a multiple of 2"):
        length(max_steps=7)
    with pytest.raises(ConfigError, match="train nothing"):
        length(epochs=0.0)
    warm = "actor_rollout_ref.actor.optim.lr_warmup_steps"
    assert (grpo(warmup_steps=5)[warm], grpo(warmup_steps=5, schedule="constant")[warm], grpo()[warm]) == (3, 0, 0)


@pytest.mark.parametrize(("change", "match"), [
    ({"chat": False}, "chat template"), ({"bf16": False}, "bf16=true"), ({"schedule": "linear"}, "no linear schedule"), ({"loss_type": "bnpo"}, "no loss_type bnpo"),
    ({"scale_rewards": "batch"}, "group or none"), ({"report_to": "all"}, "does not log to all"), ({"optimizer": "muon"}, "optimizer=adamw")])
def test_what_verl_cannot_follow_is_refused(change, match):
    with pytest.raises(ConfigError, match=match):
        grpo(**change)


def test_the_adapter_brings_its_own_rank(tmp_path):
    (tmp_path / "adapter_config.json").write_text('{"r": 4, "lora_alpha": 12}')
    made = grpo(adapter=str(tmp_path))
    assert [made[f"actor_rollout_ref.model.{k}"] for k in ("lora_rank", "lora_alpha", "lora_adapter_path")] == [4, 12, str(tmp_path)]


def test_the_script_says_all_of_it(data, tmp_path):
    exported("verl", data, tmp_path / "o", {**GRPO, "max_steps": "4", "schedule": "cosine", "warmup_steps": "2", "seed": "5", "mask_truncated": "true", "adapter": "runs/a"})
    script = (tmp_path / "o" / "train.sh").read_text()
    given = dict(a.split("=", 1) for a in shlex.split(re.sub(r"\\\n", " ", script.split("main_ppo", 1)[1])) if "=" in a)
    assert {k: given[k] for k in given if k.rsplit(".", 1)[-1] in ("total_training_steps", "lr_scheduler_type", "lr_warmup_steps", "lora_adapter_path") or k.endswith("seed")} == {
        "trainer.total_training_steps": "2", "actor_rollout_ref.actor.optim.lr_scheduler_type": "cosine", "actor_rollout_ref.actor.optim.lr_warmup_steps": "1",
        "actor_rollout_ref.model.lora_adapter_path": "runs/a", "data.seed": "5", "actor_rollout_ref.actor.data_loader_seed": "5", "actor_rollout_ref.actor.fsdp_config.seed": "5", "actor_rollout_ref.rollout.seed": "5"}
    (loop,) = yaml.safe_load((tmp_path / "o" / "agent_loop.yaml").read_text())
    assert (loop["seed"], loop["mask_truncated"]) == (5, True)


@pytest.mark.parametrize(("given", "agent"), [({}, "ct_dbs"), ({"regular": "8"}, "single_turn_agent"), ({"regular": "8", "mask_truncated": "true"}, "ct_dbs")])
def test_verls_own_loop_is_used_where_it_has_nothing_to_mask(given, agent, data, tmp_path):
    rows = json.loads(exported("verl", data, tmp_path / "o", {**GRPO, **given})["train.parquet"])
    assert {row["agent_name"] for row in rows} == {agent}


def test_execverifys_rows_ask_their_questions(data, tmp_path):
    texts = exported("verl", data, tmp_path / "o", {**GRPO, "paradigm": "execverify", "reward": "execverify", "regular": "8"})
    row = json.loads(texts["train.parquet"])[0]
    asked = json.loads(row["extra_info"]["questions"])
    assert asked
    assert all(q["question"][1:] in row["prompt"][0]["content"] for q in asked)
    assert row["agent_name"] == "single_turn_agent"
