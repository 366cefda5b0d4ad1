"""Agreement with REval's own evaluation code on synthetic answers of all its tasks, incremental consistency included.

    CT_DATA_DIR=... python benchmarks/agreement_reval.py REVAL_REPOSITORY PEER_PYTHON [--seed 0] [--out FILE]

REVAL_REPOSITORY is a checkout of github.com/r-eval/REval; PEER_PYTHON is a Python that has its requirements (pandas, numpy
below 2, gensim, beautifulsoup4, lxml, pytz, tqdm, python-dateutil, backoff, python-dotenv) or this one, which then covers the
programs that run without them. Answers are made by seed: right ones, wrong ones and layouts (case, aliases, generics,
unclear, empty, cut off, untagged). Both score the same texts; every row that differs is listed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ct_tasks.benchmarks.base import Answer, Item
from ct_tasks.benchmarks.reval.co import RevalCO
from ct_tasks.benchmarks.reval.consistency import incremental_consistency
from ct_tasks.benchmarks.reval.probes import Probe, RevalC, RevalP, RevalS
from ct_tasks.benchmarks.reval.truth import inputs, truth
from ct_tasks.options import TaskOptions

# Runs inside the peer: REval's Task classes, fed with our texts instead of a model's.
DRIVER = r'''
import json, sys, types, io, os, contextlib
given, out = json.load(open(sys.argv[1])), {}
for name in ("bullet", "backoff", "dotenv", "openai", "vllm", "pytz"):
    try:
        __import__(name)
    except ImportError:
        fake = types.ModuleType(name); fake.__getattr__ = lambda attribute: (lambda *a, **k: (lambda f: f)); sys.modules[name] = fake
sys.path.insert(0, os.getcwd())
import inference, evaluation
class Replay(inference.Model):
    def __init__(self, texts):
        self.texts, self.at = texts, 0
        super().__init__("synthetic", 0.8, "direct")
    def infer(self, prompt):
        self.at += 1
        return self.texts[self.at - 1]
skip = set(given["skip"])
for name, cls in (("coverage", evaluation.Coverage), ("path", evaluation.Path), ("state", evaluation.State), ("output", evaluation.Output)):
    task = cls(Replay(given[name]))
    for row in task.task_data:
        row["tasks"] = [pair for pair in row["tasks"] if f"DREval/{row['idx']}/{pair['input_idx']}" not in skip]
    task.task_data = [row for row in task.task_data if row["tasks"]]
    with contextlib.redirect_stdout(io.StringIO()):
        task.run()
    out[name] = task.records
    out[name + "_path"] = task._save_path
with contextlib.redirect_stdout(io.StringIO()) as text:
    evaluation.Consistency(Replay([])).run()
out["consistency"] = text.getvalue()
json.dump(out, open(sys.argv[2], "w"), default=str)
'''


def vary(dice: random.Random, right: str, wrong: list[str]) -> str:
    """A reply: mostly right or plausibly wrong, sometimes unclear, empty, untagged or cut."""
    answer = right if dice.random() < 0.6 else dice.choice(wrong)
    shape = dice.random()
    if shape < 0.70:
        return f"[ANSWER]\n{answer}\n[/ANSWER]"
    if shape < 0.80:
        return f"{answer}\n[/ANSWER]"
    if shape < 0.86:
        return f"Some words first.\n[ANSWER] {answer} [/ANSWER] and after"
    if shape < 0.92:
        return answer
    return dice.choice(("", "[ANSWER]\n\n[/ANSWER]", "maybe", "[ANSWER]\nI think YES and NO\n[/ANSWER]", "[ANSWER]\n" + answer))


def reply(task: Probe, item: Item, options: TaskOptions, dice: random.Random) -> str:
    right = task.right_answer(item, options)
    if isinstance(task, RevalC):
        return vary(dice, right, ["YES", "NO", "yes", "No.", "Yes, it is", "not sure"])
    if isinstance(task, RevalP):
        lines = [line.strip() for line in str(task.input(item).row["code"]).split("\n") if line.strip()]
        return vary(dice, right, ["-1", dice.choice(lines), dice.choice(lines), "no such line", "-2"])
    value, _, kind = right.rpartition("; ")
    kinds = {"int": "integer", "str": "string", "list": "List[int]", "tuple": "(int, int)"}
    wrong = ["Nil", "nil", "1; int", "0; int", "[]; list", "1.0; float", "True; bool", "hello; str", "'a'; str", "None; NoneType", value,
             f"{value}; <class '{kind}'>", f"{value}; {kinds.get(kind, kind)}", f"{value}; float", "1 + 1; int", f"({value}); {kind}"]
    return vary(dice, right, wrong)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("peer", nargs="?", default=sys.executable)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    options, dice = TaskOptions(), random.Random(args.seed)
    failed = set(truth(options)["failed"])
    tasks = {"coverage": RevalC(), "path": RevalP(), "state": RevalS()}
    lines = [f"# Agreement with REval's own evaluation code\n\n`python benchmarks/agreement_reval.py REVAL_REPOSITORY PEER_PYTHON --seed {args.seed}`\n\n{platform.machine()}, {os.cpu_count()} cores, "
             f"Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}; {len(failed)} inputs left out whose programs need a package "
             "or version that is not installed\n"]
    payload: dict[str, object] = {"skip": sorted(failed)}
    scored = {}
    for name, task in tasks.items():
        items = [i for i in task.items(options) if i.data["input"] not in failed]
        texts = [reply(task, item, options, dice) for item in items]
        payload[name] = texts
        scored[name] = (items, texts, task.score([Answer(i, t) for i, t in zip(items, texts, strict=True)], options))
    co, outputs = RevalCO(), []
    for given in inputs():
        if given.id in failed:
            continue
        if given.is_class:
            item = Item(given.id, {"masked": given.masked})
            outputs.append((given, item, vary(dice, str(given.row["inputs"][given.number]).rstrip(),
                                              [given.masked.replace("??", v) for v in ("0", "'x'", "None", "True")])))
        else:
            call = given.masked.removesuffix("??")
            outputs.append((given, None, vary(dice, call + given.row["outputs"][given.number], [call + "0", call + "'x'", call + "None"])))
    payload["output"] = [text for _, _, text in outputs]
    classes = [(item, text) for _, item, text in outputs if item is not None]
    co_scores = iter(co.score([Answer(i, t) for i, t in classes], options))
    with tempfile.TemporaryDirectory() as folder:
        given_file, out_file = Path(folder) / "given.json", Path(folder) / "out.json"
        given_file.write_text(json.dumps(payload))
        subprocess.run([args.peer, "-c", DRIVER, str(given_file), str(out_file)], cwd=args.repository, check=True,
                       env={**os.environ, "PYTHONPATH": ""}, stdout=subprocess.DEVNULL)
        peer = json.loads(out_file.read_text())

    def rows(name: str) -> list[dict[str, object]]:
        return [r for record in peer[name][:-1] for pair in record["generation"] for r in pair["results"]]

    right = {"coverage": lambda r: r["response"] == r["expected"], "state": lambda r: bool(r["eq"]),
             "path": lambda r: any(y in r["expected"] for y in r["response"])}
    differences = []
    for name, (items, texts, scores) in scored.items():
        theirs = [right[name](r) for r in rows(name)]
        assert len(theirs) == len(scores)
        agree = sum(s.acc_official == t for s, t in zip(scores, theirs, strict=True))
        strict = [(i, x, s, t) for i, x, s, t in zip(items, texts, scores, theirs, strict=True) if s.acc != t]
        kinds: dict[str, int] = {}
        for _, x, s, t in strict:
            why = s.reason or f"`{x!r}`"
            key = f"{s.status} here, {'right' if t else 'wrong'} there: {why}"[:160]
            kinds[key] = kinds.get(key, 0) + 1
        lines.append(f"- {name}: {len(scores)} answers, theirs right {sum(theirs)}, `acc_official` agrees on {agree}, `acc` on "
                     f"{len(scores) - len(strict)}")
        lines += [f"    - {n} x {k}" for k, n in sorted(kinds.items(), key=lambda x: -x[1])]
        differences += [(name, i.id, x, s, t) for i, x, s, t in zip(items, texts, scores, theirs, strict=True) if s.acc_official != t]
    passed = [bool(r["pass"]) for r in rows("output")]
    for (given, item, text), theirs_passed in zip(outputs, passed, strict=True):
        if item is not None:
            score = next(co_scores)
            if score.acc_official != theirs_passed:
                differences.append(("output", given.id, text, score, theirs_passed))
    lines.append(f"- output (classes): {len(classes)} answers, `acc_official` agrees on "
                 f"{len(classes) - sum(d[0] == 'output' for d in differences)}")
    of = {name: {i.id: bool(s.acc_official) for i, s in zip(items, scores, strict=True)} for name, (items, _, scores) in scored.items()}
    ours = incremental_consistency(of["coverage"], of["state"], of["path"],
                                   {given.id: ok for (given, _, _), ok in zip(outputs, passed, strict=True)})
    lines.append(f"- incremental consistency: ours {ours:.6f}, theirs {peer['consistency'].strip().rsplit(' ', 1)[-1]}")
    lines.append(f"\n## Rows where `acc_official` differs from REval: {len(differences)}\n")
    lines += [f"- {n} {i}: theirs {t}, ours {s.acc_official}: `{x[:120]!r}`" for n, i, x, s, t in differences[:200]]
    text = "\n".join(lines)
    print(text)
    if args.out:
        args.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
