"""HumanEval+ and MBPP+ (Liu et al. 2023, EvalPlus): the base problems with many more inputs.

All inputs of the published rows (base and plus together, column ``test``) are really run. Expected outputs come from the
reference, run in the sandbox on the same inputs, not from the stored results (a reply that is the reference's own text is
judged on those outputs and not run again); each value is compared here with its own
tolerance (``oracles``). ``acc_official`` is evalplus' verdict on the same outputs. Inputs on which float rounding instead
of the statement decides are left out of ``acc`` (``oracles.BORDERLINE``).
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import platform
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from ct_tasks.benchmarks.base import Item, Source
from ct_tasks.benchmarks.codegen import oracles, runner
from ct_tasks.benchmarks.codegen.child import pack, unpack
from ct_tasks.benchmarks.codegen.common import CHAT, CodeBenchmark, fenced
from ct_tasks.benchmarks.codegen.source import tree_of
from ct_tasks.benchmarks.codegen.values import has_opaque, load
from ct_tasks.benchmarks.data import cache_dir, load_rows
from ct_tasks.errors import DataError, HarnessError
from ct_tasks.execution.jobs import Job
from ct_tasks.options import TaskOptions
from ct_tasks.score import Score

_CODE = hashlib.sha256(b"".join(Path(__file__).with_name(name).read_bytes() for name in ("child.py", "values.py", "oracles.py"))
                       ).hexdigest()


class _Constants(ast.NodeTransformer):
    """``inf`` and ``nan`` as the floats they name in the published tests."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Constant(float(node.id)), node) if node.id in ("inf", "nan") else node


@dataclass(slots=True)
class Tests:
    """The inputs of one problem, packed for the sandbox, with what the reference returned on them (texts)."""

    entry: str
    inputs: list[tuple[Any, ...]]
    atol: float
    packed: str
    expected: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    borderline: frozenset[int] = frozenset()


def read_tests(source: str, where: str) -> tuple[str, list[tuple[Any, ...]], float]:
    """``(function called, inputs, tolerance)`` of a published ``test`` column, from its syntax tree alone.

    Raises ``DataError`` when the column has another shape or no inputs: no tests means no score.
    """
    # Nearly all of the column is two literals, each on a line of its own; only the first is needed as a tree.
    found = re.search(r"^[ \t]*inputs = (.*)$", source, re.MULTILINE)
    rest = re.sub(r"^([ \t]*)(inputs|results) = .*$", r"\1\2 = 0", source, flags=re.MULTILINE) if found else source
    inputs: list[Any] | None = None
    try:
        inputs = _literal(ast.parse(found.group(1), mode="eval").body) if found else None
        tree = tree_of(rest)
    except SyntaxError:  # a literal that goes over several lines
        tree = tree_of(source)
    entry, atol = "", 0.0
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "inputs" and not inputs:
            inputs = _literal(node.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "assertion":
            if isinstance(node.args[0], ast.Call) and isinstance(node.args[0].func, ast.Name):
                entry = node.args[0].func.id
            if isinstance(node.args[2], ast.Constant):
                atol = float(ast.literal_eval(node.args[2]))
    if not inputs or not isinstance(inputs, list):
        raise DataError(f"{where}: the column 'test' holds no inputs in the published layout")
    return entry, [tuple(args) for args in inputs], atol


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ast.literal_eval(ast.fix_missing_locations(_Constants().visit(node)))


class _Plus(CodeBenchmark):
    mbpp: ClassVar[bool]

    def __init__(self) -> None:
        self._tests: dict[str, Tests] = {}
        self._failed: dict[str, str] = {}

    @cached_property
    def _rows(self) -> dict[str, Mapping[str, Any]]:
        return {str(row["task_id"]): row for row in load_rows(self.source, name=self.name)}

    def tests(self, item_ids: Sequence[str], options: TaskOptions) -> None:
        """Make sure that these items have their inputs and the reference's outputs; raises ``DataError``, ``HarnessError``."""
        for i in dict.fromkeys(item_ids):
            if i not in self._tests and (kept := self._kept(i, options)) is not None:
                self._tests[i] = kept
        wanted = [i for i in dict.fromkeys(item_ids) if i not in self._tests]
        made: list[Tests] = []
        for item_id in wanted:
            row = self._rows[item_id]
            entry, inputs, atol = read_tests(row["test"], item_id)
            entry = str(row.get("entry_point") or entry)
            decide = oracles.BORDERLINE.get(entry)
            borderline = frozenset(i for i, args in enumerate(inputs) if decide is not None and decide(*args))
            made.append(Tests(entry, inputs, atol, pack(inputs), borderline=borderline))
        jobs = [runner.call_job(self.reference(i), runner.REFERENCE_LIMIT_S, entry=t.entry, calls=t.packed)
                for i, t in zip(wanted, made, strict=True)]
        for item_id, tests, result in zip(wanted, made, runner.run_spread(jobs, [0.0] * len(jobs), options), strict=True):
            run = runner.read(result)
            if run.status != "right" or len(run.outputs) != len(tests.inputs):
                raise HarnessError(f"the reference of {item_id} did not run: {run.status}: {run.error}")
            tests.expected = list(run.outputs)
            tests.values = [load(text) for text in run.outputs]
            tests.times = list(run.times)
            self._tests[item_id] = tests
            self._keep(item_id, tests)

    def _file(self, item_id: str) -> Path:
        """Where this item's inputs and expected outputs are kept: named after all that they depend on."""
        row = self._rows[item_id]
        parts = [row["test"], self.reference(item_id), platform.python_version(), _CODE]
        return cache_dir() / "plus" / f"{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]}.json"

    def _kept(self, item_id: str, options: TaskOptions) -> Tests | None:
        try:
            made = json.loads(self._file(item_id).read_text())
            tests = Tests(made["entry"], unpack(made["packed"]), made["atol"], made["packed"], made["expected"],
                          [load(text) for text in made["expected"]], made["times"], frozenset(made["borderline"]))
        except (OSError, ValueError, KeyError):  # not there, or damaged: made again
            return None
        return tests

    def _keep(self, item_id: str, tests: Tests) -> None:
        file = self._file(item_id)
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f"{file.name}.{os.getpid()}.part")
        part.write_text(json.dumps({"entry": tests.entry, "packed": tests.packed, "atol": tests.atol, "times": tests.times,
                                    "expected": tests.expected, "borderline": sorted(tests.borderline)}))
        part.replace(file)

    @abstractmethod
    def reference(self, item_id: str) -> str:
        """Source of the benchmark's own solution."""

    def judge(self, items: Sequence[Item], programs: Sequence[str], options: TaskOptions) -> list[Score]:
        self.tests([item.id for item in items], options)
        runs: dict[tuple[str, str], runner.Run] = {}
        jobs: dict[tuple[str, str], Job] = {}
        for item, program in zip(items, programs, strict=True):
            tests, key = self._tests[item.id], (item.id, program)
            if program.strip() == self.reference(item.id).strip():  # it has been run on these inputs: that is what is expected
                runs[key] = runner.Run("right", tuple(tests.expected), tuple(tests.times))
            elif key not in jobs:
                jobs[key] = runner.call_job(program, runner.limits_of(tests.times, options), entry=tests.entry, calls=tests.packed,
                                            room=runner.room_for(tests.expected))
        costs = [sum(self._tests[item_id].times) for item_id, _ in jobs]
        for key, result in zip(jobs, runner.run_spread(list(jobs.values()), costs, options), strict=True):
            runs[key] = runner.read(result)
        scores = {key: self._verdict(self._tests[key[0]], key[1], run) for key, run in runs.items()}
        return [scores[item.id, program] for item, program in zip(items, programs, strict=True)]

    def _verdict(self, tests: Tests, program: str, run: runner.Run) -> Score:
        if run.status != "right":
            return Score(run.status, program, None if run.status == "harness_error" else False, run.error)
        if len(run.outputs) != len(tests.inputs):
            return Score("wrong", program, False, "the program tampered with its report")
        got: list[Any] | None = None
        first_wrong = None
        if list(run.outputs) != tests.expected or any(map(has_opaque, tests.expected)):
            try:
                got = [tests.values[i] if text == tests.expected[i] and not has_opaque(text) else load(text)
                       for i, text in enumerate(run.outputs)]
            except (ValueError, TypeError, KeyError, RecursionError):
                return Score("wrong", program, False, "the program tampered with its report")
            for i, value in enumerate(got):
                if i in tests.borderline or (value is tests.values[i] and tests.entry != "find_zero"):
                    continue
                if not oracles.right(tests.entry, self.mbpp, tests.inputs[i], tests.values[i], value, tests.atol):
                    first_wrong = i
                    break
        official = (got is None and tests.entry != "find_zero") or oracles.official(tests.entry, self.mbpp, tests.inputs, tests.values, got or tests.values, tests.atol)
        if first_wrong is None:
            return Score("right", program, official)
        call = f"{tests.entry}{tests.inputs[first_wrong]!r}"[:300]
        return Score("wrong", program, official, f"test {first_wrong}: {call}: expected {tests.expected[first_wrong][:200]}, "
                     f"got {run.outputs[first_wrong][:200]}")


class HumanEvalPlus(_Plus):
    """``ct_humaneval_plus``."""

    name = "ct_humaneval_plus"
    source = Source("humaneval_plus/test.jsonl.gz", 164, "evalplus/humanevalplus", None, "test", "Apache-2.0")
    mbpp = False

    def items(self, options: TaskOptions) -> list[Item]:
        return [Item(item_id, {"head": row["prompt"], "entry_point": row["entry_point"]}) for item_id, row in self._rows.items()]

    def prompt(self, item: Item, options: TaskOptions, *, chat: bool) -> str:
        head = str(item.data["head"])
        if not chat:
            return head.rstrip() + "\n"
        return CHAT.format(entry=item.data["entry_point"], problem=f"```python\n{head.rstrip()}\n```")

    def reference(self, item_id: str) -> str:
        row = self._rows[item_id]
        return str(row["prompt"]) + str(row["canonical_solution"])

    def gold(self, item: Item, options: TaskOptions) -> str:
        return fenced(self.reference(item.id))


class MbppPlus(_Plus):
    """``ct_mbpp_plus``."""

    name = "ct_mbpp_plus"
    source = Source("mbpp_plus/test.jsonl.gz", 378, "evalplus/mbppplus", None, "test", "Apache-2.0")
    mbpp = True

    def items(self, options: TaskOptions) -> list[Item]:
        items = []
        for item_id, row in self._rows.items():
            call = tree_of(row["test_list"][0])
            names = [n.func.id for n in ast.walk(call) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
            defined = {n.name for n in ast.walk(tree_of(row["code"])) if isinstance(n, ast.FunctionDef)}
            entry = next(name for name in names if name in defined)
            items.append(Item(item_id, {"text": row["prompt"], "assertion": row["test_list"][0], "entry_point": entry}))
        return items

    def item_id(self, row_id: str) -> str:
        return row_id.rpartition("/")[2]

    def prompt(self, item: Item, options: TaskOptions, *, chat: bool) -> str:
        """evalplus' prompt: the text and one assert, as a docstring for base models."""
        problem = f'"""\n{str(item.data["text"]).strip()}\n{item.data["assertion"]}\n"""'
        if not chat:
            return problem + "\n"
        return CHAT.format(entry=item.data["entry_point"], problem=f"```python\n{problem}\n```")

    def reference(self, item_id: str) -> str:
        return oracles.CORRECTED.get(item_id, str(self._rows[item_id]["code"]).replace("\r\n", "\n"))

    def gold(self, item: Item, options: TaskOptions) -> str:
        return fenced(self.reference(item.id))


def inputs_digest(tests: Tests) -> str:
    """SHA-256 of the inputs, so that a result can say which tests it ran."""
    return hashlib.sha256(tests.packed.encode()).hexdigest()
