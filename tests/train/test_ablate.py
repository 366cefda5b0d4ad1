"""Ablation: rows at equal budget, refusals, a real run that is not run twice, intervals; rejection sampling; the demo's commands."""

import dataclasses
import json

import pytest

from ct_tasks.errors import ConfigError, DataError, UnknownNameError
from ct_train import ablate, config, demo, rejection
from ct_train.__main__ import COMMANDS, main
from ct_train.grpo.config import GrpoSettings, LoraSettings
from ct_train.micro.make import MicroSettings, make

ROOT = config.Path(__file__).parents[2]
SMALL = {"engine": "static", "lora": LoraSettings(r=0), "group_size": 4, "regular": 2, "prompts_per_rollout": 2, "prompts_per_update": 2, "completions_per_device": 8, "max_steps": 1, "max_prompt_tokens": 256, "max_response_tokens": 24,
         "bf16": False, "gradient_checkpointing": False, "save_steps": 0, "report_to": "none"}


def settings(**more):
    base = GrpoSettings(model="m", data="d", **SMALL)
    return ablate.AblateSettings(**{"output_dir": "o", "data": __file__, "grpo": base, **more})


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [({"rows": ("without_dps",)}, UnknownNameError, "did you mean without_dbs"), ({"seeds": ()}, ConfigError, "at least one row"), ({"data": "nowhere"}, ConfigError, "no held-out rows at nowhere"), ({"output_dir": ""}, ConfigError, "needs output_dir"),
     ({"grpo": GrpoSettings(data="d")}, ConfigError, "needs model")],
)
def test_bad_settings_are_refused(change, error, match):
    with pytest.raises(error, match=match):
        settings(**change).check()


def test_shipped_config_loads_and_every_row_has_the_same_budget():
    found = config.load(ablate.AblateSettings, ROOT / "harness_configs" / "train" / "ablate_micro.yaml", [f"data={__file__}"])
    found.check()
    for row in ablate.ROWS:
        made = found.run_settings(row, 7)
        assert (made.group_size, made.prompts_per_rollout, made.max_steps, made.seed) == (8, 64, 40, 7)
        made.check()


def test_rows_are_the_switches_of_table_2():
    made = {row: settings().run_settings(row, 0) for row in ablate.ROWS}
    assert made["without_dbs"].regular == made["codereasoner"].regular == 4
    assert made["codethinker"].regular == made["without_ccw"].regular == 2
    assert {row: m.reward_options for row, m in made.items() if m.reward_options} == {
        "without_prm": {"prm": False}, "without_rcc": {"rcc": False}, "without_orm": {"orm": False}, "without_ccw": {"ccw": False}, "outcome_without_dbs": {"prm": False}}
    assert len({m.output_dir for m in made.values()}) == len(made)
    half = settings(grpo=dataclasses.replace(settings().grpo, reward_options={"alpha": 0.5}))
    assert half.run_settings("without_prm", 0).reward_options == {"alpha": 0.5, "prm": False}
    assert half.run_settings("execverify", 0).reward_options == {}


def test_intervals_are_students():
    assert ablate.interval([1.0, 2.0, 3.0]) == pytest.approx(2.4841, abs=1e-3)  # 4.3027 / sqrt(3)
    rows = [{"row": "a", "sampled": {"exact": x}} for x in (0.5, 0.6, 0.7)] + [{"row": "b", "sampled": {"exact": 0.25}}]
    lines = ablate.table(rows).splitlines()
    assert lines[2].startswith("| a | 3 | 60.0 ± 24.8 |")
    assert lines[3].startswith("| b | 1 | 25.0 |")


@pytest.mark.slow
def test_a_real_ablation_goes_on_where_it_stopped(tmp_path, capsys):
    world = make(MicroSettings(output_dir=str(tmp_path / "w"), sft=2, grpo=8, held_out=4, hidden=32, layers=1, heads=2, groups=1, inner=32))
    made = settings(output_dir=str(tmp_path / "o"), data=str(world / "held_out.jsonl"), rows=("codethinker",), seeds=(0,), samples=1, limit=2,
                    grpo=GrpoSettings(model=str(world / "init"), data=str(world / "grpo.jsonl"), **SMALL))
    first = ablate.run(made)
    assert [r["row"] for r in first] == ["sft", "codethinker"]
    assert first[1]["training"]["generated_tokens"] > 0
    assert first[1]["sampled"]["answers"] == 2
    result = tmp_path / "o" / "codethinker" / "0" / "result.json"
    before = result.stat().st_mtime_ns
    assert ablate.run(made) == first
    assert result.stat().st_mtime_ns == before
    assert "| codethinker | 1 |" in (tmp_path / "o" / "table.md").read_text()
    broken = dataclasses.replace(made, seeds=(1,), grpo=dataclasses.replace(made.grpo, data=str(tmp_path / "none.jsonl")))
    with pytest.raises(ablate.HarnessError, match="ended with code 2"):
        ablate.run(broken)


@pytest.mark.slow
def test_rejection_sampling_keeps_the_perfect_rollouts_and_learns_them(tmp_path, monkeypatch):
    import tiny

    monkeypatch.setattr(tiny, "TRUTHS", tiny.TRUTHS[:1])  # one trace is learnt by heart in seconds
    folder = tiny.make(tmp_path, steps=100)
    rows = [json.loads(line) for line in (folder / "data.jsonl").read_text().splitlines()]
    (folder / "data.jsonl").write_text("".join(json.dumps({**r, "prompt": tiny.prompt_of(t)}) + "\n" for r, t in zip(rows, tiny.TRUTHS, strict=True)))
    made = GrpoSettings(**{**SMALL, "model": str(folder), "data": str(folder / "data.jsonl"), "output_dir": str(tmp_path / "o"), "chat": False, "group_size": 8, "max_steps": 2, "max_response_tokens": 200, "learning_rate": 1e-4})
    final = rejection.train(made)
    assert (final / "model.safetensors").is_file()
    kept = [json.loads(line) for line in (tmp_path / "o" / "perfect.jsonl").read_text().splitlines()]
    perfect = {tiny.prompt_of(t): tiny.render(t) for t in tiny.TRUTHS}
    assert kept
    assert all(row["completion"] == perfect[row["prompt"]] for row in kept)
    with pytest.raises(DataError, match="none of"):
        rejection.train(dataclasses.replace(made, output_dir=str(tmp_path / "p"), max_response_tokens=4))


def test_demo_runs_only_commands_that_exist_with_settings_that_exist():
    for step in demo.steps(demo.DemoSettings()):
        module, command, *rest = step.command[2:]
        assert module in ("ct_train", "ct_tasks")
        if module == "ct_train":
            assert command in COMMANDS
            made = __import__(f"ct_train.cli.{command}", fromlist=["SETTINGS"]).SETTINGS
            loaded = config.load(made, None, rest)
            loaded.check()
    assert main(["demo", "programs=0"]) == 2


def test_demo_ends_with_the_log_of_a_failed_step(tmp_path, monkeypatch):
    step = demo.Step("bad", (demo.sys.executable, "-c", "print('why'); raise SystemExit(3)"), tmp_path / "never")
    monkeypatch.setattr(demo, "steps", lambda settings: [step])
    with pytest.raises(demo.HarnessError, match=r"step bad ended with code 3; see .*bad\.log"):
        demo.run(demo.DemoSettings(output_dir=str(tmp_path)))
    assert (tmp_path / "bad.log").read_text() == "why\n"
