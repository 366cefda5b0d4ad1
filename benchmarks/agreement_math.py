"""Agreement with math-verify, lm-eval's gsm8k and Hendrycks' scorer (lm-eval's hendrycks_math) on the same replies; speed.

    CT_DATA_DIR=... python benchmarks/agreement_math.py [--rows 500] [--seed 0] [--out FILE]

Replies are made by seed from MATH-500's and GSM8K's gold: the authors' own solution, the answer written another way, and
wrong answers (another item's, a changed number, a lost sign). math-verify runs in a child with a deadline of its own,
gold in a box, as its authors advise. Every row on which ``acc`` and a peer differ is listed. The second part times the
scoring of MATH-500's gold replies.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import random
import re
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from ct_tasks.benchmarks.base import Answer, Item
from ct_tasks.benchmarks.math import Gsm8k, Math500
from ct_tasks.benchmarks.math.exact import rational
from ct_tasks.benchmarks.math.latex import tidy
from ct_tasks.options import TaskOptions


def _peer(pairs: Sequence[tuple[str, str]], out: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    import logging

    from math_verify import parse, verify

    logging.disable(logging.CRITICAL)
    for gold, text in pairs:
        try:
            out.put(bool(verify(parse(f"\\boxed{{{gold}}}"), parse(text))))
        except Exception as error:  # noqa: BLE001 - whatever the peer raises is its verdict on the row
            out.put(f"{type(error).__name__}")


def math_verify_verdicts(pairs: Sequence[tuple[str, str]]) -> list[bool | str]:
    """math-verify's verdicts; a row on which it is silent for 30 s is 'no end', and it goes on behind that row."""
    found: list[bool | str] = []
    while len(found) < len(pairs):
        out: multiprocessing.Queue = multiprocessing.Queue()  # type: ignore[type-arg]
        child = multiprocessing.Process(target=_peer, args=(pairs[len(found):], out))
        child.start()
        try:
            while len(found) < len(pairs):
                found.append(out.get(timeout=30))
        except Exception:  # noqa: BLE001 - queue.Empty
            found.append("no end")
        child.kill()
        child.join()
    return found


def rewritten(gold: str, dice: random.Random) -> str:
    """The same answer in other typography."""
    value = rational(tidy(gold))
    ways = [gold.replace("\\frac", "\\dfrac"), f" {gold} ", f"${gold}$", gold.replace("\\left", "").replace("\\right", "")]
    if value is not None:
        ways.append(f"\\frac{{{value.numerator * 3}}}{{{value.denominator * 3}}}")
        ways.append(f"{value.numerator}/{value.denominator}" if value.denominator > 1 else f"{value.numerator}.0")
        if value.denominator == 1 and abs(value) >= 1000:
            ways.append(f"{int(value):,}")
    return dice.choice(ways)


def replies(items: Sequence[Item], gold_of: object, dice: random.Random) -> list[tuple[Item, str, str]]:
    out = []
    for item in items:
        gold = str(item.data["answer"])
        value = rational(tidy(gold))
        out.append((item, "solution", gold_of(item)))  # type: ignore[operator]
        out.append((item, "rewritten", f"So the final answer is $\\boxed{{{rewritten(gold, dice)}}}$."))
        out.append((item, "other item", f"The answer is \\boxed{{{dice.choice(items).data['answer']}}}."))
        changed = str(value + dice.choice((-1, 1, Fraction(1, 2), 10))) if value is not None else gold + "+1"
        out.append((item, "changed", f"The answer is \\boxed{{{changed}}}."))
        sign = gold[1:] if gold.startswith("-") else f"-{gold}"
        out.append((item, "sign", f"The answer is \\boxed{{{sign}}}."))
    return out


def lm_eval_gsm8k(gold: str, text: str, strict: bool) -> bool:
    """lm-eval's gsm8k: strict-match (first ``####``) or flexible-extract (last number), then exact match."""
    if strict:
        match = re.search(r"#### (\-?[0-9\.\,]+)", text)
        found = match.group(1) if match else "[invalid]"
    else:
        groups = re.findall(r"(-?[$0-9.,]{2,})|(-?[0-9]+)", text)
        found = next((g for g in groups[-1] if g), "[invalid]") if groups else "[invalid]"
    clean = [re.sub(r"\.$", "", re.sub(r"(?s).*#### |,|\$", "", t)).lower() for t in (found, gold)]
    return clean[0] == clean[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    options, dice = TaskOptions(), random.Random(args.seed)
    lines = [f"# Agreement of the mathematical scorer\n\n`python benchmarks/agreement_math.py --rows {args.rows} --seed {args.seed}`\n\n"
             f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}\n"]
    for benchmark in (Math500(), Gsm8k()):
        items = benchmark.items(options)[: args.rows]
        rows = replies(items, lambda item, b=benchmark: b.gold(item, options), dice)
        began = time.monotonic()
        scores = benchmark.score([Answer(item, text) for item, _, text in rows], options)
        ours = time.monotonic() - began
        began = time.monotonic()
        peers: dict[str, list[bool | str]] = {
            "math-verify": math_verify_verdicts([(str(item.data["answer"]), text) for item, _, text in rows])}
        seconds = time.monotonic() - began
        if isinstance(benchmark, Gsm8k):
            for name, strict in (("lm-eval strict-match", True), ("lm-eval flexible-extract", False)):
                peers[name] = [lm_eval_gsm8k(str(item.data["answer"]), text, strict) for item, _, text in rows]
        else:
            peers["lm-eval hendrycks is_equiv"] = [s.acc_official or False for s in scores]
        lines.append(f"## {benchmark.name}: {len(rows)} replies; ours {ours:.1f} s, math-verify {seconds:.1f} s\n")
        for kind in dict.fromkeys(k for _, k, _ in rows):
            mine = [i for i, (_, k, _) in enumerate(rows) if k == kind]
            lines.append(f"- {kind}: right {sum(scores[i].acc for i in mine)} of {len(mine)}; "
                         + "; ".join(f"{name} agrees on {sum(v[i] == scores[i].acc for i in mine)}" for name, v in peers.items()))
        for name, verdicts in peers.items():
            lines.append(f"\nRows that differ from {name} ({sum(v != s.acc for v, s in zip(verdicts, scores, strict=True))}; at most 60):\n")
            shown = [(r, s, v) for r, s, v in zip(rows, scores, verdicts, strict=True) if v != s.acc][:60]
            lines += [f"- {item.id} ({kind}): gold `{item.data['answer']}`, answer `{s.answer}`: theirs {v}, ours {s.status} {s.reason[:80]}"
                      for (item, kind, _), s, v in shown]
        lines.append("")
    benchmark = Math500()
    items = benchmark.items(options)
    gold = [Answer(item, benchmark.gold(item, options)) for item in items]
    began = time.monotonic()
    right = sum(s.acc for s in benchmark.score(gold, options))
    lines.append(f"## MATH-500 gold: {right} of {len(gold)} right in {time.monotonic() - began:.2f} s\n")
    text = "\n".join(lines)
    print(text)
    if args.out:
        args.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
