"""Two readers' labels into one file: what they agree on, and for the rest what was settled, with its reason.

    python -m tests.live.settle --keys packet1.key.json --first A1.jsonl --second B1.jsonl --settled settled.json --out labels.jsonl

``settled.json``: ``{id: {"kind", "answer", "why"}}`` for every row on which the two differ (spelling of YES and NO apart);
a difference without an entry there is refused. Files are given in the same order, one of each a packet.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any


def rows(path: Path) -> dict[int, dict[str, Any]]:
    """One reader's labels of a packet, by number."""
    return {row["id"]: row for row in map(json.loads, path.read_text().strip().split("\n"))}


def spelling(label: dict[str, Any]) -> tuple[str, str]:
    """What is compared of a label: its kind, and its answer but for capitals in YES and NO."""
    answer = (label["answer"] or "").strip()
    return label["kind"], answer.upper() if answer.lower() in ("yes", "no") else answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--keys", "--first", "--second"):
        parser.add_argument(name, type=Path, nargs="+", required=True)
    parser.add_argument("--settled", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    settled = json.loads(args.settled.read_text())
    lines, different = [], 0
    for key, first, second in zip(args.keys, args.first, args.second, strict=True):
        a, b = rows(first), rows(second)
        for number, name in enumerate(json.loads(key.read_text())):
            kind, answer = spelling(a[number])
            label: dict[str, Any] = {"id": name, "kind": kind, "answer": answer if kind == "answer" else None}
            if (kind, answer) != spelling(b[number]):
                different += 1
                if name not in settled:
                    raise SystemExit(f"{name}: the readers differ, {a[number]} and {b[number]}; settle it in {args.settled}")
                label = {"id": name, **settled[name], "readers": [spelling(a[number]), spelling(b[number])]}
            lines.append(json.dumps(label))
    args.out.write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} labels, {different} of them settled")


if __name__ == "__main__":
    main()
