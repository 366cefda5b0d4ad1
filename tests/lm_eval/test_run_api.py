"""A sampled run against an OpenAI-compatible server that drops connections, killed and gone on with: lm_eval's own client."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Server(ThreadingHTTPServer):
    """Answers with a text that follows from prompt and seed. Every fourth connection is dropped, in turn before and in the
    middle of the reply."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.calls, self.sent, self.dropped, self.lock = 0, Counter(), 0, threading.Lock()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.calls += 1
            call = self.server.calls
        time.sleep(0.05)
        key = (body["messages"][0]["content"], body["seed"])
        reply = json.dumps({"choices": [{"index": 0, "message": {"content": text(*key)}}]}).encode()
        if call % 4 == 0:
            self.server.dropped += 1
            if call % 8 == 0:
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(reply), reply[:5]))
                self.wfile.flush()
            self.connection.close()
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)
        with self.server.lock:
            self.server.sent[key] += 1

    def log_message(self, *_):
        pass


def text(prompt, seed):
    return f"[ANSWER]\nassert f(...) == {(len(prompt) + seed) % 7}\n[/ANSWER]"


@pytest.mark.slow
def test_dropped_connections_and_a_kill(tmp_path):
    server = Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings = f"model=m,base_url=http://127.0.0.1:{server.server_address[1]}/v1/chat/completions,num_concurrent=3,max_retries=9,tokenizer_backend=None,tokenized_requests=False"
    command = [sys.executable, "-m", "ct_tasks", "run", "--run_dir", str(tmp_path), "--model", "local-chat-completions", "--model_args", settings, "--apply_chat_template", "--tasks", "ct_mini",
               "--limit", "10", "--metadata", '{"paradigm": "direct", "repeats": 3}', "--gen_kwargs", "do_sample=True,temperature=0.9"]  # fmt: skip
    journal = tmp_path / "generations.jsonl"
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while first.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") >= 5):
        time.sleep(0.01)
    first.send_signal(signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    kept = journal.read_bytes().count(b"\n")
    assert 5 <= kept < 30
    done = subprocess.run(command, capture_output=True, text=True)
    server.shutdown()
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [json.loads(line) for line in journal.read_text().splitlines()]
    assert len(rows) == len({r["key"] for r in rows}) == 30
    assert len({r["seed"] for r in rows}) == 30  # lm_eval itself would send 1234 with every repeat
    assert server.dropped >= 5
    assert len(server.sent) == 30
    assert sum(server.sent.values()) - 30 <= 3  # what was on its way to the killed process
    samples = [json.loads(line) for line in next(tmp_path.rglob("samples_*.jsonl")).read_text().splitlines()]
    by_document = {}
    for row in rows:
        by_document.setdefault(int(row["key"].split("/")[1]), []).append((int(row["key"].rsplit("/", 1)[1]), row["seed"]))
    for sample in samples:
        prompt = json.loads(sample["arguments"]["gen_args_0"]["arg_0"][0])[0]["content"]
        assert sample["resps"][0] == [text(prompt, seed) for _, seed in sorted(by_document[sample["doc_id"]])]
