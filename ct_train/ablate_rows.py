"""The rows of the paper's ablations, and its tables as lists of rows.

Settings that differ from the base run; ``regular: None`` is the whole group, so no DBS. The names are those by which the
report knows a row (``stage``). Table 2 takes single signals away *on top of* "w/o DBS" (section 4.3); the rows that keep DBS
are this project's. The start model, measured as it is, is the paper's "w/o RL".

Where the prose is silent, the choice is this project's: Table 2's "RS" (its abbreviations name rejection sampling, its text
does not say how) draws as many rollouts from the start model as GRPO draws, and learns the perfect ones by SFT; Figure 5's
ratios are those of eight samples in steps of two; Table 8 keeps half of each group for DBS.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ct_tasks.errors import UnknownNameError

BEFORE = "sft"
REJECTION = "rejection_sampling"
NO_DBS: Mapping[str, Any] = {"regular": None}


def _without(switch: str) -> Mapping[str, Any]:
    return {"reward_options": {switch: False}}


ROWS: Mapping[str, Mapping[str, Any]] = {
    "codethinker": {},
    "without_dbs": NO_DBS,
    "without_dbs_prm": {**NO_DBS, **_without("prm")},
    "without_dbs_ccw": {**NO_DBS, **_without("ccw")},
    "without_dbs_orm": {**NO_DBS, **_without("orm")},
    "without_dbs_rcc": {**NO_DBS, **_without("rcc")},
    REJECTION: {},
    "without_prm": _without("prm"),
    "without_ccw": _without("ccw"),
    "without_orm": _without("orm"),
    "without_rcc": _without("rcc"),
    "codereasoner": {"reward": "codereasoner", **NO_DBS},
    "execverify": {"reward": "execverify", **NO_DBS},
    "half=code": {"halve": "code"},
    "half=tests": {"halve": "tests"},
    **{f"alpha={alpha:g}": {"reward_options": {"alpha": alpha}} for alpha in (0.5, 1.0, 2.0)},
    **{f"group={size}": {"group_size": size, "regular": size // 2} for size in (4, 8, 16, 32)},
    **{f"ratio={n}:{8 - n}": {"group_size": 8, "regular": n} for n in (8, 6, 4, 2, 0)},
}
"""The baselines' rewards come with their own sampling, which is regular, and here read ConTra traces; in their own formats
they are runs of their own (``paradigm``)."""

TABLES: Mapping[str, Sequence[str]] = {
    "table2": ("codethinker", REJECTION, "without_dbs", *(f"without_dbs_{s}" for s in ("prm", "ccw", "orm", "rcc"))),
    "table2_with_dbs": ("codethinker", *(f"without_{s}" for s in ("prm", "ccw", "orm", "rcc"))),
    "rewards": ("codethinker", "without_dbs", "without_dbs_prm", "codereasoner", "execverify"),
    "table5": ("codethinker", "half=code", "half=tests"),
    "table6": ("alpha=0.5", "alpha=1", "alpha=2"),
    "table8": ("group=4", "group=8", "group=16", "group=32"),
    "figure4": ("codethinker", "without_dbs"),
    "figure5": ("ratio=8:0", "ratio=6:2", "ratio=4:4", "ratio=2:6", "ratio=0:8"),
}


def expand(names: Sequence[str]) -> list[str]:
    """Rows, each once, in the order given; a table stands for its rows. Raises ``UnknownNameError``."""
    found: list[str] = []
    for name in names:
        if name not in TABLES and name not in ROWS:
            raise UnknownNameError("row", name, [*ROWS, *TABLES])
        found += TABLES.get(name, [name])
    return list(dict.fromkeys(found))


def stage(row: str) -> str:
    """The row's name in the report, where the whole method is the stage ``grpo``."""
    return "grpo" if row == "codethinker" else row
