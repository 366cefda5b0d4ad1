"""The client for OpenAI-compatible servers against a scripted one: retries, no lost or doubled row, a clear end."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from stub_server import FAULTS, Stub, cycle, serve

from ct_tasks.errors import ConfigError, HarnessError
from ct_train.data.inputs import fill
from ct_train.data.llm import Client, LlmSettings, Request, json_reply
from ct_train.data.llm_inputs import LlmInputs

PROGRAM = "def f{i}(n: int) -> int:\n    return n + {i}\n"


def settings(url: str, **more: object) -> LlmSettings:
    base = {"base_url": url, "model": "stub", "tries": 5, "timeout_s": 1.0, "backoff_s": 0.01, "max_backoff_s": 0.05}
    return LlmSettings(**{**base, **more})  # type: ignore[arg-type]


def rows(count: int) -> list[dict[str, object]]:
    return [
        {
            "id": f"t{i}",
            "program": PROGRAM.format(i=i),
            "entry": f"f{i}",
            "lines": 1,
            "difficulty": None,
            "examples": [],
        }
        for i in range(count)
    ]


def calls(prompt: str) -> str:
    entry = re.findall(r"def (f\d+)", prompt)[-1]
    return json.dumps({"inputs": [f"{entry}({k})" for k in range(6)] + [f"{entry}('text')"]})


@pytest.mark.slow
def test_every_kind_of_bad_reply_is_tried_again_and_no_row_is_lost_or_doubled(tmp_path: Path) -> None:
    with serve(Stub(calls, cycle)) as stub:
        out = fill(rows(24), [LlmInputs(settings(stub.url), tmp_path / "replies.jsonl")], 5, 600)
    assert [r["id"] for r in out.kept] == [f"t{i}" for i in range(24)]
    for i, row in enumerate(out.kept):
        assert [g["call"] for g in row["inputs"]] == [f"f{i}({k})" for k in range(5)]
        assert {g["origin"] for g in row["inputs"]} == {"llm"}
    kinds = {"malformed", "timeout", "empty", "429", "500", "connection"}
    assert kinds <= {name.split()[1] for name in out.counts if name.endswith("replies")}
    assert set(stub.served.values()) == {1}  # one good reply a prompt, asked for once
    journal = [json.loads(line) for line in (tmp_path / "replies.jsonl").read_text().splitlines()]
    assert len(journal) == len({row["key"] for row in journal}) == 24
    assert all(body["response_format"]["json_schema"]["schema"]["required"] == ["inputs"] for body in stub.bodies)


@pytest.mark.parametrize("fault", [f for f in FAULTS if f not in ("slow", "dropped connection")])
def test_a_request_that_always_fails_ends_with_its_reason(tmp_path: Path, fault: str) -> None:
    with serve(Stub(calls, lambda prompt: [fault] * 99)) as stub:
        out = fill(rows(1), [LlmInputs(settings(stub.url, tries=3), tmp_path / "r.jsonl")], 5, 600)
    kind = {"not json": "malformed", "no choices": "malformed"}.get(fault, fault)
    assert out.counts[f"llm: {kind} replies"] == 3
    assert out.counts["llm: functions given up"] == 1
    assert [r["reason"] for r in out.dropped] == ["no_input"]
    assert sum(stub.seen.values()) == 3


def test_known_replies_are_not_asked_for_again_and_a_torn_line_is(tmp_path: Path) -> None:
    journal = tmp_path / "r.jsonl"
    requests = [Request(f"def f{i} ", lambda text: None) for i in range(4)]
    with serve(Stub(calls, lambda prompt: [])) as stub:
        first = Client(settings(stub.url), journal).ask_all(requests)
        whole = journal.read_bytes()
        journal.write_bytes(whole[:-20])  # what a kill in the middle of a write leaves
        again = Client(settings(stub.url), journal).ask_all(requests)
        assert sorted(stub.served.values()) == [1, 1, 1, 2]
        assert again == first
        patient = Client(settings(stub.url, timeout_s=9.0, concurrency=2), journal).ask_all(requests)
        assert patient == first
    assert sum(stub.served.values()) == 5
    assert len(journal.read_text().splitlines()) == 4


def test_an_unreachable_server_ends_the_run_with_a_word_on_what_to_do(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        with pytest.raises(HarnessError, match=r"no server answers at .*llm\.base_url"):
            Client(settings(url, tries=2), tmp_path / "r.jsonl").ask_all([Request("def f0", lambda text: None)])


def test_a_refused_request_is_not_repeated(tmp_path: Path) -> None:
    with serve(Stub(calls, lambda prompt: ["400"] * 9)) as stub:
        with pytest.raises(ConfigError, match=r"llm\.structured=false"):
            Client(settings(stub.url), tmp_path / "r.jsonl").ask_all([Request("def f0", lambda text: None)])
        assert sum(stub.seen.values()) == 1


def test_thinking_and_fences_do_not_hide_the_json() -> None:
    assert json_reply('<think>{"a": 1}</think>\n```json\n{"b": 2}\n```') == {"b": 2}
    with pytest.raises(ValueError, match="Expecting"):
        json_reply("no json")


KILLED = """
import os, signal, sys
from pathlib import Path
from ct_train.data import llm, steps
count = [0]
real = llm.settle
def settle(file):
    real(file)
    count[0] += 1
    if count[0] == 3:
        os.kill(os.getpid(), signal.SIGKILL)
llm.settle = settle
from ct_train.data.inputs import fill
from ct_train.data.llm_inputs import LlmInputs
def rows(count):
    program = "def f{i}(n: int) -> int:\\n    return n + {i}\\n"
    return [
        {"id": f"t{i}", "program": program.format(i=i), "entry": f"f{i}", "lines": 1, "difficulty": None, "examples": []}
        for i in range(count)
    ]
settings = llm.LlmSettings(base_url=sys.argv[1], model="stub", tries=5, timeout_s=1.0, backoff_s=0.01, max_backoff_s=0.05)
fill(rows(8), [LlmInputs(settings, Path(sys.argv[2]))], 5, 600)
"""


@pytest.mark.slow
def test_a_client_that_is_killed_goes_on_without_asking_twice(tmp_path: Path) -> None:
    journal = tmp_path / "r.jsonl"
    root = Path(__file__).parents[3]
    with serve(Stub(calls, lambda prompt: [])) as stub:
        done = subprocess.run(
            [sys.executable, "-c", KILLED, stub.url, str(journal)],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)},
            check=False,
        )
        assert done.returncode == -signal.SIGKILL
        finished = len(journal.read_text().splitlines())
        assert finished == 3
        before = sum(stub.served.values())
        out = fill(rows(8), [LlmInputs(settings(stub.url), journal)], 5, 600)
        assert sum(stub.served.values()) - before == 8 - finished
    assert [r["id"] for r in out.kept] == [f"t{i}" for i in range(8)]
    assert len({json.loads(line)["key"] for line in journal.read_text().splitlines()}) == 8
