"""A sampled run of SmolLM2 killed at random moments and once with a full disk, beside the same run left alone.

    python benchmarks/run_survives.py --backend hf --out results/run_survives.md
    python benchmarks/run_survives.py --backend chat --out results/run_survives.md      # completions, chat: a server that drops connections

The folder of the killed run lies on a small tmpfs (needs the right to mount). It fills up first; the disk is then made larger,
and the same command is killed with SIGKILL at five random moments before it may end. Compared: every text, and lm-eval's
results. Counted: generations that came back whole to the process (hf) or left the server whole (completions, chat), so that
each beyond the number of requests is one that was made twice.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from ct_tasks import demo_model

HERE = Path(__file__).parent


def child(log: str, arguments: list[str]) -> int:
    """``ct_tasks run`` with a line in ``log`` for each sequence that the hf model has finished."""
    import hashlib

    from ct_tasks.cli.main import main as command

    if "hf" not in arguments:  # a server counts for itself
        return command(arguments)
    from lm_eval.models.huggingface import HFLM

    generate = HFLM._model_generate

    def counted(self: Any, context: Any, **kwargs: Any) -> Any:
        out = generate(self, context, **kwargs)
        with open(log, "a") as file:
            for row in out:
                file.write(json.dumps({"key": hashlib.sha256(str(row.tolist()).encode()).hexdigest()[:24]}) + "\n")
        return out

    HFLM._model_generate = counted
    return command(arguments)


class Runs:
    """The command, started in a folder, with its log of finished generations."""

    def __init__(self, args: argparse.Namespace, port: int) -> None:
        model = str(demo_model.path())
        if args.backend == "hf":
            backend = [
                "--model",
                "hf",
                "--device",
                "cpu",
                "--batch_size",
                str(args.chunk),
                "--model_args",
                f"pretrained={model},dtype=float32",
                "--apply_chat_template",
            ]
        else:
            kind, path = {
                "completions": ("local-completions", "completions"),
                "chat": ("local-chat-completions", "chat/completions"),
            }[args.backend]
            settings = f"model=local,base_url=http://127.0.0.1:{port}/v1/{path},num_concurrent=3,max_retries=8,tokenized_requests=False,tokenizer_backend=None"
            backend = [
                "--model",
                kind,
                "--model_args",
                settings,
                *(["--apply_chat_template"] if args.backend == "chat" else []),
            ]
        metadata = json.dumps(
            {"paradigm": "direct", "shots": 0, "repeats": args.repeats, **({} if args.words else {"tokenizer": model})}
        )
        self.arguments = ["--chunk", str(args.chunk), *backend, "--tasks", "ct_mini", "--limit", str(args.limit), "--metadata", metadata,
                          "--gen_kwargs", f"max_gen_toks={args.tokens},do_sample=True,temperature=0.9"]  # fmt: skip

    def start(self, folder: Path, log: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, __file__, "--child", str(log), "run", "--run_dir", str(folder), *self.arguments]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=(log.parent / "stderr.txt").open("ab"))


def rows(folder: Path) -> list[dict[str, Any]]:
    path = folder / "generations.jsonl"
    return [json.loads(line) for line in path.read_bytes().splitlines() if line.endswith(b"}")] if path.exists() else []


def results(folder: Path) -> Any:
    return json.loads(next((folder / "results").rglob("results_*.json")).read_text())["results"]


def lines(log: Path) -> list[str]:
    return [json.loads(line)["key"] for line in log.read_text().splitlines()] if log.exists() else []


def survive(runs: Runs, folder: Path, log: Path, args: argparse.Namespace, say: Any) -> None:
    """The run with everything that happens to it."""
    draw = random.Random(args.seed)
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={args.disk_kib}k", "tmpfs", str(folder)], check=True)
    code = runs.start(folder, log).wait()
    say(f"disk of {args.disk_kib} KiB full: exit code {code}, {len(rows(folder))} generations kept")
    subprocess.run(["mount", "-o", "remount,size=64m", str(folder)], check=True)
    for number in range(args.kills):
        process = runs.start(folder, log)
        before, wanted = len(rows(folder)), draw.randrange(0, 16)
        while process.poll() is None and len(rows(folder)) < before + wanted:
            time.sleep(0.02)
        time.sleep(draw.uniform(0, 3))
        process.send_signal(signal.SIGKILL)
        process.wait()
        say(f"kill {number + 1}: exit code {process.returncode}, {before} -> {len(rows(folder))} generations kept")
    code = runs.start(folder, log).wait()
    say(f"last start: exit code {code}, {len(rows(folder))} generations kept")
    if code:
        raise SystemExit((log.parent / "stderr.txt").read_text()[-3000:])


def main() -> int:
    if "--child" in sys.argv:
        return child(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=("hf", "completions", "chat"), default="hf")
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=12)
    parser.add_argument("--chunk", type=int, default=4)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--disk_kib", type=int, default=12)
    parser.add_argument("--drop", type=float, default=0.2)
    parser.add_argument(
        "--words", action="store_true", help="a server without a model: words that follow from prompt and seed"
    )
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    parser.add_argument("--out", type=Path, help="append a section to this file")
    args = parser.parse_args()
    said: list[str] = []

    def say(text: str) -> None:
        print(text, flush=True)
        said.append(f"- {text}")

    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        served = root / "served.jsonl"
        server = None
        if args.backend != "hf":
            server = subprocess.Popen(
                [
                    sys.executable,
                    str(HERE / "dropping_server.py"),
                    "--model",
                    "words" if args.words else str(demo_model.path()),
                    "--port",
                    str(args.port),
                    "--drop",
                    str(args.drop),
                    "--log",
                    str(served),
                ],
                stdout=subprocess.PIPE,
            )
            assert server.stdout is not None
            server.stdout.readline()
        try:
            runs = Runs(args, args.port)
            start = time.time()
            code = runs.start(root / "whole", root / "whole.log").wait()
            alone = lines(served) if server else lines(root / "whole.log")
            say(
                f"left alone: exit code {code}, {len(rows(root / 'whole'))} generations, {len(alone)} made, {time.time() - start:.0f} s"
            )
            if code:
                print((root / "stderr.txt").read_text()[-3000:], file=sys.stderr)
                return 1
            served.unlink(missing_ok=True)
            try:
                survive(runs, root / "killed", root / "killed.log", args, say)
                made = lines(served) if server else lines(root / "killed.log")
                whole, killed = ({r["key"]: r["text"] for r in rows(root / name)} for name in ("whole", "killed"))
                kept = [r["key"] for r in rows(root / "killed")]
                same = results(root / "whole") == results(root / "killed")
            finally:
                subprocess.run(["umount", str(root / "killed")], check=False)
            different = sum(whole[k] != killed.get(k) for k in whole)
            say(
                f"texts that differ: {different} of {len(whole)}; distinct texts {len(set(whole.values()))}; journal rows {len(kept)}, of them repeated {len(kept) - len(set(kept))}; lm-eval results equal: {same}"
            )
            wanted = args.limit * args.repeats
            twice = Counter(made)
            say(
                f"generations made: {len(made)} for {wanted} requests, beyond the need {len(made) - wanted} (replies on their way when a kill or the full disk came); made most often: {max(twice.values())}"
            )
        finally:
            if server:
                server.kill()
                server.wait()
    if args.out:
        head = f"## {args.backend}\n\n`python benchmarks/run_survives.py {' '.join(a for a in sys.argv[1:] if not a.startswith('/'))}`, {time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores\n\n"
        with args.out.open("a") as file:
            file.write(head + "\n".join(said) + "\n\n")
    return 0 if not different and same else 1


if __name__ == "__main__":
    raise SystemExit(main())
