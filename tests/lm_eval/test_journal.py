"""The journal: kills, torn lines, full disks, two writers; and a real sampled run killed and resumed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from types import SimpleNamespace

import pytest

from ct_tasks.errors import ConfigError, HarnessError
from ct_tasks.lm_eval.journal import Journal, journaled, journaled_with_seeds, keys
from ct_tasks.reply import Ending, Reply


def request(task, doc, prompt="p", **settings):
    return SimpleNamespace(task_name=task, doc_id=doc, idx=0, args=(prompt, settings))


class Model:
    """Random texts from the seeded generator; counts what it was asked and dies when told to."""

    def __init__(self, die_after=10**9):
        self.asked, self.die_after = Counter(), die_after

    def generate_until(self, requests):
        import random

        if self.die_after <= 0:
            raise KeyboardInterrupt
        self.die_after -= 1
        self.asked.update(f"{r.task_name}{r.doc_id}" for r in requests)
        return [str(random.random()) for _ in requests]


def requests():
    one = [request("t", i) for i in range(25)]
    return [r for r in one for _ in range(3)]


def run(folder, model):
    journal = Journal(folder)
    try:
        return journaled(model.generate_until, journal, chunk=7, seed=1)(requests())
    finally:
        journal.close()


def test_killed_anywhere_equals_never_killed(tmp_path):
    whole = run(tmp_path / "whole", Model())
    assert len(set(whole)) == 75
    for kill in (0, 1, 5, 10):
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path / f"k{kill}", Model(kill))
        again = Model()
        assert run(tmp_path / f"k{kill}", again) == whole
        assert sum(again.asked.values()) == 75 - 7 * kill
        rows = [json.loads(line)["key"] for line in (tmp_path / f"k{kill}" / "generations.jsonl").read_text().splitlines()]
        assert len(rows) == len(set(rows)) == 75


def test_a_torn_last_line_is_repaired(tmp_path):
    whole = run(tmp_path, Model())
    path = tmp_path / "generations.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:14]) + lines[14][:20])
    assert run(tmp_path, Model()) == whole
    path.write_bytes(b"nonsense\n" + path.read_bytes())
    with pytest.raises(ConfigError, match=r"generations\.jsonl:1 is damaged"):
        Journal(tmp_path)


def test_two_writers_are_refused(tmp_path):
    first = Journal(tmp_path)
    with pytest.raises(ConfigError, match="another run"):
        Journal(tmp_path)
    first.close()
    Journal(tmp_path).close()


def test_repeats_and_settings_have_keys_of_their_own():
    assert len(set(keys(requests()))) == 75
    assert keys([request("t", 0, until=["a"])]) != keys([request("t", 0, until=["b"])])
    assert keys([request("t", 0, "p")]) != keys([request("t", 0, "q")])


@pytest.mark.slow
def test_a_full_disk_loses_nothing(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)], capture_output=True).returncode:
        pytest.skip("no right to mount a small disk")
    try:
        journal = Journal(disk)
        texts = journaled(lambda r: ["x" * 900] * len(r), journal, chunk=3, seed=0)
        with pytest.raises(HarnessError, match="is full"):
            texts([request("t", i) for i in range(60)])
        journal.close()
        rows = (disk / "generations.jsonl").read_text().splitlines()
        assert rows
        assert all(json.loads(line)["text"] == "x" * 900 for line in rows)
        assert len(rows) % 3 == 0
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.slow
@pytest.mark.model
def test_a_real_sampled_run_survives_kill(smollm2, tmp_path):
    arguments = ["--chunk", "4", "--model", "hf", "--model_args", f"pretrained={smollm2},dtype=float32", "--device", "cpu", "--tasks", "ct_mini", "--limit", "4", "--batch_size", "4", "--apply_chat_template",
                 "--metadata", '{"paradigm": "direct", "repeats": 3}', "--gen_kwargs", "max_gen_toks=12,do_sample=True,temperature=0.9"]

    def start(folder):
        return subprocess.Popen([sys.executable, "-m", "ct_tasks", "run", "--run_dir", str(folder), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    whole = start(tmp_path / "whole")
    assert whole.wait(1200) == 0, whole.stderr.read()[-3000:]
    killed = start(tmp_path / "killed")
    journal = tmp_path / "killed" / "generations.jsonl"
    while killed.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") >= 4):
        time.sleep(0.05)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert 4 <= journal.read_bytes().count(b"\n") <= 12
    resumed = start(tmp_path / "killed")
    assert resumed.wait(1200) == 0, resumed.stderr.read()[-3000:]

    def results(folder):
        return json.loads(next((folder / "results").rglob("results_*.json")).read_text())["results"]["ct_mini"]

    def texts(folder):
        return {r["key"]: r["text"] for r in map(json.loads, (folder / "generations.jsonl").read_text().splitlines())}

    assert texts(tmp_path / "whole") == texts(tmp_path / "killed")
    assert len(texts(tmp_path / "whole")) == 12
    assert results(tmp_path / "whole") == results(tmp_path / "killed")


class Seeded:
    """A server's client: the text follows from the seed that came with the request, and from nothing else."""

    def __init__(self, fail_at=10**9):
        self.asked, self.fail_at = Counter(), fail_at

    def generate_until(self, requests):
        out = []
        for r in requests:
            if sum(self.asked.values()) >= self.fail_at:
                raise ConnectionError("the server is gone")
            self.asked[r.doc_id, r.args[1]["seed"]] += 1
            out.append(f"{r.args[0]} {r.args[1]['seed']}")
        return out


def run_seeded(folder, model, workers, at_once=1):
    journal = Journal(folder)
    try:
        return journaled_with_seeds(model.generate_until, journal, at_once=at_once, workers=workers, seed=1)(requests())
    finally:
        journal.close()


@pytest.mark.parametrize("workers", [1, 3])
def test_requests_with_their_own_seed_are_asked_once_each(tmp_path, workers):
    whole = run_seeded(tmp_path / "whole", Seeded(), workers)
    assert len(set(whole)) == 75  # a repeat has a seed of its own
    first, second = Seeded(fail_at=20), Seeded()
    with pytest.raises(ConnectionError):
        run_seeded(tmp_path / "cut", first, workers)
    assert run_seeded(tmp_path / "cut", second, workers) == whole
    assert run_seeded(tmp_path / "at once", Seeded(), 1, at_once=16) == whole
    asked = first.asked + second.asked
    assert len(asked) == 75
    assert sum(asked.values()) - 75 <= workers  # only what was under way when the server went away


def test_a_chunk_torn_between_its_rows_is_not_written_twice(tmp_path):
    whole = run(tmp_path, Model())
    path = tmp_path / "generations.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:10]))
    assert run(tmp_path, Model()) == whole
    names = [json.loads(line)["key"] for line in path.read_text().splitlines()]
    assert len(names) == len(set(names)) == 75


def test_going_on_with_other_data_is_refused(tmp_path):
    from ct_tasks.cli.run import _keep_data

    def tasks(text):
        return {"group": {"t": SimpleNamespace(eval_docs=[{"question": text}])}}

    _keep_data(tmp_path, tasks("a"), 0)
    _keep_data(tmp_path, tasks("a"), 5)
    with pytest.raises(ConfigError, match="other data of t"):
        _keep_data(tmp_path, tasks("b"), 5)
    assert json.loads((tmp_path / "data.json").read_text())["t"]["documents"] == 1


ODD = "a\u2028\u2029\u0085\x0b\x0c\x1c\r\n\ud800b"


class Telling:
    """A model whose replies say how they ended."""

    def generate_until(self, requests):
        return [Reply(f"{r.doc_id} {ODD}", Ending("length", None, 7, "so") if r.doc_id % 2 else Ending("stop", "")) for r in requests]


@pytest.mark.parametrize("seeded", [False, True])
def test_what_is_known_of_a_reply_outlives_a_kill(tmp_path, seeded):
    def ask(model):
        journal = Journal(tmp_path)
        try:
            if seeded:
                return journaled_with_seeds(model.generate_until, journal, at_once=2, workers=1, seed=1)(asked)
            return journaled(model.generate_until, journal, chunk=2, seed=1)(asked)
        finally:
            journal.close()

    asked = [request("t", i) for i in range(4)]
    first = ask(Telling())
    again = ask(SimpleNamespace(generate_until=lambda requests: pytest.fail("all of them are in the journal")))
    assert again == first == [f"{i} {ODD}" for i in range(4)]
    assert [r.ending for r in again] == [r.ending for r in first] == [Ending("stop", ""), Ending("length", None, 7, "so")] * 2
    rows = [json.loads(line) for line in (tmp_path / "generations.jsonl").read_bytes().split(b"\n")[:-1]]
    assert [row.get("finish_reason") for row in rows] == ["stop", "length"] * 2
    assert [row.get("reasoning") for row in rows] == [None, "so"] * 2


def test_a_journal_of_an_older_release_is_read(tmp_path):
    (tmp_path / "generations.jsonl").write_text('{"key": "k", "text": "a\u2028b"}\n')
    journal = Journal(tmp_path)
    assert journal.done == {"k": "a\u2028b"}
    assert journal.done["k"].ending == Ending()
    journal.close()
    (tmp_path / "generations.jsonl").write_text('{"key": "k", "text": "a"}\n{"key": "l", "text": null}\n')
    with pytest.raises(ConfigError, match=r"generations\.jsonl:2 is damaged"):
        Journal(tmp_path)
