"""Make ``micro.jsonl``: ``python -m ct_tasks.benchmarks.micro.build [--check]``. 512 held-out programs, all levels alike."""

from __future__ import annotations

import argparse
import itertools
import json

from ct_tasks.benchmarks.micro import FILE
from ct_tasks.benchmarks.micro.programs import stream
from ct_tasks.contra import literals
from ct_tasks.contra.tracer import trace_call

ROWS, SEED, STATEMENTS = 512, 2026, (1, 3)


def text() -> str:
    """The file's text. The programs are the project's own, so they run in this process."""
    out = []
    for number, sample in enumerate(itertools.islice(stream(SEED, statements=STATEMENTS, held=True), ROWS)):
        truth = trace_call(sample.code, sample.call)
        row = {
            "id": f"micro/{number}",
            "level": sample.level,
            "entry": "f",
            "code": sample.code,
            "call": sample.call,
            "output": literals.dump(truth.returned),
        }
        out.append(json.dumps(row) + "\n")
    return "".join(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare with the file; exit 1 on a difference")
    if parser.parse_args().check:
        raise SystemExit(text() != FILE.read_text(encoding="utf-8"))
    FILE.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
