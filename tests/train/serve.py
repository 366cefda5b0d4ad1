"""A real `vllm serve` of a small model on the CPU, as trl's `vllm-serve` starts it, less the weight transfer (NCCL needs a GPU)."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def served(model: Path, *, start_s: float = 180) -> Iterator[str]:
    """The server's address, while it runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = model / "server.log"
    command = [
        sys.executable, "-m", "vllm.entrypoints.cli.main", "serve", str(model), "--host", "127.0.0.1", "--port", str(port),
        "--dtype", "float32", "--enforce-eager", "--block-size", "32", "--max-model-len", "512", "--enable-prefix-caching",
        "--no-enable-chunked-prefill", "--max-num-batched-tokens", "8192", "--logprobs-mode", "processed_logprobs", "--max-logprobs", "-1",
    ]
    with log.open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, start_new_session=True, env={"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_SERVER_DEV_MODE": "1", **os.environ})
    url = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + start_s
        while True:
            assert process.poll() is None, log.read_text()[-3000:]
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{url}/health", timeout=2).close()
                break
            assert time.monotonic() < end, log.read_text()[-3000:]
            time.sleep(0.5)
        yield url
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
