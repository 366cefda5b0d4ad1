"""What values made to hurt cost the scorer, the tracer and the rewards: CPU time and memory of each, in a process of its own.

    python benchmarks/hostile_values.py --random 300 --out results/hostile_values.json

Values are nested sets, ranges, huge integers, chosen hash collisions, long chains, strings full of syntax, shared and
self-containing structures and classes that misbehave; some by hand, the rest drawn with a seed. The most that any item
may cost is 1 s and 100 MB. Nothing is executed but the programs below, which are our own.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from ct_tasks.benchmarks.base import Answer, Item
from ct_tasks.benchmarks.input import InputBenchmark
from ct_tasks.benchmarks.official import Rules
from ct_tasks.benchmarks.output import OutputBenchmark
from ct_tasks.contra.trace import Truth, render
from ct_tasks.contra.tracer import trace_call, trace_hook
from ct_tasks.execution.jobs import Job, Result
from ct_tasks.execution.tracing import read_reply
from ct_tasks.options import TaskOptions
from ct_tasks.reports.samples import _variables
from ct_train.rewards import REWARDS, Sample, build

PRIME = 2**61 - 1  # Python's hash of an integer is its rest by this number

VALUES = {
    "nested frozensets": "frozenset({" * 75 + "1" + "})" * 75,
    "nested frozensets of two": "frozenset({2, " * 75 + "1" + "})" * 75,
    "nested tuples in a set": "{" + "(" * 150 + "1" + ",)" * 150 + "}",
    "nested dicts": "{1: " * 150 + "1" + "}" * 150,
    "nested lists": "[" * 155 + "]" * 155,
    "ranges": "[" + "range(99999), " * 80 + "]",
    "nested constructors": "list(" * 70 + "range(99999)" + ")" * 70,
    "nested counters": "Counter(" * 70 + "range(3000)" + ")" * 70,
    "nested dict calls": "dict(a=" * 70 + "1" + ")" * 70,
    "a range beyond any length": "range(10**30)",
    "a range of a huge number": "range(" + "9" * 4000 + ")",
    "a set of a list of characters": "set(list('" + "ab" * 90_000 + "'))",
    "decimal digits": "[" + ("9" * 4200 + ", ") * 45 + "]",
    "hexadecimal digits": "0x" + "f" * 190_000,
    "colliding integers": "{" + ", ".join(str(n * PRIME) for n in range(9000)) + "}",
    "colliding keys": "{" + ", ".join(f"{n * PRIME}: 1" for n in range(8000)) + "}",
    "colliding tuples": "{" + ", ".join("(" + ", ".join(f"-{1 + (n >> b & 1)}" for b in range(12)) + ")" for n in range(4000)) + "}",
    "colliding pairs": "dict([" + ", ".join(f"({n * PRIME}, 1)" for n in range(7000)) + "])",
    "colliding list in a set": "set([" + ", ".join(str(n * PRIME) for n in range(9000)) + "])",
    "not a number": "{" + "nan, " * 30_000 + "}",
    "a chain of complex numbers": "1" + "+1j" * 60_000,
    "a list of complex numbers": "[" + "1+1j, " * 30_000 + "]",
    "many integers": "[" + "1," * 65_000 + "]",
    "more integers": "[" + "1," * 99_000 + "]",
    "many lists": "[" + "[]," * 32_000 + "]",
    "many pairs": "{" + "1:1," * 32_000 + "}",
    "many strings": "''" + " ''" * 66_000,
    "many names": "[" + "a," * 65_000 + "]",
    "brackets in a string": repr("(" * 199_000),
    "brackets in strings": repr(["("] * 30_000),
    "escaped quotes": "'" + "\\'" * 99_000 + "'",
    "backslashes": "'" + "\\\\" * 99_000 + "'",
    "quotes": "'" * 199_999,
    "triple quotes": "'''" * 66_000,
    "a triple quote that never ends": "'''" + "\\'" * 90_000 + "''",
    "strings that never end": "'(\n" * 60_000,
    "comments": "(#'\n" * 45_000,
    "open brackets": "[" * 199_000,
    "closed and opened": "]" * 90_000 + "[" * 90_000,
    "signs": "-" * 199_000 + "1",
    "signs with spaces": "- " * 99_000 + "1",
    "negations": "not " * 49_000 + "1",
    "attributes": "a" + ".a" * 99_000,
    "calls": "f" + "()" * 60_000,
    "powers": "9" + "**9" * 60_000,
    "comparisons": "1" + " < 1" * 45_000,
    "many assertions": "2\nassert f(1) == 2" * 11_000,
    "a format string": "f'" + "{1}" * 60_000 + "'",
    "nested format strings": "f'{" * 60_000,
    "null characters": "\x00" * 199_000,
    "half characters": repr("\ud800") * 20_000,
    "byte order marks": "\ufeff" * 1000 + "1",
    "a text beyond the limit": repr("a" * 300_000),
}  # fmt: skip

CLASSES = "class Meta(type):\n    def __eq__(c, o):\n        while True: pass\n    __hash__ = type.__hash__\nclass Odd(metaclass=Meta):\n    def __repr__(s):\n        while True: pass\n    __eq__ = __hash__ = __iter__ = __len__ = __bool__ = __reduce__ = __repr__\n"
PROGRAMS = {
    "nested frozensets": "x = 1\n    for i in range(79):\n        x = frozenset({x, i})",
    "shared lists": "x = []\n    for i in range(60):\n        x = [x, x]",
    "shared tuples in a set": "x = ()\n    for i in range(18):\n        x = (x, x)\n    x = {x}",
    "a list that holds itself": "x = []\n    x += [x, x, x]",
    "dicts that hold each other": "x = {}\n    y = {1: x, 2: x}\n    x.update({1: y, 2: y})",
    "a range without a length": "x = range(10**30)",
    "a long range": "x = range(10**7)",
    "a range as key": "x = {range(3): 1, (range(2),): 2}",
    "a huge integer": "x = 1 << 4_000_000",
    "huge integers": "x = [(1 << 13_990) - i for i in range(3000)]",
    "colliding integers": "x = {n * (2 ** 61 - 1) for n in range(1500)}",
    "a complex number that is not finite": "x = complex('nan+infj')",
    "a long string": "x = 'ab' * 2_000_000",
    "odd classes": "x = Odd\n    y = [Odd()]\n    z = {1: Odd}",
    "a generator": "x = iter(int, 1)\n    y = (i for i in x)",
    "deep recursion of lists": "x = []\n    for i in range(100_000):\n        x = [x]",
    "locals of locals": "x = locals()\n    y = vars()\n    z = [x, y, x, y]",
}  # fmt: skip


def drawn(rng: random.Random) -> str:
    """A value at random: wrappers around wrappers, some of them many times."""
    text = rng.choice(["1", "-1", "nan", "'('", "1+1j", "range(9999)", str(PRIME), "''", "b'['", "None", "{}", "set()", "-0.0", "1e999"])
    for _ in range(rng.randrange(1, 5)):
        before, after = rng.choice([("[", "]"), ("(", ",)"), ("{", "}"), ("{1: ", "}"), ("frozenset({", "})"), ("list(", ")"), ("Counter([", "])"), ("dict(a=", ")"), ("-", ""), ("tuple(", ")"), ("set([", "])"), ("float(", ")"), ("{(", "): 1}"), ("'", "'"), ("deque(", ")")])  # fmt: skip
        if rng.random() < 0.5:
            times = rng.choice((2, 10, 40, 79, 200))
            text = before * times + text + after * times
        else:
            text = before + f"{text}, " * min(rng.choice((2, 30, 1000, 30_000)), 1 + 190_000 // len(text)) + after
        if len(text) > 250_000:
            break
    return text


class _Mine:
    """One item whose gold is a nested set, and a sandbox that gives back what it is asked for."""

    name = "ct_hostile"
    rules = Rules()
    gold_text = "frozenset({2, " * 20 + "1" + "})" * 20

    def load(self) -> list[Item]:
        return [Item("a", {"code": "def f(x):\n    return x", "entry": "f", "call": "f(1)", "output": self.gold_text})]

    def run(self, options: TaskOptions, jobs: Sequence[Job]) -> list[Result]:
        return [Result("ok", value=(job.expr or "1").partition("(lambda r: (r, type(r).__name__))(f(")[2][:-2]) for job in jobs]


class _Output(_Mine, OutputBenchmark):
    pass


class _Input(_Mine, InputBenchmark):
    rules = Rules("input")


TRUTH = trace_call("def f(x):\n    y = [x]\n    return y", "f(1)")


def readings(text: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """One reply that holds the value, in the ways in which scorers and rewards read one."""
    item = _Mine().load()[0]
    gold = replace(item, data={**item.data, "output": text})
    yield "as answer", lambda: _Output().score([Answer(item, f"assert f(1) == {text}", extracted=True)], TaskOptions())
    yield "as reference", lambda: _Output().score([Answer(gold, "1", extracted=True)], TaskOptions())
    yield "as argument", lambda: _Input().score([Answer(item, f"f(x={text})", extracted=True)], TaskOptions())
    for paradigm, reply in (("cot", f"[ANSWER]{text}[/ANSWER]"), ("codeio", json.dumps({"output": text})), ("cwm", text)):
        yield paradigm, lambda p=paradigm, r=reply: _Output().score([Answer(item, r)], TaskOptions(paradigm=p))  # type: ignore[misc]
    yield "in the report", lambda: _variables({"predicted": text, "truth": "{}"})
    trace = render(TRUTH)
    as_locals = trace.replace(TRUTH.blocks[0].locals_text, f"{{'x': {text}}}")
    as_return = trace.replace("== [1]", f"== {text}")
    question = {"kind": "state", "question": "", "accepted": [text]}
    rollouts = {
        "codethinker": as_locals,
        "cwm": as_return,
        "format": as_return,
        "codereasoner": f"[THOUGHT]\n[/THOUGHT]\n[ANSWER]\nassert f(1) == {text}\n[/ANSWER]",
        "execverify": f"<reasoning></reasoning><answer>assert f(1) == [1]\n{text}; list</answer>",
    }
    for name in REWARDS:
        sample = Sample(rollouts.get(name, as_locals), TRUTH, (question,))
        yield f"reward {name}", lambda n=name, s=sample: build(n).score(s)  # type: ignore[misc]


def traced(body: str) -> None:
    """One program whose locals and value are the hostile ones, and its trace on the way back."""
    source = f"{CLASSES}def f():\n    {body}\n    n = 1\n    return x"
    reply = json.loads(json.dumps(trace_hook({"source": source, "call": "f()"})))
    truth = read_reply(reply)
    if isinstance(truth, Truth):
        build("codethinker").score(Sample(render(truth), truth))


def measured(work: Callable[[], object], cpu_s: float) -> dict[str, Any]:
    """CPU seconds and megabytes of one piece of work in a fork that ends after ``cpu_s``, and what escaped from it."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts here
            before = _status("VmRSS")
            signal.setitimer(signal.ITIMER_PROF, cpu_s)
            escaped = ""
            try:
                work()
            except BaseException:  # noqa: BLE001 - hides nothing: it is reported as a failure
                escaped = traceback.format_exc()[-1500:]
            signal.setitimer(signal.ITIMER_PROF, 0)
            os.write(writer, json.dumps({"mb": (_status("VmHWM") - before) / 1024, "escaped": escaped}).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        text = stream.read()
    _, status, usage = os.wait4(pid, 0)
    found = json.loads(text) if text else {"mb": 0.0, "escaped": f"ended with {os.waitstatus_to_exitcode(status)}"}
    return {"cpu_s": usage.ru_utime + usage.ru_stime, **found}


def _status(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1])
    raise KeyError(key)


def items(count: int, seed: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """Every value by hand and ``count`` drawn ones in each reading, every program through the tracer."""
    rng = random.Random(seed)
    for name, text in {**VALUES, **{f"drawn {i}": drawn(rng) for i in range(count)}}.items():
        for how, work in readings(text):
            yield f"{name} {how}", work
    for name, body in PROGRAMS.items():
        yield f"{name} in a trace", lambda body=body: traced(body)  # type: ignore[misc]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="write the figures there as JSON")
    options = parser.parse_args()
    rows = {}
    for name, work in items(options.random, options.seed):
        rows[name] = row = measured(work, 20.0)
        if row["escaped"] or row["cpu_s"] > 1 or row["mb"] > 100:
            print(name, row, file=sys.stderr, flush=True)
    figures = {
        "command": f"python benchmarks/hostile_values.py --random {options.random} --seed {options.seed}",
        "date": date.today().isoformat(),
        "python": platform.python_version(),
        "items": len(rows),
        "escaped": sum(bool(row["escaped"]) for row in rows.values()),
        "most_cpu_s": {n: round(rows[n]["cpu_s"], 2) for n in sorted(rows, key=lambda n: -rows[n]["cpu_s"])[:5]},
        "most_mb": {n: round(rows[n]["mb"], 1) for n in sorted(rows, key=lambda n: -rows[n]["mb"])[:5]},
    }
    print(json.dumps(figures, indent=2))
    if options.out:
        options.out.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
