"""An OpenAI-compatible server over transformers on this machine: greedy, one request at a time, the same weights as ``hf``."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Greedy:
    """A causal model that says, as a server does, why a reply ended and how many tokens it took."""

    def __init__(self, folder):
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.torch = torch
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()

    def reply(self, prompt, room, stops):
        ids = self.tokenizer(prompt, return_tensors="pt", add_special_tokens=False).input_ids
        end = self.model.generation_config.eos_token_id
        made, text, cache, last = [], "", None, ids
        with self.torch.no_grad():
            while len(made) < room:
                out = self.model(last, past_key_values=cache, use_cache=True)
                cache, token = out.past_key_values, int(out.logits[0, -1].argmax())
                made.append(token)
                if token == end:
                    return text, "stop", len(made)
                text, last = self.tokenizer.decode(made, skip_special_tokens=True), self.torch.tensor([[token]])
                cut = min((at for s in stops if (at := text.find(s)) >= 0), default=None)
                if cut is not None:  # the stop string is taken away, as OpenAI's API does
                    return text[:cut], "stop", len(made)
        return text, "length", len(made)


class Server(ThreadingHTTPServer):
    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Handler)
        self.model, self.lock, self.asked = Greedy(folder), threading.Lock(), []


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        chat = self.path.endswith("/chat/completions")
        with self.server.lock:
            self.server.asked.append(body)
            model = self.server.model
            prompt = model.tokenizer.apply_chat_template(body["messages"], tokenize=False, add_generation_prompt=True) if chat else body["prompt"]
            text, reason, tokens = model.reply(prompt, body["max_tokens"], body.get("stop") or [])
        choice = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        reply = json.dumps({"choices": [{"index": 0, "finish_reason": reason, **choice}], "usage": {"completion_tokens": tokens}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


@contextmanager
def served(folder):
    """The server, while it runs."""
    server = Server(folder)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
