"""Output folders: one writer, the same settings or none, whole checkpoints alone, a full disk."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from ct_tasks.errors import ConfigError, HarnessError
from ct_train import config, jsonl, output, resume
from ct_train.__main__ import main
from ct_train.checkpoints import damage, last_checkpoint, refuse_shorter
from ct_train.demo import DemoSettings
from ct_train.demo import run as demo
from ct_train.grpo.config import GrpoSettings
from ct_train.grpo.rollout_log import RolloutLog
from ct_train.micro.make import MicroSettings, make
from tests.train import tiny
from tests.train.test_finite import command

SMALL = {"sft": 4, "grpo": 2, "held_out": 2, "hidden": 32, "layers": 1, "heads": 2, "groups": 1, "inner": 32}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.make(tmp_path_factory.mktemp("tiny"), steps=20)


@pytest.fixture(scope="module")
def done(folder, tmp_path_factory):
    """A finished SFT run of four steps, with a checkpoint each."""
    out = tmp_path_factory.mktemp("done") / "o"
    assert main(command("sft", folder, out)) == 0
    return out


def holder(folder, fork=False):
    """A process that holds ``folder`` until it is killed; with ``fork`` its own child lives on."""
    child = "import os, time\nif os.fork() == 0: time.sleep(60); os._exit(0)" if fork else ""
    script = f"import sys, time\nfrom ct_train.output import locked\nwith locked({str(folder)!r}):\n    exec({child!r})\n    print('held', flush=True)\n    time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout.readline() == "held\n"
    return process


@pytest.mark.parametrize("name", ["sft", "grpo", "micro", "demo", "data", "synth"])
def test_two_writers_never_share_a_folder(folder, tmp_path, capsys, name):
    given = {
        "sft": command("sft", folder, tmp_path), "grpo": command("grpo", folder, tmp_path), "micro": ["micro", f"output_dir={tmp_path}"], "demo": ["demo", f"output_dir={tmp_path}"],
        "data": ["data", "--out", str(tmp_path), f"rows={folder}/data.jsonl"], "synth": ["synth", "--out", str(tmp_path), f"data={folder}/data.jsonl"],
    }[name]
    other = holder(tmp_path)
    try:
        assert main(given) == 2
        assert "is being written by another run" in capsys.readouterr().err
        assert [p.name for p in tmp_path.iterdir()] == [output.LOCK]
    finally:
        other.kill()
        other.wait()
    with output.locked(tmp_path), output.locked(tmp_path):  # the dead hold nothing, and a process may enter again
        pass


def test_a_worker_that_outlives_its_killed_parent_holds_nothing(tmp_path):
    parent = holder(tmp_path, fork=True)
    parent.kill()
    parent.wait()
    try:
        with output.locked(tmp_path):
            pass
    finally:
        os.killpg(parent.pid, signal.SIGKILL)


def test_other_processes_of_one_run_take_no_lock(tmp_path, monkeypatch):
    other = holder(tmp_path)
    monkeypatch.setenv("RANK", "1")
    with output.locked(tmp_path):
        other.kill()
        other.wait()


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (["seed=1"], "seed was 0, now 1"), (["learning_rate=2e-4"], "learning_rate was 0.0001, now 0.0002"), (["lora.r=4"], "full models"), (["schedule=cosine"], "schedule was 'constant', now 'cosine'"), (["limit=3"], "limit was None, now 3"),
        (["seed=1", "batch_size=2"], "batch_size was 4, now 2; seed was 0, now 1"),
    ],
)
def test_resume_with_other_settings_is_refused_by_name(folder, done, capsys, change, match):
    before = (done / "config.json").read_bytes()
    assert main(command("sft", folder, done, *change)) == 2
    said = capsys.readouterr().err
    assert match in said
    assert "fresh output_dir" in said
    assert (done / "config.json").read_bytes() == before


def test_resume_with_other_data_is_refused_wherever_the_old_lies(folder, done, tmp_path, capsys):
    """The same name with another content; and the same content under another name, which is allowed."""
    moved = tmp_path / "moved.jsonl"
    moved.write_bytes((folder / "sft.jsonl").read_bytes())
    made = config.load(__import__("ct_train.sft.config", fromlist=["x"]).SftSettings, None, command("sft", folder, done, f"data={moved}", "report_to=tensorboard", "save_steps=2", "max_steps=8")[1:])
    from ct_train.sft.config import may_change

    resume.refuse_other_settings(done, made, may_change(made))
    moved.write_text(moved.read_text() + "\n")
    with pytest.raises(ConfigError, match=r"data was .*sft\.jsonl \([0-9a-f]{12}\), now .*moved\.jsonl \([0-9a-f]{12}\)"):
        resume.refuse_other_settings(done, made, may_change(made))
    linear = config.load(type(made), None, [*command("sft", folder, done)[1:], "schedule=linear", "max_steps=8"])
    assert "max_steps" not in may_change(linear)


def test_reward_and_reward_options_of_grpo_are_compared(tmp_path):
    first = GrpoSettings(model="m", data="d", output_dir=str(tmp_path), reward_options={"alpha": 0.5})
    config.keep(first, tmp_path)
    resume.refuse_other_settings(tmp_path, first, ())
    import dataclasses

    for change, match in (({"reward": "cwm"}, "reward was 'codethinker', now 'cwm'"), ({"reward_options": {}}, r"reward_options.alpha was 0.5, now None"), ({"model": "n"}, r"model was m \(m\), now n \(n\)"), ({"regular": 8}, "regular was 4, now 8")):
        with pytest.raises(ConfigError, match=match):
            resume.refuse_other_settings(tmp_path, dataclasses.replace(first, **change), ())


def test_a_record_that_lacks_a_setting_of_today_had_its_default(tmp_path):
    made = GrpoSettings(model="m", data="d", output_dir=str(tmp_path))
    config.keep(made, tmp_path)
    record = json.loads((tmp_path / "config.json").read_text())
    del record["settings"]["clip"]
    (tmp_path / "config.json").write_text(json.dumps(record))
    resume.refuse_other_settings(tmp_path, made, ())
    with pytest.raises(ConfigError, match=r"clip was 0\.2, now 0\.3"):
        resume.refuse_other_settings(tmp_path, GrpoSettings(model="m", data="d", output_dir=str(tmp_path), clip=0.3), ())


def test_a_small_world_and_a_demo_of_other_settings_are_refused(tmp_path):
    world = MicroSettings(output_dir=str(tmp_path / "w"), **SMALL)
    weights = (make(world) / "init" / "model.safetensors").read_bytes()
    make(world)
    for change, match in (({"hidden": 64}, "hidden was 32, now 64"), ({"seed": 1}, "seed was 0, now 1"), ({"levels": (1,)}, "levels was")):
        with pytest.raises(ConfigError, match=match):
            make(MicroSettings(**{**SMALL, "output_dir": str(tmp_path / "w"), **change}))
    assert (tmp_path / "w" / "init" / "model.safetensors").read_bytes() == weights
    made = DemoSettings(output_dir=str(tmp_path / "d"), programs=4)
    config.keep(made, tmp_path / "d")
    (tmp_path / "d" / "world").mkdir()
    (tmp_path / "d" / "world" / "micro.json").write_text("{}")
    with pytest.raises(ConfigError, match="programs was 4, now 5"):
        demo(DemoSettings(output_dir=str(tmp_path / "d"), programs=5))


def newest(out):
    return max(out.glob("checkpoint-*"), key=lambda p: int(p.name[11:]))


def tear(path, how):
    if how == "gone":
        path.unlink()
    else:
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2 if how == "half" else 0])


@pytest.mark.parametrize("how", ["half", "empty", "gone"])
def test_whichever_file_is_torn_the_newest_whole_checkpoint_is_found(done, tmp_path, capsys, how):
    """Every file of a real checkpoint. Beside what resuming needs, a missing one (a template) may be passed over."""
    names = sorted(str(p.relative_to(newest(done))) for p in newest(done).rglob("*") if p.is_file())
    assert {"trainer_state.json", "optimizer.pt", "scheduler.pt", "rng_state.pth", "model.safetensors"} <= set(names)
    needed = {"trainer_state.json", "optimizer.pt", "scheduler.pt", "rng_state.pth", "model.safetensors"}
    for number, name in enumerate(names):
        out = tmp_path / str(number)
        for step in (3, 4):
            shutil.copytree(done / f"checkpoint-{step}", out / f"checkpoint-{step}")
        tear(out / "checkpoint-4" / name, how)
        found = last_checkpoint(out)
        assert found == out / f"checkpoint-{4 if how == 'gone' and name not in needed else 3}", name
        if found.name == "checkpoint-3":
            said = capsys.readouterr().err
            assert "checkpoint-4 is not whole" in said
            assert how == "gone" or name in said
            assert "going on from checkpoint-3" in said
        for step in (3, 4):
            (out / f"checkpoint-{step}" / "optimizer.pt").write_bytes(b"PK")
        assert last_checkpoint(out) is None
        assert "begins again" in capsys.readouterr().err


def test_every_length_of_a_state_file_is_told(tmp_path):
    made = tiny.checkpoint(tmp_path, 7)
    assert damage(made) == ""
    for name in ("trainer_state.json", "rng_state.pth", "model.safetensors"):
        whole = (made / name).read_bytes()
        for length in {0, 1, 7, 8, 9, len(whole) // 3, len(whole) - 1}:
            (made / name).write_bytes(whole[:length])
            assert damage(made), (name, length)
        (made / name).write_bytes(whole)
    tiny.checkpoint(tmp_path, 10)
    (tmp_path / "checkpoint-x").mkdir()
    assert last_checkpoint(tmp_path).name == "checkpoint-10"
    state = made / "trainer_state.json"
    state.write_text(json.dumps({"global_step": 6, "log_history": []}))
    assert "not of step 7" in damage(made)
    with pytest.raises(ConfigError, match="is past max_steps 4"):
        refuse_shorter(made, 4)


@pytest.mark.slow
@pytest.mark.parametrize("torn", ["checkpoint-4/trainer_state.json", "checkpoint-4/optimizer.pt", "checkpoint-4/model.safetensors", "config.json", "history.json", "final/model.safetensors", "README.md", "lock"])
def test_a_torn_run_folder_ends_with_the_same_weights(folder, done, tmp_path, torn):
    out = tmp_path / "o"
    shutil.copytree(done, out)
    want = (done / "final" / "model.safetensors").read_bytes()
    tear(out / torn, "half")
    assert main(command("sft", folder, out)) == 0
    assert (out / "final" / "model.safetensors").read_bytes() == want
    assert json.loads((out / "history.json").read_text())
    assert json.loads((out / "config.json").read_text())["settings"]["seed"] == 0


@pytest.mark.slow
def test_killed_at_any_moment_the_same_weights(folder, done, tmp_path):
    """Killed as soon as a name appears in its folder: checkpoints half written, the final model half saved."""
    want = (done / "final" / "model.safetensors").read_bytes()
    for number, name in enumerate(("checkpoint-2/model.safetensors", "checkpoint-3/optimizer.pt", "final.part")):
        out = tmp_path / str(number)
        process = subprocess.Popen([sys.executable, "-m", "ct_train", *command("sft", folder, out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not (out / name).exists():
            time.sleep(0.001)
        process.kill()
        process.wait()
        assert main(command("sft", folder, out)) == 0
        assert (out / "final" / "model.safetensors").read_bytes() == want


@pytest.mark.slow
@pytest.mark.parametrize("name", ["optimizer.pt", "trainer_state.json"])
def test_a_full_disk_ends_in_a_sentence_and_loses_nothing(folder, done, tmp_path, capsys, name):
    """/dev/full answers every write as a full disk does."""
    out = tmp_path / "o"
    (out / "checkpoint-3").mkdir(parents=True)
    (out / "checkpoint-3" / name).symlink_to("/dev/full")
    assert main(command("sft", folder, out)) == 2
    said = capsys.readouterr().err
    assert "is full; free some and run the same command again" in said
    assert not (out / "final").exists()
    (out / "checkpoint-3" / name).unlink()
    assert main(command("sft", folder, out)) == 0
    assert "going on from checkpoint-2" in capsys.readouterr().err
    assert (out / "final" / "model.safetensors").read_bytes() == (done / "final" / "model.safetensors").read_bytes()


def test_rollouts_on_a_full_disk(tmp_path):
    log = RolloutLog(tmp_path)
    log.path.symlink_to("/dev/full")
    with pytest.raises(HarnessError, match="is full; free some"):
        log.write([{"step": 1}])
    for text in ("PytorchStreamWriter failed writing file data/0: file write failed", "Error while serializing: I/O error: No space left on device (os error 28)"):
        with pytest.raises(HarnessError, match="is full"), output.full_disk(tmp_path):
            raise RuntimeError(text)
    with pytest.raises(KeyError), output.full_disk(tmp_path):
        raise KeyError("x")


def test_a_rollout_log_keeps_its_rows_when_it_is_cut(tmp_path):
    log = RolloutLog(tmp_path)
    log.write([{"step": s, "text": "a\u2028b\u2029c\u0085d"} for s in range(4)])
    log.path.write_bytes(log.path.read_bytes().replace(b"\\u2028", "\u2028".encode()) + b'{"step": 1, "text": "\xff')
    log.cut(from_step=3)
    assert [row["step"] for _, row in jsonl.read(log.path)] == [0, 1, 2]


def test_a_torn_done_file_means_not_done_and_a_torn_reply_is_named(tmp_path):
    from ct_tasks.errors import DataError
    from ct_train.data.llm import Client, LlmSettings
    from ct_train.data.steps import Outcome, Step, whole

    (tmp_path / "in").write_text("x")
    step = Step(tmp_path, "s", {}, [tmp_path / "in"], 1)
    made = step.run([1, 2], lambda chunk: Outcome(kept=[{"n": chunk[0]}]))
    whole(tmp_path, "w", {}, [], lambda: {"w.txt": "a"})
    for name in ("s.done.json", "w.done.json"):
        before = (tmp_path / name).read_bytes()
        for torn in (b"", before[: len(before) // 2], b"[]"):
            (tmp_path / name).write_bytes(torn)
            assert step.run([1, 2], lambda chunk: Outcome(kept=[{"n": chunk[0]}])) == made
            whole(tmp_path, "w", {}, [], lambda: {"w.txt": "a"})
            assert (tmp_path / name).read_bytes() == before
    (tmp_path / "r.jsonl").write_bytes(b'{"key": "a", "text": "x", "failures": {}, "last": ""}\n{"key": "b", "te\n')
    with pytest.raises(DataError, match=r"r\.jsonl:2 is damaged; remove that line"):
        Client(LlmSettings(), tmp_path / "r.jsonl")
