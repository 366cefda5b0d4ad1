"""An OpenAI-compatible server (completions and chat) on this machine that drops connections on purpose.

    python benchmarks/dropping_server.py --model FOLDER --port 8765 --drop 0.2 --log served.jsonl

It serves a transformers model, one request after the other, and honours ``seed``: the same prompt, seed and settings give the
same text. Of the connections a share is dropped: some before the model is asked, some in the middle of the reply. Every reply
that went out whole is a line of the log, so that one can count what a client asked for twice.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import json
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class Model:
    """Greedy or sampled continuation, one at a time, from a generator seeded by the request."""

    def __init__(self, folder: str) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.torch = torch
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        self.lock = threading.Lock()
        self.read: tuple[str, Any] = ("", None)

    def text(self, prompt: str, body: dict[str, Any]) -> str:
        """The continuation up to the first stop string (not included) or ``max_tokens``."""
        heat = float(body.get("temperature") or 0)
        sampling = {"do_sample": True, "temperature": heat} if heat else {"do_sample": False}
        ids = self.tokenizer(prompt, return_tensors="pt", add_special_tokens=False)
        with self.lock, self.torch.inference_mode():
            if self.read[0] != prompt:  # repeats of a prompt follow one another; reading it is most of the work
                cache = self.model(ids["input_ids"][:, :-1], use_cache=True).past_key_values
                self.read = (prompt, cache)
            self.torch.manual_seed(int(body.get("seed") or 0))
            out = self.model.generate(
                **ids,
                **sampling,
                past_key_values=copy.deepcopy(self.read[1]),
                max_new_tokens=int(body.get("max_tokens") or 16),
                pad_token_id=self.tokenizer.eos_token_id,
            )
        text = str(self.tokenizer.decode(out[0, ids["input_ids"].shape[1] :], skip_special_tokens=True))
        stops = body.get("stop") or []
        for stop in [stops] if isinstance(stops, str) else stops:
            text = text.split(stop)[0] if stop else text
        return text


class Words:
    """No model: words that follow from prompt and seed, to see the client alone."""

    def text(self, prompt: str, body: dict[str, Any]) -> str:
        """As many words as tokens were asked for, within an answer's tags."""
        draw = random.Random(f"{prompt}/{body.get('seed')}")
        return "[ANSWER]\nassert f(...) == " + " ".join(
            str(draw.randrange(100)) for _ in range(int(body.get("max_tokens") or 16))
        )


def handler(model: Model | Words, drop: float, log: Path, draw: random.Random) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            fate = draw.random()
            if fate < drop / 2:
                self.connection.close()
                return
            chat = "messages" in body
            prompt = json.dumps(body["messages"]) if chat else body["prompt"]
            if chat and isinstance(model, Model):
                prompt = model.tokenizer.apply_chat_template(body["messages"], tokenize=False, add_generation_prompt=True)
            prompt = prompt[0] if isinstance(prompt, list) else str(prompt)
            text = model.text(prompt, body)
            choice = {"index": 0, **({"message": {"role": "assistant", "content": text}} if chat else {"text": text})}
            reply = json.dumps({"id": "0", "object": "text_completion", "model": "local", "choices": [choice]}).encode()
            try:
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                if fate < drop:
                    self.wfile.write(reply[: len(reply) // 2])
                    self.wfile.flush()
                    self.connection.close()
                    return
                self.wfile.write(reply)
            except OSError:
                return  # the client was killed
            key = hashlib.sha256(json.dumps([prompt, body.get("seed")]).encode()).hexdigest()[:24]
            with log.open("a") as file:
                file.write(json.dumps({"key": key}) + "\n")

        def log_message(self, *_: Any) -> None:
            """Nothing on the terminal."""

    return Handler


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="folder of a model, or words: no model at all")
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--drop", type=float, default=0.2, help="share of connections that are dropped")
    parser.add_argument("--log", type=Path, default=Path("served.jsonl"))
    args = parser.parse_args()
    made = handler(Words() if args.model == "words" else Model(args.model), args.drop, args.log, random.Random(0))
    server = ThreadingHTTPServer(("127.0.0.1", args.port), made)
    print(f"listening on {server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
