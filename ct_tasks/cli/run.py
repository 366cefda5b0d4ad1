"""lm_eval's own arguments, with a journal: killed at any moment, the same command goes on where it was.

    python -m ct_tasks run --run_dir runs/base --model hf --model_args pretrained=MODEL --tasks ct_mini \
        --metadata '{"repeats": 5}' --gen_kwargs temperature=0.8,do_sample=True

    python -m ct_tasks run --dry-run --tokens_per_s 900 --model hf --model_args pretrained=MODEL --tasks 'ct_reval_*'

Everything that is not listed below goes to `lm_eval run`. The folder keeps the journal, the exact command, versions, the
hash of each task's data, the time each start took, and lm_eval's results and samples.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ct_tasks.config_file import read_yaml
from ct_tasks.errors import ConfigError, HarnessError
from ct_tasks.lm_eval.journal import Journal, journaled, journaled_with_seeds
from ct_tasks.lm_eval.models import check_model

PASS_THROUGH = True  # unknown arguments are lm_eval's
PACKAGES = ("codethinker-eval", "lm-eval", "torch", "transformers", "vllm", "datasets", "peft")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run_dir", type=Path, help="folder of this run; the same folder goes on")
    parser.add_argument("--chunk", type=int, default=16, help="requests between two syncs of the journal (default 16)")
    parser.add_argument("--run_seed", type=int, default=0, help="seed of sampled generation")
    parser.add_argument("--dry-run", action="store_true", help="load no model; show a prompt of each task and what it all takes")
    parser.add_argument("--tokens_per_s", type=float, help="for the dry run: tokens that the backend generates in a second")
    parser.add_argument("--price_in", type=float, default=0.0, help="for the dry run: price of a million prompt tokens")
    parser.add_argument("--price_out", type=float, default=0.0, help="for the dry run: price of a million generated tokens")


def main(args: argparse.Namespace) -> int:
    rest: list[str] = args.rest
    _check_model(rest)
    if args.dry_run:
        return _dry_run(rest, args)
    if args.run_dir is None:
        raise ConfigError("run needs --run_dir DIR, the folder that keeps what was generated (or --dry-run)")
    journal = Journal(args.run_dir)
    try:
        _keep_config(args.run_dir, {"lm_eval": rest, "chunk": args.chunk, "run_seed": args.run_seed}, len(journal.done))
        start = time.time()
        _lm_eval(rest, args, journal)
        with (args.run_dir / "timing.jsonl").open("a") as file:
            file.write(json.dumps({"seconds": round(time.time() - start, 1), "generations": len(journal.done)}) + "\n")
    except Exception:  # hides nothing: says what is kept and raises again
        print(
            f"{len(journal.done)} generations are kept in {args.run_dir}; the same command goes on from there",
            file=sys.stderr,
        )
        raise
    finally:
        journal.close()
    return 0


def _check_model(rest: Sequence[str]) -> None:
    """A misspelt model is told before the journal is opened and before anything is loaded."""
    model, config = _given(rest, "--model", "-M"), _given(rest, "--config", "-C")
    if model is None and config is not None:
        model = read_yaml(Path(config)).get("model")
    if isinstance(model, str):
        check_model(model)


def _given(rest: Sequence[str], *names: str) -> str | None:
    """The value of one of lm_eval's options, however it is written."""
    found = None
    for at, text in enumerate(rest):
        option, equals, value = text.partition("=")
        if option in names:
            found = value if equals else next(iter(rest[at + 1 :]), None)
    return found


def _keep_config(folder: Path, config: dict[str, Any], done: int) -> None:
    """Write the command beside the journal, or refuse to go on with another one."""
    path = folder / "config.json"
    if path.exists():
        before = json.loads(path.read_text())["config"]
        changed = [k for k in config if before.get(k) != config[k]]
        if changed and done:
            old, new = before.get(changed[0]), config[changed[0]]
            raise ConfigError(
                f"{folder} was begun with {changed[0]} = {old}, now it is {new}; give the same command or another --run_dir"
            )
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = ""
    kept = {
        "config": config,
        "versions": {**versions, "python": platform.python_version()},
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
    }
    _write(path, kept)


def _write(path: Path, value: Any) -> None:
    """Whole or not at all, whenever the process is killed."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(value, indent=1) + "\n")
    os.replace(part, path)


def _keep_data(folder: Path, tasks: Mapping[Any, Any], done: int) -> None:
    """Write a hash of each task's documents, or refuse to go on with other data."""
    hashes: dict[str, dict[str, Any]] = {}
    for name, task in _leaves(tasks):
        digest = hashlib.sha256()
        for doc in task.eval_docs:
            digest.update(json.dumps(doc, sort_keys=True, default=str).encode("utf-8", "surrogatepass") + b"\n")
        hashes[name] = {"documents": len(task.eval_docs), "sha256": digest.hexdigest()}
    path = folder / "data.json"
    before = json.loads(path.read_text()) if path.exists() else {}
    for name, kept in before.items():
        if done and name in hashes and hashes[name] != kept:
            raise ConfigError(
                f"{folder} was begun with other data of {name} ({kept['documents']} documents, sha256 {kept['sha256'][:12]}...; "
                f"now {hashes[name]['documents']}, {hashes[name]['sha256'][:12]}...); give another --run_dir"
            )
    _write(path, hashes)


def _leaves(tasks: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    """lm-eval's tasks, groups opened."""
    for name, task in tasks.items():
        if isinstance(task, Mapping):
            yield from _leaves(task)
        elif hasattr(task, "eval_docs"):
            yield str(name), task


def _with_journal(lm: Any, args: argparse.Namespace, journal: Journal) -> Callable[..., list[str]]:
    """The model's ``generate_until`` behind the journal, in the way that fits the model."""
    kinds = {c.__name__ for c in type(lm).__mro__}
    if "LocalCompletionsAPI" in kinds:
        workers = max(1, int(getattr(lm, "_concurrent", 1) or 1))
        return journaled_with_seeds(lm.generate_until, journal, at_once=1, workers=workers, seed=args.run_seed)
    if "VLLM" in kinds:
        return journaled_with_seeds(lm.generate_until, journal, at_once=args.chunk, workers=1, seed=args.run_seed)
    return journaled(lm.generate_until, journal, chunk=args.chunk, seed=args.run_seed)


def _dry_run(rest: list[str], args: argparse.Namespace) -> int:
    """lm-eval up to the first request, with a tokenizer in the place of the model."""
    from lm_eval.api import registry

    from ct_tasks.lm_eval import dry_run

    rates = dry_run.Rates(args.tokens_per_s, args.price_in, args.price_out)
    rates.check()
    found: list[dry_run.Asked] = []

    def evaluate(lm: Any, task_dict: Any, *_: Any, **settings: Any) -> Any:
        found.extend(dry_run.asked(lm, dict(_leaves(task_dict.get("tasks", task_dict))), settings))
        raise SystemExit(0)  # before anything is generated or written

    def get_model(name: str) -> Any:
        return type("Rendering", (dry_run.Rendering,), {"kind": name})

    before = registry.get_model
    registry.get_model = get_model
    try:
        _called(["run", *[a for a in rest if a != "run"]], evaluate)
    finally:
        registry.get_model = before
    print(dry_run.text(found, rates))
    return 0


def _called(arguments: Sequence[str], evaluate: Callable[..., Any]) -> None:
    """lm-eval's own command line, with another ``evaluate``. Raises ``HarnessError`` when it ends with an exit code."""
    from lm_eval import evaluator
    from lm_eval.__main__ import cli_evaluate

    kept, before = evaluator.evaluate, sys.argv
    evaluator.evaluate, sys.argv = evaluate, ["lm_eval", *arguments]
    try:
        cli_evaluate()
    except SystemExit as ended:
        if ended.code not in (None, 0):
            raise HarnessError(f"lm_eval ended with exit code {ended.code}") from None
    finally:
        evaluator.evaluate, sys.argv = kept, before


def _lm_eval(rest: list[str], args: argparse.Namespace, journal: Journal) -> None:
    from lm_eval import evaluator

    evaluate = evaluator.evaluate

    def with_journal(lm: Any, task_dict: Any, *positional: Any, **named: Any) -> Any:
        _keep_data(args.run_dir, task_dict, len(journal.done))
        lm.generate_until = _with_journal(lm, args, journal)
        return evaluate(lm, task_dict, *positional, **named)

    output = [] if "--output_path" in rest else ["--output_path", str(args.run_dir / "results")]
    samples = [] if "--log_samples" in rest else ["--log_samples"]
    _called(["run", *[a for a in rest if a != "run"], *output, *samples], with_journal)
