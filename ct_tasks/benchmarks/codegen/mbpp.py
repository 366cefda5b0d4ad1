"""MBPP (Austin et al. 2021), test split: task ids 11 to 510, each with three asserts.

The prompt is the authors': the task's text and its asserts, since they name the function; base models get three worked
examples (tasks 2, 3 and 4 of the prompt split, as in the paper) between ``[BEGIN]`` and ``[DONE]``, chat models none.
The asserts never meet the candidate: each call in them is evaluated beside it, and the assert is then run elsewhere with
the call replaced by the output. ``acc`` and ``acc_official`` are the same here: the authors' asserts decide.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from ct_tasks.benchmarks.base import Answer, Item, Source
from ct_tasks.benchmarks.codegen import runner
from ct_tasks.benchmarks.codegen.common import CodeBenchmark, fenced
from ct_tasks.benchmarks.codegen.extract import Program
from ct_tasks.benchmarks.codegen.source import tree_of
from ct_tasks.benchmarks.data import load_rows
from ct_tasks.errors import ConfigError, DataError, HarnessError
from ct_tasks.options import TaskOptions
from ct_tasks.score import Score

TASK = "You are an expert Python programmer, and here is your task: {text} Your code should pass these tests:\n\n{tests}\n"
_FIRST, _LAST = 11, 510
_SHOT_IDS = (2, 3, 4)


class _Calls(ast.NodeTransformer):
    """Replaces each call of the entry point by an element of ``__outputs__``, and keeps the calls' source."""

    def __init__(self, entry: str) -> None:
        self.entry, self.sources = entry, list[str]()

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == self.entry:
            self.sources.append(ast.unparse(node))
            return ast.Subscript(ast.Name("__outputs__", ast.Load()), ast.Constant(len(self.sources) - 1), ast.Load())
        return self.generic_visit(node)


@dataclass(frozen=True, slots=True)
class Asserts:
    """The calls in a task's asserts, and the asserts over their outputs."""

    calls: tuple[str, ...]
    test: str

    @classmethod
    def of(cls, tests: Sequence[str], entry: str) -> Asserts:
        """Raises ``DataError`` when a test holds no call of the entry point: no tests would mean no score."""
        calls = _Calls(entry)
        trees = [calls.visit(tree_of(test)) for test in tests]
        if not calls.sources:
            raise DataError(f"the tests of {entry} never call it: {tests!r}")
        return cls(tuple(calls.sources), "\n".join(ast.unparse(ast.fix_missing_locations(tree)) for tree in trees))


def entry_point(code: str, tests: Sequence[str]) -> str:
    """The function that the tests call: of the names defined in the reference, the first that a test calls."""
    defined = {node.name for node in ast.walk(tree_of(code)) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    called = [node.func.id for test in tests for node in ast.walk(tree_of(test))
              if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    for name in called:
        if name in defined:
            return name
    raise DataError(f"no test calls a function of the reference: {tests!r}")


class Mbpp(CodeBenchmark):
    """``ct_mbpp``."""

    name = "ct_mbpp"
    default_shots: ClassVar[int] = 3  # base models; a chat model is asked without examples
    source = Source("mbpp/mbpp.jsonl.gz", 500, "google-research-datasets/mbpp", "full", "test", "CC-BY-4.0",
                    also_rows=(974,))  # the published file holds all splits

    def __init__(self) -> None:
        self._references: dict[str, runner.Run] = {}

    @cached_property
    def _rows(self) -> list[Mapping[str, Any]]:
        return [row for row in load_rows(self.source, name=self.name) if _FIRST <= int(row["task_id"]) <= _LAST]

    def items(self, options: TaskOptions) -> list[Item]:
        items = []
        for row in self._rows:
            code, tests = str(row["code"]).replace("\r\n", "\n"), list(row["test_list"])
            items.append(Item(str(row["task_id"]), {
                "text": row["text"], "reference": code, "tests": tests, "entry_point": entry_point(code, tests),
                "setup": str(row["test_setup_code"]).replace("\r\n", "\n")}))
        return items

    def item_id(self, row_id: str) -> str:
        return row_id.rpartition("/")[2]

    def bad_references(self, options: TaskOptions) -> Mapping[str, str]:
        return {"367": "the tests build trees from a class Node that neither the tests nor the reference define"}

    def prompt(self, item: Item, options: TaskOptions, *, chat: bool) -> str:
        task = TASK.format(text=str(item.data["text"]).strip(), tests="\n".join(item.data["tests"]))
        if chat and not options.shots:
            return task + f"\nReply with one Python code block that defines `{item.data['entry_point']}`."
        shots = self.default_shots if options.shots is None else options.shots
        if shots > len(SHOTS):
            raise ConfigError(f"{self.name} has {len(SHOTS)} worked examples, shots={shots} asks for more")
        return "".join(f"{TASK.format(text=text, tests=tests)}[BEGIN]\n{code}\n[DONE]\n\n"
                       for text, tests, code in SHOTS[:shots]) + task + "[BEGIN]\n"

    def program(self, answer: Answer, *, flexible: bool = False) -> Program:
        """As for the others; a reply in the authors' layout ends at ``[DONE]``, and a next task that follows is none of it."""
        head, done, _ = answer.text.removeprefix("[BEGIN]").partition("[DONE]")
        if done and not answer.extracted:
            found = super().program(replace(answer, text=head), flexible=flexible)
            if found.source is not None:
                return replace(found, cut=False)
        return super().program(answer, flexible=flexible)

    def gold(self, item: Item, options: TaskOptions) -> str:
        return fenced(str(item.data["reference"]))

    def _run_references(self, items: Sequence[Item], options: TaskOptions) -> None:
        missing = list({item.id: item for item in items if item.id not in self._references}.values())
        jobs = [runner.call_job(f"{item.data['reference']}\n{item.data['setup']}", runner.REFERENCE_LIMIT_S,
                                exprs=Asserts.of(item.data["tests"], item.data["entry_point"]).calls) for item in missing]
        bad = self.bad_references(options)
        for item, result in zip(missing, runner.run_all(jobs, options), strict=True):
            run = runner.read(result)
            if run.status != "right" and item.id not in bad:
                raise HarnessError(f"the reference of {self.name} {item.id} did not run: {run.status}: {run.error}")
            self._references[item.id] = run

    def judge(self, items: Sequence[Item], programs: Sequence[str], options: TaskOptions) -> list[Score]:
        self._run_references(items, options)
        asserts = [Asserts.of(item.data["tests"], item.data["entry_point"]) for item in items]
        jobs = []
        for item, program, made in zip(items, programs, asserts, strict=True):
            times = self._references[item.id].times
            limits = runner.limits_of([*times, *[0.0] * (len(made.calls) - len(times))], options)
            jobs.append(runner.call_job(f"{program}\n{item.data['setup']}", limits, exprs=made.calls))
        runs = [runner.read(result) for result in runner.run_all(jobs, options)]
        complete = [i for i, run in enumerate(runs) if run.status == "right"]
        results = runner.run_all([runner.hook_job("replay_asserts", items[i].data["reference"],
                                                  {"test": asserts[i].test, "outputs": runs[i].outputs})
                                  for i in complete], options)
        tests = {i: runner.trusted(result, f"the asserts of {items[i].id}")
                 for i, result in zip(complete, results, strict=True)}
        scores = []
        for i, (program, run) in enumerate(zip(programs, runs, strict=True)):
            if i not in tests:
                scores.append(Score(run.status, program, None if run.status == "harness_error" else False, run.error))
            elif tests[i]["passed"]:
                scores.append(Score("right", program, True))
            else:
                scores.append(Score("wrong", program, False, f"the test failed: {tests[i]['error']}"))
        return scores


# Tasks 2, 3 and 4 of the prompt split (CC-BY-4.0), none of which is in the test split.
SHOTS = (
    ("Write a function to find the similar elements from the given two tuple lists.",
     "assert similar_elements((3, 4, 5, 6),(5, 7, 4, 10)) == (4, 5)\nassert similar_elements((1, 2, 3, 4),(5, 4, 3, 7)) == (3, 4)\n"
     "assert similar_elements((11, 12, 14, 13),(17, 15, 14, 13)) == (13, 14)",
     "def similar_elements(test_tup1, test_tup2):\n  res = tuple(set(test_tup1) & set(test_tup2))\n  return (res) "),
    ("Write a python function to identify non-prime numbers.",
     "assert is_not_prime(2) == False\nassert is_not_prime(10) == True\nassert is_not_prime(35) == True",
     "import math\ndef is_not_prime(n):\n    result = False\n    for i in range(2,int(math.sqrt(n)) + 1):\n"
     "        if n % i == 0:\n            result = True\n    return result"),
    ("Write a function to find the largest integers from a given list of numbers using heap queue algorithm.",
     "assert heap_queue_largest( [25, 35, 22, 85, 14, 65, 75, 22, 58],3)==[85, 75, 65] \n"
     "assert heap_queue_largest( [25, 35, 22, 85, 14, 65, 75, 22, 58],2)==[85, 75] \n"
     "assert heap_queue_largest( [25, 35, 22, 85, 14, 65, 75, 22, 58],5)==[85, 75, 65, 58, 35]",
     "import heapq as hq\ndef heap_queue_largest(nums,n):\n  largest_nums = hq.nlargest(n, nums)\n  return largest_nums"),
)
