"""Ablation: rows at equal budget, refusals, a real run that is not run twice, intervals; rejection sampling; the demo's commands."""

import dataclasses
import fcntl
import json

import pytest

from ct_tasks.errors import ConfigError, DataError, UnknownNameError
from ct_train import ablate, config, demo, identity, rejection
from ct_train.__main__ import COMMANDS, main
from ct_train.ablate_measure import evaluation
from ct_train.ablate_rows import TABLES, expand
from ct_train.grpo.config import GrpoSettings, LoraSettings
from ct_train.micro.make import MicroSettings, make
from ct_train.output import LOCK
from ct_train.sft.config import SftSettings

ROOT = config.Path(__file__).parents[2]
SMALL = {"engine": "static", "lora": LoraSettings(r=0), "group_size": 4, "regular": 2, "prompts_per_rollout": 2, "prompts_per_update": 2, "completions_per_device": 8, "max_steps": 1, "max_prompt_tokens": 256, "max_response_tokens": 24,
         "bf16": False, "gradient_checkpointing": False, "save_steps": 0, "report_to": "none"}


def settings(**more):
    base = GrpoSettings(model="m", data="d", **SMALL)
    return ablate.AblateSettings(**{"output_dir": "o", "data": __file__, "grpo": base, **more})


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [({"rows": ("without_dps",)}, UnknownNameError, "did you mean without_dbs"), ({"rows": ("tabel6",)}, UnknownNameError, "did you mean table6"), ({"data": ""}, ConfigError, "set one of them"),
     ({"evaluate": "nowhere.yaml"}, ConfigError, "cannot be read"), ({"seeds": ()}, ConfigError, "at least one row"), ({"data": "nowhere"}, ConfigError, "no held-out rows at nowhere"), ({"output_dir": ""}, ConfigError, "needs output_dir"),
     ({"grpo": GrpoSettings(data="d")}, ConfigError, "needs model")],
)
def test_bad_settings_are_refused(change, error, match):
    with pytest.raises(error, match=match):
        settings(**change).check()


def test_shipped_config_loads_and_every_row_has_the_same_budget():
    found = config.load(ablate.AblateSettings, ROOT / "harness_configs" / "train" / "ablate_micro.yaml", [f"data={__file__}"])
    dataclasses.replace(found, rows=tuple(TABLES)).check()
    for row in ablate.ROWS:
        made = found.run_settings(row, 7)
        assert (made.prompts_per_rollout, made.max_steps, made.seed) == (64, 40, 7)
        assert made.group_size == 8 or row in ("group=4", "group=16", "group=32")


def test_the_rows_of_table_2_stack_on_without_dbs_and_ours_keep_it():
    made = {row: settings().run_settings(row, 0) for row in ablate.ROWS}
    table2 = {row: (made[row].regular == made[row].group_size, dict(made[row].reward_options)) for row in expand(["table2"])}
    assert table2 == {
        "codethinker": (False, {}), "rejection_sampling": (False, {}), "without_dbs": (True, {}), "without_dbs_prm": (True, {"prm": False}), "without_dbs_ccw": (True, {"ccw": False}),
        "without_dbs_orm": (True, {"orm": False}), "without_dbs_rcc": (True, {"rcc": False})}
    assert {row: (made[row].regular, dict(made[row].reward_options)) for row in expand(["table2_with_dbs"])} == {
        "codethinker": (2, {}), "without_prm": (2, {"prm": False}), "without_ccw": (2, {"ccw": False}), "without_orm": (2, {"orm": False}), "without_rcc": (2, {"rcc": False})}
    assert made["codereasoner"].regular == made["execverify"].regular == 4
    assert len({m.output_dir for m in made.values()}) == len(made)


def test_the_rows_of_the_other_tables():
    made = {row: settings().run_settings(row, 0) for row in ablate.ROWS}
    assert [(row, made[row].halve) for row in expand(["table5"])] == [("codethinker", ""), ("half=code", "code"), ("half=tests", "tests")]
    assert [dict(made[row].reward_options) for row in expand(["table6"])] == [{"alpha": 0.5}, {"alpha": 1.0}, {"alpha": 2.0}]
    assert [(made[row].group_size, made[row].regular) for row in expand(["table8"])] == [(4, 2), (8, 4), (16, 8), (32, 16)]
    assert [(made[row].group_size, made[row].regular) for row in expand(["figure5"])] == [(8, 8), (8, 6), (8, 4), (8, 2), (8, 0)]
    assert expand(["table6", "alpha=1", "without_dbs"]) == ["alpha=0.5", "alpha=1", "alpha=2", "without_dbs"]


def test_switches_are_turned_beside_the_base_options():
    half = settings(grpo=dataclasses.replace(settings().grpo, reward_options={"alpha": 0.5}))
    assert half.run_settings("without_prm", 0).reward_options == {"alpha": 0.5, "prm": False}
    assert half.run_settings("execverify", 0).reward_options == {}


def test_intervals_are_students():
    assert ablate.interval([1.0, 2.0, 3.0]) == pytest.approx(2.4841, abs=1e-3)  # 4.3027 / sqrt(3)
    rows = [{"row": "a", "sampled": {"exact": x}} for x in (0.5, 0.6, 0.7)] + [{"row": "b", "sampled": {"exact": 0.25}}]
    lines = ablate.table(rows).splitlines()
    assert lines[2].startswith("| a | 3 | 60.0 ± 24.8 |")
    assert lines[3].startswith("| b | 1 | 25.0 |")


def test_a_result_that_does_not_say_how_it_was_made_is_stale(tmp_path):
    made = settings(output_dir=str(tmp_path), rows=("codethinker",))
    old = made.folder("codethinker", 2) / "result.json"
    old.parent.mkdir(parents=True)
    old.write_text('{"row": "codethinker", "seed": 2}')
    with pytest.raises(ConfigError, match="does not say with which settings"):
        ablate.run(made)


def test_a_run_that_was_begun_with_other_settings_is_stale(tmp_path):
    made = settings(output_dir=str(tmp_path), rows=("codethinker",))
    begun = made.folder("codethinker", 0) / "identity.json"
    begun.parent.mkdir(parents=True)
    before = dataclasses.replace(made, grpo=dataclasses.replace(made.grpo, reward_options={"alpha": 2.0}))
    facts = {"training": before.training("codethinker", 0), "measured": ablate.measured_with(before)}
    begun.write_text(json.dumps(facts))
    with pytest.raises(ConfigError, match=r"training\.grpo\.reward_options\.alpha 2\.0, now 1\.0"):
        ablate.run(made)


def test_two_ablations_do_not_share_a_folder(tmp_path):
    made = settings(output_dir=str(tmp_path))
    with (tmp_path / LOCK).open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(ConfigError, match="is being written by another run"):
            ablate.run(made)


def test_files_are_the_same_by_what_they_hold(tmp_path):
    for name, text in (("a", "x"), ("b", "x"), ("c", "y")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_text(text)
    a, b, c = (identity.of_path(str(tmp_path / name)) for name in "abc")
    assert a == b != c
    assert identity.of_path("Qwen/Qwen2.5-Coder-7B-Instruct") == "Qwen/Qwen2.5-Coder-7B-Instruct"
    large = [tmp_path / "1", tmp_path / "2"]
    for path, last in zip(large, (b"1", b"2"), strict=True):
        with path.open("wb") as file:
            file.truncate(3 * identity.EDGE)
            file.seek(-1, 2)
            file.write(last)
    assert identity.of_path(str(large[0])) != identity.of_path(str(large[1]))


def test_rejection_sampling_has_exactly_grpos_budget_of_rollouts():
    """The smallest case in which it drew twice as many: a rollout that serves two updates."""
    base = dataclasses.replace(settings().grpo, group_size=8, prompts_per_rollout=2, prompts_per_update=1, max_steps=2)
    assert rejection.budget(base, rows=9) * base.group_size == 16
    for steps, updates, wanted in ((1, 1, 2), (3, 1, 4), (3, 2, 6), (40, 2, 80)):
        assert rejection.budget(dataclasses.replace(base, max_steps=steps, prompts_per_update=updates), 9) == {1: wanted, 2: wanted}[updates]
    epochs = dataclasses.replace(base, max_steps=-1, epochs=2.0)
    assert rejection.budget(epochs, 9) == 2 * 8
    rows = [{"id": n} for n in range(9)]
    some = [r["id"] for r in rejection.drawn(epochs, rows)]
    assert len(some) == 16
    assert len(set(some[:8])) == len(set(some[8:])) == 8
    with pytest.raises(ConfigError, match="sample nothing"):
        rejection.budget(dataclasses.replace(base, max_steps=-1, epochs=0.0), 9)


def test_a_row_is_evaluated_under_its_own_name_with_its_own_model(tmp_path):
    made = settings(evaluate=str(ROOT / "harness_configs" / "eval" / "table2_ablation.yaml"), data="")
    made.check()
    found = evaluation(made, "without_dbs", "runs/x/final")
    assert (found["model_args"]["pretrained"], found["metadata"]["stage"]) == ("runs/x/final", "without_dbs")
    (tmp_path / "adapter_config.json").write_text('{"base_model_name_or_path": "runs/sft/merged"}')
    found = evaluation(made, "codethinker", str(tmp_path))
    assert (found["model_args"]["pretrained"], found["model_args"]["lora_local_path"], found["metadata"]["stage"]) == ("runs/sft/merged", str(tmp_path), "grpo")


def test_half_of_the_data_makes_its_own_start_model_where_sft_is_given():
    made = settings(rows=("table5",), sft=SftSettings(model="base", data="s"))
    assert [row for row in expand(["table5"]) if made.own_start(row)] == ["half=code", "half=tests"]
    assert made.sft_settings("half=tests", 3).halve == "tests"
    assert made.training("half=code", 0)["sft"]["halve"] == "code"
    assert "sft" not in made.training("codethinker", 0)


def test_rows_that_come_to_the_same_settings_are_one_training():
    made = settings(grpo=dataclasses.replace(settings().grpo, group_size=8, regular=4))
    same = [made.training(row, 0) for row in ("codethinker", "alpha=1", "group=8", "ratio=4:4")]
    assert all(facts == same[0] for facts in same)
    assert made.training("codethinker", 1) != same[0]
    assert made.training("alpha=2", 0) != same[0]
    assert made.training("rejection_sampling", 0) != same[0]


def test_a_dry_run_plans_every_row_of_the_full_size_config(tmp_path, capsys):
    full = ROOT / "harness_configs" / "train" / "ablate_qc7b.yaml"
    given = [f"evaluate={ROOT / 'harness_configs' / 'eval' / 'table2_ablation.yaml'}", f"rows=[{','.join(TABLES)}]"]
    assert main(["ablate", "--config", str(full), "--dry-run", *given]) == 0
    plans = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [p["row"] for p in plans] == expand(list(TABLES))
    assert all("none at" in p["rows"] for p in plans)
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"program": f"def f(n):\n    return n + {n // 4}", "call": f"f({n})"}) + "\n" for n in range(1024)))
    assert main(["ablate", "--config", str(full), "--dry-run", *given, f"grpo.data={rows}"]) == 0
    plans = {p["row"]: p for p in map(json.loads, capsys.readouterr().out.splitlines())}
    assert (plans["codethinker"]["rows"], plans["half=code"]["rows"], plans["half=tests"]["rows"]) == (1024, 512, 512)
    assert plans["codethinker"]["updates"] == 2 * plans["half=code"]["updates"] == 48
    assert plans["group=32"]["completions_per_rollout"] == 4096


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

    # Another measurement, another learning rate, other rows in the same file: nothing of before may count.
    for other, why in (
        (dataclasses.replace(made, samples=2), "measured.samples 1, now 2"),
        (dataclasses.replace(made, grpo=dataclasses.replace(made.grpo, learning_rate=0.5)), "training.grpo.learning_rate 1e-06, now 0.5"),
    ):
        with pytest.raises(ConfigError, match=why):
            ablate.run(other)
    assert ablate.run(made) == first
    # alpha=1 is then the same training under the name of another table: measured again, not trained again.
    other = dataclasses.replace(made, samples=2, rows=("codethinker", "alpha=1"), grpo=dataclasses.replace(made.grpo, reward_options={"alpha": 1.0}))
    again = ablate.run(other, redo=True)
    assert [r["sampled"]["answers"] for r in again] == [4, 4, 4]
    assert "moved aside and made again" in capsys.readouterr().err
    assert (tmp_path / "o" / "codethinker" / "0.stale-1" / "result.json").is_file()
    assert again[2]["model"] == again[1]["model"]
    assert not (tmp_path / "o" / "alpha=1" / "0" / "grpo.yaml").exists()
    world.joinpath("grpo.jsonl").write_text("".join(world.joinpath("grpo.jsonl").read_text().splitlines(keepends=True)[:4]))
    with pytest.raises(ConfigError, match=r"training\.grpo\.data [0-9a-f]{8}…, now"):
        ablate.run(other)
    broken = dataclasses.replace(made, output_dir=str(tmp_path / "b"), seeds=(1,), grpo=dataclasses.replace(made.grpo, data=str(tmp_path / "none.jsonl")))
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
    assert json.loads((tmp_path / "o" / "rejection.json").read_text())["rollouts"] == 2 * 2 * 8
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
