"""Agreement with the published verdicts of phi-1 on CRUXEval-X, program by program, both sides.

    CT_DATA_DIR=... python benchmarks/agreement_cruxeval_x.py --out results/agreement_cruxeval_x.md

The published files hold each whole program with the verdict of the benchmark's own runner (``res``). ``acc_official`` is
compared with it; every row that differs is listed with what the runner printed then and what the program does here. Rows
where ``acc`` differs from ``acc_official`` are counted by reason: an answer that is no value, and a bad reference.
"""

from __future__ import annotations

import argparse
import collections
import datetime
import gzip
import json
import os
import platform
import time
from pathlib import Path

from ct_tasks.benchmarks import data, registry
from ct_tasks.benchmarks.base import Answer
from ct_tasks.benchmarks.generations import read_generations
from ct_tasks.options import TaskOptions

LANGUAGES = ("cpp", "go", "java", "js", "py", "sh")
SIDES = {"output": "ct_cruxeval_x_", "input": "ct_cruxeval_xi_"}


def cell(text: str, length: int = 160) -> str:
    """One line of text that a Markdown table takes."""
    return " ".join(text.split())[:length].replace("|", "\\|")


def compare(language: str, side: str) -> tuple[str, list[str]]:
    """The summary row and a row for each disagreement."""
    task = registry.get(SIDES[side] + language)
    folder = data.data_dir()
    if folder is None:
        raise SystemExit("set CT_DATA_DIR to the folder with published_generations")
    path = folder / "published_generations" / "cruxeval-x" / f"phi-1_{language}.json.gz"
    published = {str(r["id"]): r for r in json.loads(gzip.decompress(path.read_bytes()))[side]}
    options = TaskOptions()
    items = {item.id: item for item in task.items(options)}
    bad = task.bad_references(options)
    answers = [
        Answer(items[key], text.text, extracted=text.extracted, extra=text.extra)
        for key, texts in read_generations(path, task).items()
        for text in texts
    ]
    start = time.perf_counter()
    scores = task.score(answers, options)
    seconds = time.perf_counter() - start
    rows, agree, verdicts = [], 0, collections.Counter[str]()
    for answer, score in zip(answers, scores, strict=True):
        key = answer.item.id
        then = str(published[key]["res"]) == "True"
        verdicts[score.status] += 1
        if score.acc_official is then:
            agree += 1
            continue
        reason = bad.get(key, "")
        rows.append(
            f"| {language} | {side} | {key} | {then} | {score.acc_official} | {cell(answer.text, 60)} "
            f"| {cell(str(published[key].get('error_message', ''))) or cell(str(published[key].get('error', '')))} "
            f"| {cell('bad reference; ' + reason if reason else score.reason)} |"
        )
    right = sum(str(r["res"]) == "True" for r in published.values())
    ours = sum(s.acc_official is True for s in scores)
    strict = sum(s.status == "right" for s in scores)
    counts = ", ".join(f"{k} {v}" for k, v in sorted(verdicts.items()))
    summary = (
        f"| {language} | {side} | {len(answers)} | {agree} | {len(rows)} | {right} | {ours} | {strict} "
        f"| {counts} | {seconds:.1f} |"
    )
    print(summary, flush=True)
    return summary, rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", default=list(LANGUAGES))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found = [compare(language, side) for language in options.languages for side in SIDES]
    lines = [
        "# Agreement with the published verdicts on CRUXEval-X (phi-1)", "",
        "`python benchmarks/agreement_cruxeval_x.py`", "",
        f"{platform.machine()}, {os.cpu_count()} cores, {datetime.date.today().isoformat()}; seconds are of scoring, verdicts of earlier runs kept.", "",
        "| language | side | programs | `acc_official` agrees | differs | right, published | right, `acc_official` | right, `acc` | statuses | s |",
        "|---|---|---:|---:|---:|---:|---:|---:|---|---:|",
        *(summary for summary, _ in found), "",
        "## Rows that differ", "",
        "| language | side | id | published | `acc_official` | answer | published message | here |",
        "|---|---|---|---|---|---|---|---|",
        *(row for _, rows in found for row in rows),
    ]  # fmt: skip
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")
    else:
        print("\n".join(lines))


if __name__ == "__main__":
    main()
