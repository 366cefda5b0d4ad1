"""A scripted OpenAI-compatible server: what it answers, in which order, is the test's."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FAULTS = ("malformed", "slow", "empty", "429", "500", "not json", "no choices", "dropped connection")


class Stub:
    """``good(prompt)`` is the right reply. Each prompt first meets the faults of ``script(prompt)``, one a request."""

    def __init__(self, good: Callable[[str], str], script: Callable[[str], Sequence[str]], slow_s: float = 2.0) -> None:
        self.good, self.script, self.slow_s = good, script, slow_s
        self.lock = threading.Lock()
        self.seen: dict[str, int] = {}
        self.served: dict[str, int] = {}
        self.bodies: list[dict[str, Any]] = []
        self.url = ""

    def next_fault(self, body: dict[str, Any]) -> str:
        prompt = body["messages"][0]["content"]
        with self.lock:
            self.bodies.append(body)
            number = self.seen.get(prompt, 0)
            self.seen[prompt] = number + 1
            script = self.script(prompt)
            fault = script[number] if number < len(script) else ""
            if not fault:
                self.served[prompt] = self.served.get(prompt, 0) + 1
            return fault


def cycle(prompt: str, count: int = 2) -> list[str]:
    """``count`` faults that depend on the prompt alone."""
    start = int(hashlib.sha256(prompt.encode()).hexdigest(), 16)
    return [FAULTS[(start + i) % len(FAULTS)] for i in range(count)]


@contextmanager
def serve(stub: Stub) -> Iterator[Stub]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: Any) -> None:
            """Quiet."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            fault = stub.next_fault(body)
            text = stub.good(body["messages"][0]["content"])
            if fault == "dropped connection":
                self.close_connection = True
                return
            if fault == "slow":
                time.sleep(stub.slow_s)
            if fault in ("429", "500"):
                self.reply(
                    int(fault),
                    {"error": {"message": f"scripted {fault}"}},
                    {"Retry-After": "0"} if fault == "429" else {},
                )
                return
            if fault == "400":
                self.reply(400, {"error": {"message": "response_format is not supported"}})
                return
            text = {"malformed": text[: len(text) // 2], "empty": ""}.get(fault, text)
            whole: dict[str, Any] = {
                "id": "x",
                "object": "chat.completion",
                "created": 0,
                "model": "stub",
                "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
            }
            if fault == "no choices":
                whole["choices"] = []
            self.reply(200, "{broken" if fault == "not json" else whole)

        def reply(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
            data = (body if isinstance(body, str) else json.dumps(body)).encode()
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                self.close_connection = True  # a client that gave a slow reply up

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    stub.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
