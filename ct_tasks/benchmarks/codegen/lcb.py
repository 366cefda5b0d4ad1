"""LiveCodeBench code generation (Jain et al. 2024): contest problems with a date, judged by stdin/stdout or function tests.

Tests are used as the release at hand has them: the bundled file has the public tests only, the hub's release has private
ones too (column ``private_test_cases``, compressed), and both count. Programs for standard input run as scripts with real
standard input, so ``sys.stdin.buffer`` works; the 4,300-digit limit on integers is lifted. ``start_date`` and
``end_date`` (ISO, both included) choose the window. The official comparison is line by line, token by token, decimals
exactly; ``acc`` also accepts a decimal within 1e-6 (relative, or absolute below 1) where the expected token is one.
"""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar

from ct_tasks.benchmarks.base import Answer, Item, Source
from ct_tasks.benchmarks.codegen import runner
from ct_tasks.benchmarks.codegen.child import pack
from ct_tasks.benchmarks.codegen.common import CodeBenchmark, fenced
from ct_tasks.benchmarks.codegen.extract import Program, find_script
from ct_tasks.benchmarks.codegen.source import Code, with_before
from ct_tasks.benchmarks.codegen.values import dump, load, same
from ct_tasks.benchmarks.data import load_rows
from ct_tasks.errors import ConfigError, DataError
from ct_tasks.execution.jobs import Job, Limits, Result
from ct_tasks.options import TaskOptions
from ct_tasks.score import Score

LIMIT_S = 6.0  # the official runner's limit for one test
TOLERANCE = Decimal("1e-6")
STDIN_FORMAT = "Read the input from standard input and print the answer to standard output."
# Problems with several right outputs and no published checker: an exact comparison would judge the choice, not the program.
SEVERAL_ANSWERS = {"abc343_a": "any digit other than A + B is right (sample 1 accepts 9, 0, ...), and one is stored"}


@dataclass(frozen=True, slots=True)
class Case:
    """One test: standard input and output as texts, or JSON arguments (a line each) and a JSON result."""

    given: str
    expected: str
    functional: bool


def read_cases(row: Mapping[str, Any]) -> list[Case]:
    """Public and private tests of a row. Raises ``DataError`` for a payload that cannot be read and for a row without tests."""
    cases: list[Mapping[str, Any]] = []
    for column in ("public_test_cases", "private_test_cases"):
        text = row.get(column)
        if not text:
            continue
        try:
            cases.extend(json.loads(text) if isinstance(text, str) else text)
        except ValueError:
            cases.extend(_unpack(str(text), f"{row['question_id']}.{column}"))
    if not cases:
        raise DataError(f"LiveCodeBench problem {row['question_id']} has no tests; no tests means no score")
    return [Case(c["input"], c["output"], c["testtype"] == "functional") for c in cases]


class _TextOnly(pickle.Unpickler):
    """The release packs its tests as a pickled JSON text: a text needs no class, so none is allowed."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} in a payload that should be a text")


def _unpack(text: str, where: str) -> list[Mapping[str, Any]]:
    import io

    try:
        payload = _TextOnly(io.BytesIO(zlib.decompress(base64.b64decode(text)))).load()
        cases: list[Mapping[str, Any]] = json.loads(payload)
    except (ValueError, zlib.error, pickle.UnpicklingError, EOFError) as error:
        raise DataError(f"{where} cannot be read: {error}; the file is damaged or of another release") from None
    return cases


def _tokens(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().split("\n")]


def _decimal(token: str) -> Decimal | None:
    try:
        value = Decimal(token)
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def same_output(expected: str, got: str, *, official: bool = False) -> bool:
    """Whether two printed outputs are the same: equal lines, else equal tokens, numbers by value (see the module's text)."""
    wanted, printed = _tokens(expected), _tokens(got)
    if len(wanted) != len(printed):
        return False
    for want, have in zip(wanted, printed, strict=True):
        if want == have:
            continue
        if len(want) != len(have):
            return False
        for a, b in zip(want, have, strict=True):
            if a == b:
                continue
            x, y = _decimal(a), _decimal(b)
            if x is None or y is None:
                return False
            if x != y and (official or "." not in a or abs(x - y) > TOLERANCE * max(Decimal(1), abs(x))):
                return False
    return True


class LcbCodegen(CodeBenchmark):
    """``ct_lcb_cg``."""

    name = "ct_lcb_cg"
    source = Source("lcb_codegen/test_public_only.jsonl.gz", 400, "livecodebench/code_generation_lite", "release_v1", "test", "cc")
    max_gen_toks: ClassVar[int] = 2048
    scoring_limit: ClassVar[str] = "a test: 6 s"

    def items(self, options: TaskOptions) -> list[Item]:
        start, end = _day(options.start_date, "start_date"), _day(options.end_date, "end_date")
        if start and end and start > end:
            raise ConfigError(f"start_date {start} lies after end_date {end}")
        items = []
        for row in load_rows(self.source, name=self.name):
            day = date.fromisoformat(str(row["contest_date"])[:10])
            if (start and day < start) or (end and day > end):
                continue
            cases = read_cases(row)
            metadata = json.loads(row["metadata"]) if isinstance(row["metadata"], str) else dict(row["metadata"])
            function = metadata.get("func_name", "") if cases[0].functional else ""
            items.append(Item(str(row["question_id"]), {
                "title": row["question_title"], "content": row["question_content"], "starter": row["starter_code"],
                "entry_point": f"Solution.{function}" if function else "", "date": day.isoformat(), "platform": row["platform"],
                "difficulty": row["difficulty"], "cases": [[c.given, c.expected] for c in cases]}))
        if not items:
            raise ConfigError(f"no LiveCodeBench problem lies between start_date={start} and end_date={end}")
        return items

    def bad_references(self, options: TaskOptions) -> Mapping[str, str]:
        return SEVERAL_ANSWERS

    def entry(self, item: Item) -> str:
        return str(item.data["entry_point"]) or "main"

    def prompt(self, item: Item, options: TaskOptions, *, chat: bool) -> str:
        """The official task: statement, then starter code or the standard-input format, answer in one code block."""
        starter = str(item.data["starter"]).rstrip()
        ask = (f"Use the following starter code and complete the method.\n```python\n{starter}\n```" if starter else STDIN_FORMAT)
        return (f"Write a correct Python program that solves the problem and passes all tests.\n\n### Question\n"
                f"{str(item.data['content']).strip()}\n\n### Format\n{ask}\nEnclose the program in one Python code block.\n\n"
                "### Answer\n")

    def program(self, answer: Answer, *, flexible: bool = False) -> Program:
        """A whole script for standard input; else a class with the method, after the imports of the official runner."""
        if not answer.item.data["entry_point"] and not answer.extracted:
            return find_script(answer.text, truncated=answer.truncated, thinking=answer.thinking, flexible=flexible)
        found = super().program(answer, flexible=flexible)
        if found.source is None or not answer.item.data["entry_point"]:
            return found
        return replace(found, source=with_before([_TYPING], Code(found.source)))

    def gold(self, item: Item, options: TaskOptions) -> str:
        """The release has no reference programs; this one looks its input up among the tests."""
        cases = item.data["cases"]
        entry = str(item.data["entry_point"])
        if entry:
            table = {dump(tuple(_arguments(given))): json.loads(expected) for given, expected in cases}
            return fenced(f"import json\n\nTABLE = {table!r}\n\n\nclass Solution:\n    def {entry.partition('.')[2]}(self, *args):\n"
                          "        key = json.dumps({'t': list(args)}, separators=(',', ':'))\n        return TABLE[key]")
        table = dict(cases)
        return fenced(f"import sys\n\nTABLE = {table!r}\nprint(TABLE[sys.stdin.read()])")

    def hostile(self, item: Item, options: TaskOptions) -> Mapping[str, str]:
        if item.data["entry_point"]:
            return super().hostile(item, options)
        return {
            "empty": "",
            "prose": "Read the numbers, then print the answer.",
            "silent": "```python\nimport sys\nsys.stdin.read()\n```",
            "leave": "```python\nimport os\nos._exit(0)\n```",
            "echo": "```python\nimport sys\nprint(sys.stdin.read() + 'x')\n```",
            "everything": "```python\n" + "\n".join(f"print({expected!r})" for _, expected in item.data["cases"]) + "\nprint('x')\n```",
            "raise_late": "```python\nimport sys\nprint(" + repr(item.data["cases"][0][1]) + ")\nsys.exit(3)\n```",
            "open_thinking": "<think>" + self.gold(item, options),
            "output_only": f"The output is\n```\n{item.data['cases'][0][1]}\n```",
            "changed_mind": f"{self.gold(item, options)}\nNo:\n```python\nprint(input(), 'x')\n```",
        }

    def judge(self, items: Sequence[Item], programs: Sequence[str], options: TaskOptions) -> list[Score]:
        limit = options.limit_s or LIMIT_S
        jobs: list[Job] = []
        spans: list[range] = []
        for item, program in zip(items, programs, strict=True):
            cases = item.data["cases"]
            first = len(jobs)
            if item.data["entry_point"]:
                calls = [tuple(_arguments(given)) for given, _ in cases]
                jobs.append(runner.call_job(program, limit, entry=item.data["entry_point"], calls=pack(calls)))
            else:
                jobs.extend(Job(program, stdin=given, hook=runner.BEFORE_SCRIPT, limits=Limits(
                    cpu_s=limit, wall_s=6 * limit + 6, memory_mb=runner.MEMORY_MB,
                    output_bytes=max(1 << 20, 4 * len(expected)))) for given, expected in cases)
            spans.append(range(first, len(jobs)))
        results = runner.run_all(jobs, options)
        return [self._verdict(item, program, [results[i] for i in span])
                for item, program, span in zip(items, programs, spans, strict=True)]

    def _verdict(self, item: Item, program: str, results: Sequence[Result]) -> Score:
        cases = item.data["cases"]
        if item.data["entry_point"]:
            run = runner.read(results[0])
            if run.status != "right":
                return Score(run.status, program, None if run.status == "harness_error" else False, run.error)
            pairs = [(json.loads(expected), load(text)) for (_, expected), text in zip(cases, run.outputs, strict=False)]
            strict = len(pairs) == len(cases) and all(same(want, _listed(have)) for want, have in pairs)
            official = len(pairs) == len(cases) and all(_listed(have) == want for want, have in pairs)
            return Score("right" if strict else "wrong", program, official, "" if strict else "an output differs")
        for result in results:
            if result.status == "harness_error":
                return Score("harness_error", program, None, result.error)
        for i, (result, (_, expected)) in enumerate(zip(results, cases, strict=True)):
            if result.status != "ok":
                status = "timeout" if result.status == "timeout" else "wrong"
                return Score("timeout" if status == "timeout" else "wrong", program, False, f"test {i}: {result.status}: {result.error}")
            if not same_output(expected, result.stdout):
                return Score("wrong", program, False, f"test {i}: expected {expected[:100]!r}, got {result.stdout[:100]!r}")
        official = all(same_output(expected, result.stdout, official=True)
                       for result, (_, expected) in zip(results, cases, strict=True))
        return Score("right", program, official)


_TYPING = ("from typing import *\nimport collections, heapq, itertools, math, bisect, functools, string, re\n"
           "from collections import *\nfrom heapq import *\nfrom itertools import *\nfrom functools import *\nfrom math import *\n"
           "from bisect import *\n")


def _arguments(given: str) -> list[Any]:
    """The arguments of a functional test: one JSON value a line."""
    return [json.loads(line) for line in given.split("\n") if line.strip()]


def _listed(value: Any) -> Any:
    """Tuples as lists, as the official runner compares them: JSON has no tuples."""
    if isinstance(value, (tuple, list)):
        return [_listed(v) for v in value]
    return value


def _day(text: str | None, name: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise ConfigError(f"{name} must be an ISO date such as 2023-09-01, got {text!r}") from None
