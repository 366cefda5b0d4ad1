"""Input prediction: any arguments are right with which the function returns the given value.

A model's arguments are first made into plain values: read from the syntax tree where they are literals, else evaluated
in the sandbox. The function is then called on the *text of those values* in another sandboxed process, and what it
returned is compared here, by type and value. So nothing that a model wrote is ever near the comparison, and an object
that claims to equal everything, a redefined ``f`` or a patched built-in gains nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from ct_tasks.benchmarks import official
from ct_tasks.benchmarks.base import Answer, Domain, Item
from ct_tasks.benchmarks.output import PredictionBenchmark
from ct_tasks.contra import literals
from ct_tasks.contra.literals import LiteralError
from ct_tasks.execution.jobs import Job, Limits, Result
from ct_tasks.options import TaskOptions
from ct_tasks.paradigms.base import Found
from ct_tasks.paradigms.readings import Readings, status_of
from ct_tasks.score import Score

_SAFE_NAMES = frozenset(
    ("abs", "all", "any", "bool", "chr", "dict", "divmod", "enumerate", "float", "frozenset", "hash", "int", "len", "list",
     "map", "max", "min", "ord", "range", "repr", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip")
)  # fmt: skip
_SAFE_NODES = (
    ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Lambda, ast.arguments, ast.arg, ast.Name, ast.Load,
    ast.Compare, ast.cmpop, ast.BoolOp, ast.boolop, ast.BinOp, ast.operator, ast.UnaryOp, ast.unaryop, ast.IfExp,
    ast.Subscript, ast.Slice, ast.Call, ast.Attribute,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Case:
    """One distinct answer: the item and the call as the model wrote it."""

    item: str
    call: str


class InputBenchmark(PredictionBenchmark):
    """Arguments are asked for that give a known value."""

    domain: ClassVar[Domain] = "input"
    default_paradigm: ClassVar[str] = "direct"
    paradigms: tuple[str, ...] = ("direct", "cot", "vanilla", "codeio", "semcoder", "codereasoner", "execverify")
    limits: ClassVar[Limits] = Limits(cpu_s=3.0, wall_s=24.0, memory_mb=1024)
    scoring_limit: ClassVar[str] = "3 s of CPU time, 1 GiB"

    def gold(self, item: Item, options: TaskOptions) -> str:
        return self.paradigm(options).gold(self.problem(item))

    def score(self, answers: Sequence[Answer], options: TaskOptions) -> list[Score]:
        paradigm = self.paradigm(options)
        memo: dict[tuple[str, str, bool, bool | None, bool], Readings] = {}
        read: list[Readings] = []
        for answer in answers:
            key = (answer.item.id, answer.text, answer.extracted, answer.truncated, answer.thinking)
            if key not in memo:
                memo[key] = self.readings(answer, self.problem(answer.item), paradigm)
            read.append(memo[key])
        cases = {
            _Case(answer.item.id, found.text): answer.item
            for answer, both in zip(answers, read, strict=True)
            for found in (both.strict, both.flexible)
            if isinstance(found, Found)
        }
        judged = self._judge(cases, options)
        scores, claims = [], []
        for answer, both in zip(answers, read, strict=True):
            strict, loose = (
                judged[_Case(answer.item.id, found.text)] if isinstance(found, Found)
                else Score(status_of(found, answer), found.text, reason=found.reason)
                for found in (both.strict, both.flexible)
            )  # fmt: skip
            shown = loose.answer if isinstance(both.flexible, Found) else None
            scores.append(replace(strict, status_flexible=loose.status, answer_flexible=shown))
            data, text = answer.item.data, self.claim_text(answer, both.strict, paradigm)
            counted = answer.extra.get("published_verdicts")
            claims.append(official.Claim(answer.item.id, data["code"], data["call"], data["output"], text, counted))
        if self.rules is None:
            return scores
        slow = {c: False for s, c in zip(scores, claims, strict=True) if s.status == "timeout" and c.text == s.answer}
        published = official.verdicts(claims, self.rules, lambda jobs: self.run(options, jobs), slow)
        out = []
        for score, claim, verdict in zip(scores, claims, published, strict=True):
            why = official.explain(score.acc, verdict, claim, {}, side="input")
            reason = "; ".join(part for part in (score.reason, why) if part)
            out.append(replace(score, acc_official=verdict, reason=reason))
        return out

    def _judge(self, cases: dict[_Case, Item], options: TaskOptions) -> dict[_Case, Score]:
        calls: dict[_Case, str] = {}
        verdicts: dict[_Case, Score] = {}
        unread: dict[_Case, str] = {}
        nodes: dict[_Case, ast.Call] = {}
        for case in cases:
            try:
                nodes[case] = node = _call_node(case.call)
                calls[case] = _call_text(node, _literal_arguments(node))
            except LiteralError as error:
                found = nodes.get(case)
                if found is not None and _plain_callables(found):
                    calls[case] = case.call  # functions as arguments are no values; simple ones go as they are
                elif found is None or any(isinstance(n, (ast.Lambda, ast.NamedExpr)) for n in ast.walk(found)):
                    verdicts[case] = Score("wrong", case.call, reason=f"the arguments are no values: {error}")
                else:
                    try:
                        unread[case] = ast.unparse(_pack(found))
                    except (ValueError, RecursionError) as fault:  # digits or nesting beyond what Python writes
                        verdicts[case] = Score("wrong", case.call, reason=f"the arguments are no values: {fault}")
        jobs = [Job(code=cases[c].data["code"], expr=expr, limits=self.limits) for c, expr in unread.items()]
        for case, result in zip(unread, self.run(options, jobs) if jobs else [], strict=True):
            if result.status != "ok" or result.value is None:
                verdicts[case] = _failed(case.call, result, "the arguments cannot be evaluated")
                continue
            try:
                calls[case] = _call_text(nodes[case], literals.parse(result.value))
            except LiteralError as error:
                verdicts[case] = Score("wrong", case.call, reason=f"the arguments are no values: {error}")
        jobs = [
            Job(code=cases[c].data["code"], expr=f"(lambda r: (r, type(r).__name__))({call})", limits=self.limits)
            for c, call in calls.items()
        ]
        for case, result in zip(calls, self.run(options, jobs) if jobs else [], strict=True):
            verdicts[case] = _compare(case.call, result, cases[case].data["output"])
        return verdicts


def _compare(call: str, result: Result, output: str) -> Score:
    if result.status != "ok" or result.value is None:
        return _failed(call, result, "the call gives no value")
    try:
        gold = literals.parse(output)
    except LiteralError as error:
        return Score("harness_error", call, reason=f"the reference output cannot be read: {error}")
    try:
        pair = literals.parse(result.value)
    except LiteralError as error:
        return Score("wrong", call, reason=f"the call returns a value that cannot be read: {error}")
    if literals.same(pair, (gold, type(gold).__name__)):
        return Score("right", call)
    return Score("wrong", call, reason=f"the call returns {result.value[:120]}")


def _failed(call: str, result: Result, what: str) -> Score:
    if result.status == "harness_error":
        return Score("harness_error", call, reason=result.error)
    if result.status == "timeout":
        return Score("timeout", call, reason=f"{what}: time limit")
    return Score("wrong", call, reason=f"{what}: {result.status} {result.error[:160]}".rstrip())


def _call_node(text: str) -> ast.Call:
    """The syntax tree of a call. Raises ``LiteralError`` for a text that is none."""
    node = literals.parse_node(text)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise LiteralError("not a call")
    return node


def _pack(node: ast.Call) -> ast.Expression:
    """``(args, kwargs)`` as an expression: what the call would pass."""
    keys: list[ast.expr | None] = [None if k.arg is None else ast.Constant(k.arg) for k in node.keywords]
    named = ast.Dict(keys=keys, values=[k.value for k in node.keywords])
    pair = ast.Tuple(elts=[ast.Tuple(elts=node.args, ctx=ast.Load()), named], ctx=ast.Load())
    return ast.Expression(pair)


def _literal_arguments(node: ast.Call) -> object:
    return literals.from_node(_pack(node).body, constructors=False)


def _call_text(node: ast.Call, packed: object) -> str:
    """The call on the literal text of its arguments."""
    assert isinstance(node.func, ast.Name)
    match packed:
        case (tuple() as args, dict() as named):
            parts = [*map(literals.dump, args), *(f"{name}={literals.dump(value)}" for name, value in named.items())]
            return f"{node.func.id}({', '.join(parts)})"
    raise LiteralError("not arguments")


def _plain_callables(node: ast.Call) -> bool:
    """Whether the arguments hold functions, all of them simple: lambdas of operators, safe built-ins and public methods."""
    given = [*node.args, *(k.value for k in node.keywords)]
    if not any(isinstance(a, (ast.Lambda, ast.Name)) for a in given):
        return False
    inner = [n for a in given for n in ast.walk(a)]
    bound = {a.arg for n in inner if isinstance(n, ast.arguments) for a in n.args}
    for n in inner:
        if not isinstance(n, _SAFE_NODES):
            return False
        if isinstance(n, ast.Name) and n.id not in bound and n.id not in _SAFE_NAMES:
            return False
        if isinstance(n, ast.Attribute) and (n.attr.startswith("_") or n.attr.startswith("format")):
            return False
        if isinstance(n, ast.Call) and n.keywords:
            return False
    return True
