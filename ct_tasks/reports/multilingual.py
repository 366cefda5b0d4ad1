"""The average over CRUXEval-X's languages, beside the languages' own rows.

The paper averages over 17 of the 19 languages and does not say which two its images could not run; so the languages are an
option (``--metadata '{"languages": ["cpp", "java", ...]}'``), all that a run has by default, and the row says how many.
Every language counts the same, as in the paper, however many problems it has.
"""

from __future__ import annotations

import statistics

from ct_tasks.benchmarks.registry import LANGUAGES
from ct_tasks.errors import ConfigError, UnknownNameError
from ct_tasks.reports.read import Run

SIDES = {"ct_cruxeval_x_": "cruxeval_x", "ct_cruxeval_xi_": "cruxeval_xi"}


def chosen(run: Run) -> tuple[str, ...] | None:
    """The languages that the run's options name, or ``None``. Raises ``UnknownNameError`` for one that does not exist."""
    names = run.options.get("languages")
    if not names:
        return None
    for name in names:
        if name not in LANGUAGES:
            raise UnknownNameError("language", str(name), LANGUAGES)
    return tuple(names)


def averages(run: Run) -> list[tuple[str, dict[str, float], int]]:
    """``(row name, mean of acc and acc_official over languages, number of problems)`` for each side that the run has.

    A side is left out where the run has fewer than two languages, or lacks one of the chosen ones.
    """
    found = []
    try:
        wanted = chosen(run)
    except ConfigError:
        wanted = None
    for prefix, name in SIDES.items():
        have = {task.removeprefix(prefix): result for task, result in run.tasks.items() if task.startswith(prefix)}
        languages = wanted or tuple(have)
        if len(languages) < 2 or any(language not in have for language in languages):
            continue
        parts = [have[language] for language in languages]
        means = {
            metric: statistics.fmean(part.metrics[metric] for part in parts)
            for metric in ("acc", "acc_official")
            if all(metric in part.metrics for part in parts)
        }
        if means:
            found.append((f"{name} ({len(languages)} languages)", means, sum(part.n for part in parts)))
    return found
