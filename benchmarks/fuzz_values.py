"""A million texts and values through the reader, the writer and typed equality; nothing but a value or a LiteralError may come out.

    python benchmarks/fuzz_values.py --count 1000000 --seed 0 --out results/fuzz_values.json

Texts are heavy in what misleads a careless reader: strings full of brackets, signs, quotes and escapes, unfinished ones
included. Three kinds, in equal parts: ``repr`` of a random value, which must read back as that value; the same with some
characters changed; and random pieces of syntax. What reads must be written, and read again as the same value. Beside each
text, ``ast.literal_eval`` says what Python reads: where both read, they agree, and what it reads we may refuse only beyond
the limits on size.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import platform
import random
import time
import warnings
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

from ct_tasks.contra import literals

ODD = ["(", ")", "[", "]", "{", "}", "+", "-", "~", "'", '"', "\\", "\n", "#", "'''", '"""', "\\'", '\\"', "\\\\", "a", "0", ",", ":", "é", "\x00", "\ud800", "{0}", " "]
PIECES = [*ODD, "1", "-1", "1.5", "1e999", "2j", "True", "None", "...", "b'", "r'", "f'", "rb\"", "set()", "frozenset(", "float('", "inf", "nan", "dict(", "range(", "list(", "Counter(", "x", "=", "**", "*", " for x in ", "lambda:", "not ", "if", "\t", "\\\n", "0x1f", "1_0", "1+2j", "-0.0", "''", '""']  # fmt: skip


def a_string(rng: random.Random) -> str:
    if rng.random() < 0.02:
        return rng.choice(ODD) * rng.choice((81, 100, 161, 170, 300))
    return "".join(rng.choices(ODD, k=rng.randrange(12)))


def a_key(rng: random.Random, depth: int) -> Any:
    match rng.randrange(12 if depth else 9):
        case 0 | 1 | 2 | 3:
            return a_string(rng)
        case 4:
            return rng.choice((0, 1, -1, True, False, None, 10**30, -(2**61 - 1)))
        case 5:
            return rng.choice((0.0, -0.0, 1.0, -1.5, math.inf, -math.inf, math.nan, 1e300))
        case 6:
            return a_string(rng).encode("utf-8", "surrogatepass")
        case 7:
            return complex(rng.choice((0, -0.0, 1, -2)), rng.choice((0, -0.0, 1.5, -2)))
        case 8:
            return rng.randrange(-99, 99)
        case 9 | 10:
            return tuple(a_key(rng, depth - 1) for _ in range(rng.randrange(4)))
        case _:
            return frozenset(a_key(rng, depth - 1) for _ in range(rng.randrange(4)))


def a_value(rng: random.Random, depth: int = 3) -> Any:
    match rng.randrange(9 if depth else 1):
        case 0 | 1 | 2:
            return a_key(rng, depth)
        case 3 | 4:
            return [a_value(rng, depth - 1) for _ in range(rng.randrange(5))]
        case 5:
            return tuple(a_value(rng, depth - 1) for _ in range(rng.randrange(4)))
        case 6:
            return {a_key(rng, depth - 1): a_value(rng, depth - 1) for _ in range(rng.randrange(4))}
        case 7:
            return {a_key(rng, depth - 1) for _ in range(rng.randrange(4))}
        case _:
            return [a_string(rng)] * rng.choice((1, 5, 90, 200))


def changed(rng: random.Random, text: str) -> str:
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice((rng.choice(ODD), "")) + text[at + rng.randrange(3) :]
    return text


def check(rng: random.Random, kind: int) -> str:
    """One input. The outcome's name; raises ``AssertionError`` saying what was wrong, or whatever escaped."""
    if kind == 0:
        value = a_value(rng)
        assert literals.same(literals.plain(value), value), value
        text = repr(value)
        if len(text) > literals.MAX_TEXT:
            return "too long"
        assert literals.same(literals.parse(text), value), text
        assert literals.same(literals.parse(literals.dump(value), constructors=False), value), text
        return "value"
    text = changed(rng, repr(a_value(rng))) if kind == 1 else "".join(rng.choices(PIECES, k=rng.randrange(1, 25)))
    try:
        expected: tuple[Any, ...] = (ast.literal_eval(text.strip()),)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        expected = ()
    try:
        found = literals.parse(text)
    except literals.LiteralError as error:
        refused = str(error)
    else:
        refused = ""
    if refused:
        assert not expected or any(word in refused for word in ("limit", "deeper", "run of")), (text, refused)
        return "refused"
    if expected:
        assert literals.same(found, expected[0]), (text, found, expected)
    try:
        written = literals.dump(found)
    except literals.LiteralError:
        assert "j" in text, text  # a complex number that is not finite
        return "read"
    assert literals.same(literals.parse(written), found), (text, written)
    return "read"


def run(count: int, seed: int) -> Counter[str]:
    """``count`` inputs; each has a seed of its own, so that one that fails can be made again."""
    outcomes: Counter[str] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # odd escapes
        for i in range(count):
            try:
                outcomes[check(random.Random(f"{seed}/{i}"), i % 3)] += 1
            except Exception as error:
                raise AssertionError(f"input {i} of seed {seed}") from error
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="write the figures there as JSON")
    options = parser.parse_args()
    start = time.process_time()
    outcomes = run(options.count, options.seed)
    figures = {
        "command": f"python benchmarks/fuzz_values.py --count {options.count} --seed {options.seed}",
        "date": date.today().isoformat(),
        "python": platform.python_version(),
        "inputs": options.count,
        "outcomes": dict(sorted(outcomes.items())),
        "wrong": 0,
        "cpu_s": round(time.process_time() - start, 1),
    }
    print(json.dumps(figures, indent=2))
    if options.out:
        options.out.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
