"""REval-FO: the value of a call, for all inputs of the 85 functions (the paper's 651 samples)."""

from __future__ import annotations

import ast
from dataclasses import replace

from ct_tasks.benchmarks.base import Item
from ct_tasks.benchmarks.output import OutputBenchmark
from ct_tasks.benchmarks.reval import dataset
from ct_tasks.contra import literals
from ct_tasks.contra.program import normalise
from ct_tasks.errors import DataError

ROWS = 651


class RevalFO(OutputBenchmark):
    """What does the call return? The inputs of one function are one group.

    Programs are shown without comments and docstrings, which hold worked calls with their results: 118 of the 651 answers
    could otherwise be copied from the prompt. There is no published verdict for single answers of this kind, so
    ``acc_official`` stays empty.
    """

    name = "ct_reval_fo"

    def __init__(self) -> None:
        super().__init__()
        self.source = replace(dataset.SOURCE, rows=ROWS)

    def load(self) -> list[Item]:
        items = []
        for row in dataset.rows()[: dataset.FUNCTIONS]:
            code = normalise(row["code"], row["entry_point"]).runnable.rstrip("\n")
            for number, (given, output) in enumerate(zip(row["inputs"], row["outputs"], strict=True)):
                data = {
                    "code": code,
                    "entry": row["entry_point"],
                    "call": f"{row['entry_point']}{given[:-2]})",  # "(1, 2,)" is how the data writes arguments
                    "output": _literal(output),
                }
                items.append(Item(f"{row['task_id']}/{number}", data, group=row["task_id"]))
        if len(items) != ROWS:
            raise DataError(f"REval's functions have {len(items)} inputs, not {ROWS}: another version of the data")
        return items


def _literal(output: str) -> str:
    """The reference output as a literal: one row writes sums and products of numbers out."""
    try:
        literals.parse(output)
    except literals.LiteralError:
        return literals.dump(_fold(ast.parse(output, mode="eval").body))
    return output


def _fold(node: ast.expr) -> object:
    match node:
        case ast.Tuple(elts=elts):
            return tuple(_fold(e) for e in elts)
        case ast.Constant(value=int() as number):
            return number
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult() as op, right=right):
            a, b = _fold(left), _fold(right)
            assert isinstance(a, int)
            assert isinstance(b, int)
            return a + b if isinstance(op, ast.Add) else a * b
    raise DataError(f"a reference output of REval is no value: {ast.unparse(node)[:200]}")
