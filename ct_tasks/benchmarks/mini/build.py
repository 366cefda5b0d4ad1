"""Make ``mini.jsonl`` from ``programs/*.txt``: ``python -m ct_tasks.benchmarks.mini.build [--check]``.

A source file is a sequence of programs: a line ``=== name``, one ``call: ...`` line for each input, then the code. The
programs are the project's own, so they are run here in this process.
"""

from __future__ import annotations

import argparse
import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ct_tasks.benchmarks.mini import FILE
from ct_tasks.contra import literals
from ct_tasks.errors import DataError

SOURCES = Path(__file__).with_name("programs")


@dataclass(frozen=True, slots=True)
class Entry:
    """One program with its calls."""

    topic: str
    name: str
    code: str
    calls: tuple[str, ...]


def entries() -> Iterator[Entry]:
    """All programs, by file name and position. Raises ``DataError`` for one without a call or with a name used twice."""
    seen: set[str] = set()
    for path in sorted(SOURCES.glob("*.txt")):
        for part in path.read_text(encoding="utf-8").split("=== ")[1:]:
            name, _, rest = part.partition("\n")
            lines = rest.split("\n")
            calls = [line.removeprefix("call: ") for line in lines if line.startswith("call: ")]
            code = "\n".join(line for line in lines if not line.startswith("call: ")).strip("\n")
            if not calls or name in seen:
                raise DataError(f"{path.name}: program {name!r} has no call, or its name is used twice")
            seen.add(name)
            yield Entry(path.stem, name, code, tuple(calls))


def rows() -> Iterator[dict[str, str]]:
    """One row a call, its output computed now. Raises ``DataError`` where a result has no literal text."""
    for entry in entries():
        for number, call in enumerate(entry.calls):
            namespace: dict[str, object] = {"__name__": "program"}
            exec(compile(entry.code, entry.name, "exec"), namespace)
            value = eval(call, namespace)
            try:
                output = literals.dump(value)
            except literals.LiteralError as error:
                raise DataError(f"{entry.name}: {call} returns what no literal expresses: {error}") from error
            tree = ast.parse(call, mode="eval").body
            assert isinstance(tree, ast.Call)
            assert isinstance(tree.func, ast.Name)
            yield {
                "id": f"{entry.name}/{number}",
                "group": entry.name,
                "topic": entry.topic,
                "entry": tree.func.id,
                "code": entry.code,
                "call": call,
                "output": output,
            }


def text() -> str:
    """The text of ``mini.jsonl``."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it; exit 1 on a difference")
    arguments = parser.parse_args()
    if arguments.check:
        raise SystemExit(text() != FILE.read_text(encoding="utf-8"))
    FILE.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
