"""Numbers over REval's tasks: incremental consistency of one run, and precision, recall and F1 of coverage.

Incremental consistency (IC, Chen et al. 2024): the four tasks of one probe in the order coverage, state, path, output. All
right scores 1, the first three 0.5, the first two 0.25, only the first 0.125, any other pattern 0; IC is the mean x 100.
The output verdict of an input counts for each of its probes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ct_tasks.errors import DataError

PATTERNS = {(True, True, True, True): 1.0, (True, True, True, False): 0.5, (True, True, False, False): 0.25,
            (True, False, False, False): 0.125}


def input_of(probe_id: str) -> str:
    """The input that a probe belongs to: ``DREval/3/1/7`` asks about line 7 in input 1 of program 3."""
    return probe_id.rpartition("/")[0]


def incremental_consistency(coverage: Mapping[str, bool], state: Mapping[str, bool], path: Mapping[str, bool],
                            output: Mapping[str, bool]) -> float:
    """IC in percent. Keys are item ids: probes for the first three, inputs (of REval-FO and REval-CO together) for the last.

    Raises ``DataError`` when the tasks do not cover the same probes: IC over a part would be another number.
    """
    if not coverage:
        raise DataError("incremental consistency needs at least one probe")
    for name, other in (("ct_reval_s", state), ("ct_reval_p", path)):
        if other.keys() != coverage.keys():
            odd = sorted(other.keys() ^ coverage.keys())[0]
            raise DataError(f"ct_reval_c and {name} were not scored on the same probes (for example {odd}); "
                            "incremental consistency needs one run of all four tasks on all probes")
    missing = sorted({input_of(i) for i in coverage} - output.keys())
    if missing:
        raise DataError(f"no output verdict for {missing[0]} ({len(missing)} inputs); incremental consistency needs ct_reval_fo "
                        "and ct_reval_co of the same run")
    return 100.0 * sum(PATTERNS.get((coverage[i], state[i], path[i], output[input_of(i)]), 0.0) for i in coverage) / len(coverage)


@dataclass(frozen=True, slots=True)
class Coverage:
    """Precision, recall and F1 for YES. A ratio whose denominator is 0 is 0."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, tp: float, fp: float, fn: float) -> Coverage:
        """From the counts, or equally from their shares, of true and false YES and missed YES."""
        precision = tp / (tp + fp) if tp + fp else 0.0
        recall = tp / (tp + fn) if tp + fn else 0.0
        return cls(precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0)

    @classmethod
    def of_rows(cls, rows: Iterable[Mapping[str, float]]) -> Coverage:
        """From verdict rows of ``ct_reval_c``, which carry ``tp``, ``fp`` and ``fn``."""
        kept = list(rows)
        return cls.of(*(sum(row[name] for row in kept) for name in ("tp", "fp", "fn")))
