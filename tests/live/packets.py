"""What a labeller sees: the question and the reply, nothing of the scorer, nothing of the gold answer.

    python -m tests.live.packets replies.jsonl --out packet.jsonl

A row: ``id`` (a number that hides model and half), ``asked`` (what kind of answer is asked for), ``prompt``, ``reply``, ``cut`` (the
server said that the length limit ended it). ``INSTRUCTIONS`` is all that a labeller is told.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

from ct_tasks.benchmarks import registry
from ct_tasks.options import TaskOptions

ASKED = {
    "output": "the value that the call returns, as a Python literal",
    "input": "a call with arguments, as f(...) with the asked function's name",
    "math": "the final number or expression",
    "codegen": "a program",
    "ct_reval_co": "the values that fill the gaps of the test code: the completed test, or the value alone where one is missing",
    "ct_reval_c": "YES or NO",
    "ct_reval_p": "the text of a source line, or -1",
    "ct_reval_s": "`value; type`, or Nil",
}

INSTRUCTIONS = """\
You read replies of language models and write down the final answer that each reply gives, as a careful person reads it.
You are not asked whether the answer is right, and you must not work the problem out: only what the reply says counts.

For each row write one JSON line: {"id": <id>, "kind": "answer" | "none" | "unreadable", "answer": <text or null>}

- "answer": the reply gives one final answer. Format does not matter: tags, bold, a sentence, an assertion, a box. The last word
  counts: where a reply gives several answers one after the other, the last one that it gives for the question asked is its answer
  (a worked example or a further problem that it makes up afterwards is not). An answer that it takes back without giving another is none.
  A reply that stops in the middle ("cut" is true) has an answer only if the answer is certainly complete in what is there.
- "none": no final answer: only reasoning, an intermediate value, a repetition of the question, an empty text, two different
  answers side by side without a choice, endless repetition without a conclusion. An assertion that only repeats the gap (`== ??`) is none.
- "unreadable": something is plainly given as the answer, but it is no value of the kind asked for (an expression that would
  have to be computed, a piece of prose, a broken literal, a call where a value is asked for).

What to write in "answer":
- a value: the Python literal as the reply means it: keep the type that it wrote ('6' is not 6). An unquoted word that plainly is
  meant as a string (for example `[ANSWER]OOP`) is that string: write 'OOP'. A value with a stray backtick, full stop or semicolon
  after it is that value. If the answer is an assertion, write only the side that is the returned value. JSON true/false/null is
  unreadable unless the format asked for is JSON.
- an input: the call `f(arguments)`; if only the arguments are given, write the call with them.
- YES/NO, a source line, `value; type`: as written, trimmed.
- math: the final number or expression, without units, currency signs or words.
- a program: do not copy it. Write the numbers of the fenced code blocks (counted from 1 in order of their opening fences) that
  hold the final version of the program asked for, and of any other block it needs, as text: "2" or "1,3"; "all" if the reply is
  code without fences, "text" if the program stands in prose without a fence; kind "none" if there is no program that defines what is asked for (for a program that
  reads standard input: no program).
Be literal and consistent; decide every row.
"""


def packet(row: dict[str, Any], number: int) -> dict[str, Any]:
    """One row as a labeller sees it."""
    benchmark = registry.get(row["task"])
    options = TaskOptions(paradigm=row["paradigm"], shots=row["shots"])
    item = next(i for i in benchmark.items(options) if i.id == row["item"])
    asked = ASKED.get(row["task"]) or ASKED.get(benchmark.domain) or ASKED["output"]
    return {
        "id": number,
        "asked": asked,
        "prompt": benchmark.prompt(item, options, chat=True),
        "reply": row["text"],
        "cut": row["finish_reason"] == "length",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("replies", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--after", type=Path, nargs="*", default=[], help="keys of earlier packets, whose rows are left out")
    args = parser.parse_args()
    before = {name for key in args.after for name in json.loads(key.read_text())}
    rows = [json.loads(line) for path in args.replies for line in path.read_text().split("\n") if line]
    rows = [row for row in rows if row["id"] not in before]
    rows.sort(key=lambda row: hashlib.sha256(("order" + row["id"]).encode()).hexdigest())
    with args.out.open("w") as file:
        for number, row in enumerate(rows):
            file.write(json.dumps(packet(row, number)) + "\n")
    args.out.with_suffix(".key.json").write_text(json.dumps([row["id"] for row in rows]))


if __name__ == "__main__":
    main()
