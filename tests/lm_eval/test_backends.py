"""One model, greedy, float32: hf, an OpenAI-compatible server and vLLM give the same verdicts, and know why a reply ended."""

import json
import os
import subprocess
import sys

import pytest

from tests.lm_eval.serve import served

pytestmark = [pytest.mark.slow, pytest.mark.model]
ROOM = {"chat": 60, "base": 100}  # some of the five replies end before, some do not


def run(folder, mode, *model, python=sys.executable, **env):
    chat = ["--apply_chat_template"] if mode == "chat" else []
    command = [python, "-m", "ct_tasks", "run", "--run_dir", str(folder), "--tasks", "ct_mini", "--limit", "5", "--metadata", '{"paradigm": "direct"}',
               "--gen_kwargs", f"max_gen_toks={ROOM[mode]}", *chat, *model]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, env={**os.environ, **env})
    assert done.returncode == 0, done.stderr[-3000:]
    (path,) = (folder / "results").rglob("samples_*.jsonl")
    samples = sorted(map(json.loads, path.read_text().splitlines()), key=lambda row: row["doc_id"])
    verdicts = [json.loads(row) for sample in samples for row in sample["filtered_resps"][0]]
    journal = [json.loads(line) for line in (folder / "generations.jsonl").read_text().splitlines()]
    return [text for sample in samples for text in sample["resps"][0]], verdicts, {row["text"]: row for row in journal}


def hf(folder, mode, model):
    return run(folder, mode, "--model", "hf", "--model_args", f"pretrained={model},dtype=float32", "--device", "cpu", "--batch_size", "1")


def same(one, other):
    assert one[0] == other[0]
    for verdicts in zip(one[1], other[1], strict=True):
        mine, theirs = ({k: v for k, v in row.items() if k != "ending"} for row in verdicts)
        assert mine == theirs
        assert len({(v["ending"]["finish_reason"], v["ending"]["tokens"], v["ending"]["truncated"]) for v in verdicts}) == 1


@pytest.mark.parametrize("mode", ["chat", "base"])
def test_hf_and_a_server_of_the_same_weights_agree(smollm2, tmp_path, mode):
    mine = hf(tmp_path / "hf", mode, smollm2)
    with served(smollm2) as server:
        place = f"http://127.0.0.1:{server.server_address[1]}/v1/{'chat/' if mode == 'chat' else ''}completions"
        kind = "local-chat-completions" if mode == "chat" else "local-completions"
        theirs = run(tmp_path / "server", mode, "--model", kind, "--model_args", f"model=m,base_url={place},tokenizer_backend=None,tokenized_requests=False")
        stops = {json.dumps(body.get("stop")) for body in server.asked}
    assert stops == ({"null"} if mode == "chat" else {'["[/ANSWER]"]'})  # what the chat prompt teaches is not sent
    same(mine, theirs)
    for texts, verdicts, journal in (mine, theirs):
        reasons = [v["ending"]["finish_reason"] for v in verdicts]
        assert set(reasons) == {"stop", "length"}, reasons
        assert [journal[text]["finish_reason"] for text in texts] == reasons
        assert all(v["tokens_out"] == ROOM[mode] for v, reason in zip(verdicts, reasons, strict=True) if reason == "length")
        assert all(0 < v["tokens_out"] <= ROOM[mode] for v in verdicts)


@pytest.mark.parametrize("mode", ["chat", "base"])
def test_vllm_agrees(smollm2, tmp_path, mode):
    """``VLLM_PYTHON``: the Python of an environment that has vLLM (docs/models.md) and this package."""
    python = os.environ.get("VLLM_PYTHON")
    if not python:
        pytest.skip("VLLM_PYTHON does not name an environment with vLLM")
    arguments = f"pretrained={smollm2},dtype=float32,enforce_eager=True,block_size=32,max_model_len=2048"
    engine = run(tmp_path / "vllm", mode, "--model", "vllm", "--model_args", arguments, "--batch_size", "auto", python=python, VLLM_CPU_KVCACHE_SPACE="1")
    same(hf(tmp_path / "hf", mode, smollm2), engine)
