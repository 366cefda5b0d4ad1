"""How often the flexible reading takes what a careful person takes as a reply's answer.

    python -m tests.live.agreement --replies replies.jsonl --labels labels.jsonl
    python -m tests.live.agreement --replies a.jsonl b.jsonl --labels labels.jsonl --list held_out

``labels.jsonl``: rows ``{"id", "kind": "answer" | "none" | "unreadable", "answer": text or null}``, made by readers who did not see
the scorer (``packets.INSTRUCTIONS``). Everything comes from ``benchmark.score()``: ``status_flexible`` and ``answer_flexible``.

A reading agrees with a label where both give the same answer, or both give none. Answers are compared as what they are: values
with their types, calls with the same arguments, expressions by mathematical equality, programs by the definition asked for.
The half that was set aside before any tuning is every id whose hash is odd; by default only the other half is listed.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.base import Answer
from ct_tasks.options import TaskOptions
from ct_tasks.score import STATUSES, Score
from tests.live.halves import HALVES, half
from tests.live.same import same

GIVEN = ("right", "wrong", "timeout", "harness_error")


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled reply with its score. ``read`` is the flexible reading's answer, None where it gives none."""

    reply: dict[str, Any]
    label: dict[str, Any]
    score: Score
    agrees: bool
    same_kind: bool
    falsely_right: bool

    @property
    def cell(self) -> tuple[str, str]:
        return self.reply["model"], self.reply["paradigm"]


def rows(replies: Iterable[dict[str, Any]], labels: dict[str, dict[str, Any]]) -> list[Row]:
    """Labelled replies, scored. Raises ``KeyError`` for a label of an unknown kind."""
    groups: dict[tuple[str, str, int], list[dict[str, Any]]] = defaultdict(list)
    for reply in replies:
        if reply["id"] in labels:
            groups[reply["task"], reply["paradigm"], reply["shots"]].append(reply)
    found = []
    for (task, paradigm, shots), members in groups.items():
        benchmark = registry.get(task)
        options = TaskOptions(paradigm=paradigm, shots=shots)
        items = {item.id: item for item in benchmark.items(options)}
        answers = [Answer(items[r["item"]], r["text"], truncated=r["finish_reason"] == "length") for r in members]
        for reply, answer, score in zip(members, answers, benchmark.score(answers, options), strict=True):
            label = labels[reply["id"]]
            kind = {"answer": "answer", "none": "none", "unreadable": "unreadable"}[label["kind"]]
            read = score.answer_flexible if score.status_flexible in GIVEN else None
            if kind == "answer":
                agrees = read is not None and same(benchmark, answer.item, reply["text"], read, str(label["answer"]))
            else:
                agrees = read is None
            mine = "answer" if read is not None else "unreadable" if score.status_flexible == "unreadable" else "none"
            found.append(Row(reply, label, score, agrees, mine == kind, score.status_flexible == "right" and not agrees))
    return found


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} ({100 * part / whole:.1f} %)" if whole else "0/0"


def summary(found: Sequence[Row], name: str) -> list[str]:
    """One line of the table of agreement."""
    return [name, str(len(found)), share(sum(r.agrees for r in found), len(found)), share(sum(r.same_kind for r in found), len(found)),
            share(sum(r.falsely_right for r in found), len(found))]  # fmt: skip


def table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    out = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(out + ["| " + " | ".join(line) + " |" for line in lines])


def statuses(found: Sequence[Row]) -> str:
    """Shares of statuses, strict against flexible, for each model and paradigm."""
    lines = []
    for cell in sorted({r.cell for r in found}):
        members = [r.score for r in found if r.cell == cell]
        for reading, of in (("strict", Counter(s.status for s in members)), ("flexible", Counter(s.status_flexible for s in members))):
            shown = [f"{100 * of[status] / len(members):.1f}" if of[status] else "" for status in STATUSES]
            lines.append([*cell, str(len(members)), reading, *shown])
    return table(["model", "paradigm", "n", "reading", *STATUSES], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replies", type=Path, nargs="+", required=True)
    parser.add_argument("--labels", type=Path, required=True)
    parser.add_argument("--list", choices=(*HALVES, "none"), default="dev", help="whose disagreements are listed (default: dev)")
    parser.add_argument("--tasks", nargs="*", help="only these tasks")
    args = parser.parse_args()
    labels = {row["id"]: row for row in map(json.loads, filter(None, args.labels.read_text().split("\n")))}
    replies = [json.loads(line) for path in args.replies for line in path.read_text().split("\n") if line]
    if args.tasks:
        replies = [r for r in replies if r["task"] in args.tasks]
    found = rows(replies, labels)
    for name in HALVES:
        part = [r for r in found if half(r.reply["id"]) == name]
        print(f"\n## {name}\n")
        lines = [summary([r for r in part if r.cell == cell], " ".join(cell)) for cell in sorted({r.cell for r in part})]
        lines += [summary([r for r in part if r.reply["task"] == task], task) for task in sorted({r.reply["task"] for r in part})]
        print(table(["which", "n", "agrees", "same kind", "right, label says otherwise"], [*lines, summary(part, "all")]))
        print(f"\n{statuses(part)}" if part else "")
    for row in found:
        if half(row.reply["id"]) == args.list and not row.agrees:
            flexible = f"{row.score.status_flexible} {row.score.answer_flexible!r}"
            print(f"\n### {row.reply['id']}\nlabel: {row.label['kind']} {row.label['answer']!r}; read: {flexible}\n{row.reply['text']}")


if __name__ == "__main__":
    main()
