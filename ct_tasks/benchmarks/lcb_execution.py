"""LiveCodeBench, code execution (Jain et al. 2024): contest solutions with one call each."""

from __future__ import annotations

import datetime
from typing import Any, ClassVar

from ct_tasks.benchmarks import data, official
from ct_tasks.benchmarks.base import Item, Source
from ct_tasks.benchmarks.output import OutputBenchmark
from ct_tasks.errors import ConfigError, DataError
from ct_tasks.options import TaskOptions

SAMPLE = 30
SOURCE = Source(
    local="lcb_execution/test.jsonl",
    rows=479,
    hub="livecodebench/execution-v2",
    split="test",
    licence="cc",
    also_rows=(SAMPLE,),
)
SAMPLE_FILE = Source(
    local="lcb_execution/sample30.jsonl",
    rows=SAMPLE,
    licence="cc",
    sha256="c38d39e10d5fd551fa5332031f70b15163bed367eefefdd31b3f36e6dcdc80ef",
)

# What solutions may use without importing it: the names that the published runner provides.
PRELUDE = """\
import sys, re, math, copy, string, random, bisect, heapq, functools, itertools, operator, collections
from typing import List, Tuple, Dict, Set, Optional, Union, Any, Callable, Iterable, Iterator, Generator
from collections import Counter, OrderedDict, defaultdict, deque
from itertools import (accumulate, chain, combinations, count, cycle, groupby, islice, permutations, product, repeat,
    zip_longest)
from functools import cache, lru_cache, partial, reduce
from heapq import heapify, heappop, heappush, merge
from bisect import bisect, bisect_left, bisect_right, insort
from math import ceil, comb, floor, gcd, inf, isqrt, log, log2, log10, prod, sqrt
from operator import iand, itemgetter, sub
from random import randrange, shuffle
from re import search as re_search
from string import ascii_lowercase
from os.path import commonprefix
from copy import deepcopy
import copy, bisect
"""
# The published order of imports leaves `bisect` the module and `copy` the module; the last line restores that.


def _load() -> list[data.Row]:
    """The full 479 rows from file or hub; where only the sample of 30 lies in ``CT_DATA_DIR``, the sample."""
    columns = ("id", "function_name", "code", "input", "output")
    sample = data.local_file(SAMPLE_FILE)
    if data.local_file(SOURCE) is None and sample is not None:
        return data.load_rows(SAMPLE_FILE, columns=columns, name="LiveCodeBench execution (sample)")
    return data.load_rows(SOURCE, columns=columns, name="LiveCodeBench execution")


_rows = data.memo(_load)


class LcbO(OutputBenchmark):
    """What does the call return? Items of one question are one group. ``start_date`` and ``end_date`` (inclusive) choose
    problems by the date of their contest."""

    name = "ct_lcb_o"
    source = SOURCE
    prelude = PRELUDE
    rules: ClassVar[official.Rules | None] = official.Rules(
        side="output",
        all_false_when="none_run",
        prelude=PRELUDE,
        extras=(("np", "import numpy as np\n"), ("pd", "import pandas as pd\n")),
    )

    def load(self) -> list[Item]:
        return [_item(row) for row in _rows()]

    def items(self, options: TaskOptions) -> list[Item]:
        items = self.load()
        first, last = _date(options.start_date, "start_date"), _date(options.end_date, "end_date")
        if first is None and last is None:
            return items
        dated = [(item, _contest(item)) for item in items]
        return [item for item, day in dated if (first is None or day >= first) and (last is None or day <= last)]

    def item_id(self, row_id: str) -> str:
        return row_id if row_id.startswith("sample_") else f"sample_{row_id}"


def _item(row: dict[str, Any]) -> Item:
    return Item(
        str(row["id"]),
        {
            "code": row["code"],
            "entry": row["function_name"],
            "call": row["input"],
            "output": row["output"],
            "contest_date": str(row.get("contest_date") or ""),
            "difficulty": row.get("difficulty"),
        },
        group=str(row.get("question_id", "")),
    )


def _date(text: str | None, name: str) -> datetime.date | None:
    if text is None:
        return None
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise ConfigError(f"{name} must be a date like 2024-01-31, got {text!r}") from None


def _contest(item: Item) -> datetime.date:
    try:
        return datetime.date.fromisoformat(item.data["contest_date"][:10])
    except ValueError:
        raise DataError(f"ct_lcb_o {item.id} has no contest date, so start_date and end_date cannot be applied") from None
