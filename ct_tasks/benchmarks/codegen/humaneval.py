"""HumanEval (Chen et al. 2021): 164 functions to complete, judged by the authors' own ``check(candidate)``.

The test never meets the candidate. It is run once with the reference, in the sandbox, and every call is written down;
the candidate is called on those inputs in another process; then the test is run again over the outputs it computed.
``acc`` and ``acc_official`` are the same here: the authors' asserts decide. Base models continue the function head, as
in the paper; chat models are asked for the whole function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ct_tasks.benchmarks.base import Item, Source
from ct_tasks.benchmarks.codegen import runner
from ct_tasks.benchmarks.codegen.child import pack
from ct_tasks.benchmarks.codegen.common import CHAT, CodeBenchmark, fenced
from ct_tasks.benchmarks.codegen.values import has_opaque, load
from ct_tasks.benchmarks.data import load_rows
from ct_tasks.options import TaskOptions
from ct_tasks.score import Score


@dataclass(frozen=True, slots=True)
class _Recorded:
    arguments: tuple[str, ...]
    outputs: tuple[str, ...]
    times: tuple[float, ...]


class HumanEval(CodeBenchmark):
    """``ct_humaneval``."""

    name = "ct_humaneval"
    source = Source("humaneval/test.jsonl", 164, "openai/openai_humaneval", "openai_humaneval", "test", "MIT")

    def __init__(self) -> None:
        self._recorded: dict[str, _Recorded] = {}

    def items(self, options: TaskOptions) -> list[Item]:
        return [Item(str(row["task_id"]), {"head": row["prompt"], "entry_point": row["entry_point"],
                                           "reference": row["prompt"] + row["canonical_solution"], "test": row["test"]})
                for row in load_rows(self.source, name=self.name)]

    def prompt(self, item: Item, options: TaskOptions, *, chat: bool) -> str:
        head = str(item.data["head"])
        if not chat:
            return head.rstrip() + "\n"
        return CHAT.format(entry=item.data["entry_point"], problem=f"```python\n{head.rstrip()}\n```")

    def gold(self, item: Item, options: TaskOptions) -> str:
        return fenced(str(item.data["reference"]))

    def _record(self, items: Sequence[Item], options: TaskOptions) -> None:
        missing = list({item.id: item for item in items if item.id not in self._recorded}.values())
        jobs = [runner.hook_job("record", item.data["reference"],
                                {"entry": item.data["entry_point"], "test": item.data["test"]}) for item in missing]
        for item, result in zip(missing, runner.run_all(jobs, options), strict=True):
            report = runner.trusted(result, f"the reference of {item.id}")
            self._recorded[item.id] = _Recorded(*(tuple(report[key]) for key in ("arguments", "outputs", "times")))

    def judge(self, items: Sequence[Item], programs: Sequence[str], options: TaskOptions) -> list[Score]:
        self._record(items, options)
        jobs = []
        for item, program in zip(items, programs, strict=True):
            known = self._recorded[item.id]
            jobs.append(runner.call_job(program, runner.limits_of(known.times, options), entry=item.data["entry_point"],
                                        calls=pack([load(text) for text in known.arguments]),
                                        room=runner.room_for(known.outputs)))
        runs = [runner.read(result) for result in runner.run_all(jobs, options)]
        replays: list[tuple[int, Mapping[str, Any]]] = []
        for i, (item, run) in enumerate(zip(items, runs, strict=True)):
            known = self._recorded[item.id]
            if run.status == "right" and (run.outputs != known.outputs or any(map(has_opaque, known.outputs))):
                replays.append((i, {"entry": item.data["entry_point"], "test": item.data["test"],
                                    "arguments": known.arguments, "outputs": run.outputs}))
        results = runner.run_all([runner.hook_job("replay", items[i].data["reference"], payload) for i, payload in replays],
                                 options)
        replayed = {i: runner.trusted(result, f"the test of {items[i].id}")
                    for (i, _), result in zip(replays, results, strict=True)}
        return [_verdict(program, run, replayed.get(i)) for i, (program, run) in enumerate(zip(programs, runs, strict=True))]


def _verdict(program: str, run: runner.Run, test: Mapping[str, Any] | None) -> Score:
    if run.status != "right":
        return Score(run.status, program, None if run.status == "harness_error" else False, run.error)
    if test is not None and "diverged" in test:
        return Score("harness_error", program, None, f"the test is not deterministic: {test['diverged']}")
    if test is not None and not test["passed"]:
        return Score("wrong", program, False, f"the test failed: {test['error']}")
    return Score("right", program, True)
