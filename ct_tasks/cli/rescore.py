"""Score a finished run's samples again with today's scorers, and say which verdicts changed and why.

    python -m ct_tasks rescore runs/base --out runs/base-today    # a folder that `report` and `compare` read
    python -m ct_tasks rescore runs/base --out verdicts.json      # or all verdicts in one file
    python -m ct_tasks rescore runs/base --out runs/base          # in place

Works on the samples_*.jsonl of any lm_eval run of a ct_* task. Without --out nothing is written. A reply counts as cut by the
length limit where its run recorded that; of older runs, where its recorded tokens fill the limit.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.base import Answer, Item
from ct_tasks.cli.score import summary
from ct_tasks.errors import CodeThinkerError, ConfigError
from ct_tasks.options import TaskOptions
from ct_tasks.reports.read import Run, Sample, read_runs, read_samples
from ct_tasks.reports.rescored import Rescored, write_run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="RUN_DIR")
    parser.add_argument(
        "--out", type=Path, help="a folder for the run with its new verdicts, or a .json file for the verdicts alone"
    )


def main(args: argparse.Namespace) -> int:
    runs, problems = read_runs([args.folder])
    verdicts: dict[str, Any] = {}
    for run in runs:
        found: dict[str, Rescored] = {}
        for task, result in run.tasks.items():
            if task not in registry.TASKS:
                problems.append(f"{task} is not a task of ours and cannot be scored again")
            elif result.samples is None:
                problems.append(f"{task} in {run.path} has no samples; run lm_eval with --log_samples")
            else:
                try:
                    found[task], verdicts[f"{run.name} {task}"] = _rescore(run, task, result.samples, problems)
                except CodeThinkerError as error:  # unknown options of another version, data that is not here
                    problems.append(f"{task} in {run.path} cannot be scored again: {error}")
        if found and args.out and args.out.suffix != ".json":
            lost = [t for t in run.tasks if t in registry.TASKS and t not in found]
            if lost and args.out.resolve() == args.folder.resolve():
                problems.append(f"{run.path} is left as it was: {', '.join(lost)} would be lost")
                continue
            try:
                print(f"    written to {write_run(run, found, args.folder, args.out)}")
            except OSError as error:
                raise ConfigError(f"cannot write {args.out}: {error}") from None
    for problem in problems:
        print(problem, file=sys.stderr)
    if not verdicts:
        raise ConfigError(f"{args.folder} holds nothing that can be scored again")
    if args.out and args.out.suffix == ".json":
        args.out.write_text(json.dumps(verdicts, indent=1) + "\n")
    return 0


def _rescore(run: Run, task: str, path: Path, problems: list[str]) -> tuple[Rescored, dict[str, Any]]:
    benchmark = registry.get(task)
    options = TaskOptions.from_mapping({k: v for k, v in run.options.items() if v is not None})
    items = {i.id: i for i in benchmark.items(options)}
    read = list(read_samples(path, problems))
    samples = [s for s in read if s.id in items]
    if len(samples) < len(read):
        unknown = next(s.id for s in read if s.id not in items)
        problems.append(
            f"{path.name}: {len(read) - len(samples)} samples are no items of {task} here, such as {unknown}; they are left out"
        )
    answers = [answer_of(items[s.id], s, reply, v) for s in samples for reply, v in _paired(s.replies, s.verdicts)]
    scores = iter(benchmark.score(answers, options))
    found = {sample.id: [next(scores) for _ in sample.replies] for sample in samples}
    changes = [
        change
        for sample in samples
        for number, (old, new) in enumerate(zip(sample.verdicts, found[sample.id], strict=False))
        if (change := changed(sample.id, number, old, new.to_json()))
    ]
    metrics = summary(found) if found else {}
    acc = "none" if metrics.get("acc") is None else f"{metrics['acc']:.4f}"
    before = run.tasks[task].metrics.get("acc")
    was = "" if before is None else f" (was {before:.4f})"
    print(f"{run.name} {task}: {len(samples)} samples, acc {acc}{was}, {len(changes)} verdicts changed")
    for change in changes[:20]:
        print(f"    {change['id']} reply {change['reply']}: {_told(change)}")
    told = {k: [s.to_json() for s in row] for k, row in found.items()}
    return Rescored(options, found), {"metrics": metrics, "changes": changes, "verdicts": told}


def answer_of(item: Item, sample: Sample, reply: str, verdict: Mapping[str, Any]) -> Answer:
    """A reply as its evaluation scored it: with the stop string that ended it, and what was recorded of its end."""
    told = verdict.get("ending")
    known: Mapping[str, Any] = told if isinstance(told, dict) else {}
    stop = known.get("stop")  # "" where the model ended the reply itself, nothing where nobody said
    text = reply + (stop if isinstance(stop, str) and stop in sample.until else "")
    extra = {"whole": True} if known and (not sample.until or isinstance(stop, str)) else {}
    thinking = bool(known.get("thinking"))
    return Answer(item, text, truncated=cut_by_limit(sample, verdict), thinking=thinking, extra=extra)


def cut_by_limit(sample: Sample, verdict: Mapping[str, Any]) -> bool | None:
    """Whether the length limit cut a reply: what its evaluation recorded. Runs from before that was recorded: true where the
    tokens of the reply fill its limit, else not known."""
    told = verdict.get("ending")
    if isinstance(told, dict) and "truncated" in told:
        return None if told["truncated"] is None else bool(told["truncated"])
    tokens = verdict.get("tokens_out")
    return bool(isinstance(tokens, (int, float)) and sample.limit and tokens >= sample.limit) or None


def changed(key: str, number: int, old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a verdict was and is, None where it says the same. Readings that the old scorer did not have are no change."""
    fields = ("status", "acc_official", *(f for f in ("status_flexible", "answer_flexible", "answer", "rcs") if f in old))
    if not old.get("status") or all(old.get(f) == new.get(f) for f in fields):
        return None
    return {
        "id": key, "reply": number, "was": old["status"], "is": new["status"], "official": [old.get("acc_official"), new["acc_official"]],
        "flexible": [old.get("status_flexible"), new["status_flexible"]], "answer": [old.get("answer"), new["answer"]],
        "rcs": [old.get("rcs"), new.get("rcs")], "why": new["reason"], "was_because": old.get("reason", ""),
    }  # fmt: skip


def _told(change: dict[str, Any]) -> str:
    if change["was"] != change["is"]:
        return f"{change['was']} -> {change['is']}: {change['why'][:120] or 'no reason given'}"
    names = {"official": "the published scorer's verdict", "flexible": "the flexible reading", "rcs": "RCS", "answer": "the answer"}
    name = next((n for n in names if change[n][0] != change[n][1]), "flexible")
    return f"{change['is']}, {names[name]}: {str(change[name][0])[:60]} -> {str(change[name][1])[:60]}"


def _paired(replies: list[str], verdicts: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    return [(reply, verdicts[i] if i < len(verdicts) else {}) for i, reply in enumerate(replies)]
