"""Agreement with evalplus, row by row, on HumanEval+ and MBPP+: reference, mutated and wrong programs.

    CT_DATA_DIR=... python benchmarks/agreement_evalplus.py PEER_PYTHON [--mutants 2] [--tasks humaneval mbpp] [--out FILE]

PEER_PYTHON is a Python in which evalplus 0.3.1 is installed (PyPI), in an environment of its own. Both scorers get the same
programs; evalplus runs with ``--min_time_limit 4``, the limit that both then use. Mutants come from our own operators (one
change in the syntax tree of the reference, by seed). Every row on which the two differ is listed with our reason. Wall
times of both are taken in the same run, one after the other.
"""

from __future__ import annotations

import argparse
import ast
import copy
import gzip
import json
import os
import platform
import random
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

from ct_tasks.benchmarks.base import Answer
from ct_tasks.benchmarks.codegen.plus import HumanEvalPlus, MbppPlus
from ct_tasks.options import TaskOptions

PEER = {"humaneval": ("HUMANEVAL_OVERRIDE_PATH", "humaneval_plus/HumanEvalPlus-evalplus.jsonl.gz"),
        "mbpp": ("MBPP_OVERRIDE_PATH", "mbpp_plus/MbppPlus-evalplus.jsonl.gz")}
SWAPS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.FloorDiv, ast.FloorDiv: ast.Div, ast.Mod: ast.Mult,
         ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
         ast.And: ast.Or, ast.Or: ast.And, ast.In: ast.NotIn, ast.NotIn: ast.In}


def sites(tree: ast.AST) -> list[tuple[ast.AST, str]]:
    """Places where an operator of ours applies."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp)) and type(node.op) in SWAPS:
            found.append((node, "operator"))
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
            found.append((node, "comparison"))
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
            found.append((node, "constant"))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 20:
            found.append((node, "string"))
        elif isinstance(node, ast.If):
            found.append((node, "condition"))
        elif isinstance(node, ast.Return) and node.value is not None:
            found.append((node, "return"))
        elif isinstance(node, ast.Call) and len(node.args) > 1:
            found.append((node, "arguments"))
    return found


def mutate(source: str, dice: random.Random) -> str | None:
    """One change; ``None`` where there is no place for one."""
    tree = copy.deepcopy(ast.parse(source))
    places = sites(tree)
    if not places:
        return None
    node, kind = dice.choice(places)
    if kind == "operator":
        node.op = SWAPS[type(node.op)]()
    elif kind == "comparison":
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif kind == "constant":
        node.value = (not node.value) if isinstance(node.value, bool) else node.value + dice.choice((-1, 1))
    elif kind == "string":
        node.value = node.value + "x"
    elif kind == "condition":
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif kind == "return":
        node.value = dice.choice((ast.List([node.value], ast.Load()), ast.Call(ast.Name("str", ast.Load()), [node.value], []),
                                  ast.Call(ast.Name("float", ast.Load()), [node.value], []), ast.Constant(None)))
    else:
        node.args[0], node.args[1] = node.args[1], node.args[0]
    return ast.unparse(ast.fix_missing_locations(tree))


def programs(benchmark: HumanEvalPlus | MbppPlus, mutants: int, seed: int) -> list[tuple[str, str, str]]:
    """``(item id, kind, program)``: the published reference, a wrong stub, and distinct mutants."""
    options, dice, out = TaskOptions(), random.Random(seed), []
    for item in benchmark.items(options):
        source = benchmark.reference(item.id)
        if isinstance(benchmark, MbppPlus):
            source = str(benchmark._rows[item.id]["code"]).replace("\r\n", "\n")
        out.append((item.id, "reference", source))
        out.append((item.id, "wrong", f"def {item.data['entry_point']}(*args):\n    return 'wrong'\n"))
        seen = {ast.unparse(ast.parse(source))}
        for _ in range(20 * mutants):
            made = mutate(source, dice)
            if made is not None and made not in seen and len(seen) <= mutants:
                seen.add(made)
                out.append((item.id, "mutant", made))
    return out


def peer_verdicts(python: str, task: str, rows: list[tuple[str, str, str]], folder: Path) -> tuple[list[bool], float]:
    """evalplus' verdicts (base and plus both passed) in our order, and its wall time."""
    variable, local = PEER[task]
    data = folder / f"{task}.jsonl"
    data.write_bytes(gzip.decompress((Path(os.environ["CT_DATA_DIR"]) / local).read_bytes()))
    samples = folder / f"{task}-samples.jsonl"
    prefix = "" if task == "humaneval" else "Mbpp/"
    samples.write_text("".join(json.dumps({"task_id": prefix + i, "solution": program}) + "\n" for i, _, program in rows))
    began = time.monotonic()
    subprocess.run([python, "-m", "evalplus.evaluate", "--dataset", task, "--samples", str(samples), "--min_time_limit", "4",
                    "--parallel", str(os.cpu_count() or 1)], check=True, cwd=folder,
                   env={**os.environ, variable: str(data), "PYTHONPATH": "", "XDG_CACHE_HOME": str(folder / "cache")},
                   stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - began
    kept = folder / f"{task}-samples_eval_results.json"
    results = json.loads(kept.read_text())["eval"]
    kept.unlink()
    taken: Counter[str] = Counter()
    verdicts = []
    for item_id, _, program in rows:
        row = results[prefix + item_id][taken[item_id]]
        assert row["solution"] == program, "evalplus returned its rows in another order"
        taken[item_id] += 1
        verdicts.append(row["base_status"] == row["plus_status"] == "pass")
    return verdicts, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", help="Python with evalplus 0.3.1")
    parser.add_argument("--tasks", nargs="+", choices=tuple(PEER), default=list(PEER))
    parser.add_argument("--mutants", type=int, default=2, help="mutants a problem")
    parser.add_argument("--only", help="only this kind: reference, mutant or wrong")
    parser.add_argument("--twice", action="store_true", help="time a second run too, with the references' outputs kept by both")
    parser.add_argument("--comment", action="store_true", help="end each program with a comment, so that none is the reference's own text")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    lines = [f"# Agreement with evalplus 0.3.1\n\n`python benchmarks/agreement_evalplus.py PEER_PYTHON --tasks {' '.join(args.tasks)} --mutants {args.mutants} --seed {args.seed}{f' --only {args.only}' if args.only else ''}{' --twice' if args.twice else ''}{' --comment' if args.comment else ''}`\n\n{platform.processor() or platform.machine()}, "
             f"{os.cpu_count()} cores, Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}\n"]
    for task in args.tasks:
        benchmark = HumanEvalPlus() if task == "humaneval" else MbppPlus()
        options = TaskOptions()
        rows = [r for r in programs(benchmark, args.mutants, args.seed) if args.only in (None, r[1])]
        if args.comment:
            rows = [(i, kind, program.rstrip() + "\n# .\n") for i, kind, program in rows]
        items = {item.id: item for item in benchmark.items(options)}
        answers = [Answer(items[i], p, extracted=True) for i, _, p in rows]
        with tempfile.TemporaryDirectory() as folder:
            os.environ["CT_CACHE_DIR"] = str(Path(folder) / "ours")
            ours, theirs = [], []
            for _ in range(2 if args.twice else 1):  # the second time both have kept the references' outputs
                benchmark = HumanEvalPlus() if task == "humaneval" else MbppPlus()
                began = time.monotonic()
                scores = benchmark.score(answers, options)
                ours.append(time.monotonic() - began)
                peer, seconds = peer_verdicts(args.peer, task, rows, Path(folder))
                theirs.append(seconds)
        lines.append(f"## {task}+: {len(rows)} programs\n")
        for kind in ("reference", "wrong", "mutant"):
            mine = [(s, p) for (_, k, _), s, p in zip(rows, scores, peer, strict=True) if k == kind]
            if mine:
                lines.append(f"- {kind}: {len(mine)} programs, evalplus passes {sum(p for _, p in mine)}, `acc` agrees on "
                             f"{sum(s.acc == p for s, p in mine)}, `acc_official` on {sum(s.acc_official == p for s, p in mine)}")
        for which, mine, peer_s in zip(("references run too", "references' outputs kept by both"), ours, theirs, strict=False):
            lines.append(f"- wall time, {which}: ours {mine:.1f} s, evalplus {peer_s:.1f} s: {peer_s / mine:.1f} times")
        lines.append("")
        lines.append("| problem | kind | evalplus | acc | acc_official | reason |\n|---|---|---|---|---|---|")
        for (item_id, kind, _), score, verdict in zip(rows, scores, peer, strict=True):
            if score.acc != verdict or score.acc_official != verdict:
                reason = (score.reason or "passes here").replace("|", "\\|").replace("\n", " ")[:240]
                lines.append(f"| {item_id} | {kind} | {verdict} | {score.acc} | {score.acc_official} | {score.status}: {reason} |")
        lines.append("")
        if args.out:  # after each task: a run that is stopped keeps what it has
            args.out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
