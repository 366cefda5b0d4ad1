"""REval's incremental consistency of a run that scored all five of its tasks (see ``benchmarks/reval/consistency``)."""

from __future__ import annotations

import statistics

from ct_tasks.benchmarks.reval.consistency import incremental_consistency, input_of
from ct_tasks.errors import DataError
from ct_tasks.reports.read import Run, Sample, read_samples

NAME = "reval_ic"
_PROBES = ("ct_reval_c", "ct_reval_s", "ct_reval_p")
_OUTPUTS = ("ct_reval_fo", "ct_reval_co")


def run_consistency(run: Run) -> tuple[float, float | None, int] | None:
    """``(IC with the strict verdicts, IC with the published ones or None, probes)``; ``None`` where the run lacks a task.

    With repeats, the mean over them. Probes whose input has no output verdict (``--limit``, bad references) are left out,
    so that the number says over how many probes it goes.
    """
    tasks = [run.tasks.get(name) for name in (*_PROBES, *_OUTPUTS)]
    files = [task.samples for task in tasks if task is not None and task.samples is not None]
    if len(files) != len(tasks):
        return None
    found = [{sample.id: sample for sample in read_samples(file)} for file in files]
    probes, outputs = found[:3], {**found[3], **found[4]}
    shared = [i for i in probes[0] if i in probes[1] and i in probes[2] and input_of(i) in outputs]
    repeats = min((len(s.verdicts) for s in (*(p[i] for p in probes for i in shared), *outputs.values())), default=0)
    if not shared or not repeats:
        return None

    def consistency(field: str) -> float | None:
        try:
            return statistics.fmean(_of_repeat(probes, outputs, shared, repeat, field) for repeat in range(repeats))
        except DataError:
            return None

    strict = consistency("acc")
    return None if strict is None else (strict, consistency("acc_official"), len(shared))


def _of_repeat(
    probes: list[dict[str, Sample]], outputs: dict[str, Sample], shared: list[str], repeat: int, field: str
) -> float:
    coverage, state, path = ({i: _right(part[i], repeat, field) for i in shared} for part in probes)
    return incremental_consistency(coverage, state, path, {i: _right(s, repeat, field) for i, s in outputs.items()})


def _right(sample: Sample, repeat: int, field: str) -> bool:
    """The verdict; REval-FO has no published one of its own, so its strict one stands for it."""
    verdict = sample.verdicts[repeat]
    value = verdict.get(field)
    return bool(verdict.get("acc") if value is None else value)
