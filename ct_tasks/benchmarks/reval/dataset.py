"""REval's programs: 154 rows, index 0 to 84 HumanEval functions, 85 to 153 ClassEval classes."""

from __future__ import annotations

from ct_tasks.benchmarks import data
from ct_tasks.benchmarks.base import Source

_REPOSITORY = "https://raw.githubusercontent.com/r-eval/REval/2f148b913deb4ae0e0ce41f0245ef35054ede8d6"
SOURCE = Source(
    local="reval/DREval_data.jsonl.gz",
    rows=154,
    hub=f"{_REPOSITORY}/data/DREval_data.jsonl",
    licence="no licence file; HumanEval part MIT, ClassEval part MIT upstream",
    sha256="d34e74e4887962cc0dbd58736fc55b770d46d1599823a142a4eb29d4f962cf99",  # of the unpacked file
)
TASKS = Source(
    local="reval/DREval_tasks.jsonl.gz",
    rows=154,
    hub=f"{_REPOSITORY}/data/DREval_tasks.jsonl",
    licence=SOURCE.licence,
    sha256=None,
)
FUNCTIONS = 85
"""Rows before this index are functions."""

rows = data.memo(
    lambda: data.load_rows(SOURCE, columns=("task_id", "entry_point", "code", "inputs", "outputs", "test"), name="REval")
)

tasks = data.memo(lambda: data.load_rows(TASKS, columns=("task_id", "idx", "tasks"), name="REval's tasks"))
"""The official task set: for each program its inputs (at most five) with their probes and masked test."""
