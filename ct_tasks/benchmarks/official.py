"""The published scorers' verdict on output and input prediction, reproduced row by row, and nearly always without a run.

CRUXEval (``evaluation/utils_general.py``) and LiveCodeBench (``lcb_runner/evaluation/compute_code_execution_metrics.py``)
execute ``{code}\\nassert {output} == {answer}`` in a process of its own for each answer, three seconds each, and call it
right when nothing is raised. So ``1`` passes for ``True``, ``6 or True`` passes for anything, and an answer that holds the
call itself is left out of the denominator. Here the statement's syntax tree decides: where the answer is a plain literal,
Python's ``==`` on two literals is the very thing that the assertion evaluates; text that does not parse fails; only what
is left goes to the sandbox, with the same program text.
"""

from __future__ import annotations

import ast
import builtins
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from ct_tasks.contra import literals
from ct_tasks.contra.literals import LiteralError
from ct_tasks.errors import HarnessError
from ct_tasks.execution.jobs import Job, Limits, Result

Run = Callable[[Sequence[Job]], list[Result]]
LIMITS = Limits(cpu_s=3.0, wall_s=12.0, memory_mb=1024)
"""The published limit is 3 s of wall time on an idle machine; CPU time says the same on a busy one."""
MAX_RUN = 1_000_000  # characters; a longer answer is not run, and counts as failed
_BUILTINS = frozenset(vars(builtins))


@dataclass(frozen=True, slots=True)
class Rules:
    """``side`` tells what is asked. ``all_false_when``: when a published scorer has no right answer (CRUXEval:
    ``none_right``) or none at all (LiveCodeBench: ``none_run``) among a problem's answers, it counts them all, those it
    skipped too, as wrong. ``prelude`` runs before the program; ``extras`` are lines of it that cost much to run, by the
    name they define, and are run only where the text needs them."""

    side: Literal["output", "input"] = "output"
    all_false_when: Literal["none_right", "none_run"] = "none_right"
    prelude: str = ""
    extras: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """One answer to judge. ``problem`` tells which answers belong together; ``text`` is the answer after extraction.
    ``counted``: how many verdicts a published file gives for this problem, where the answers come from one."""

    problem: str
    code: str
    call: str
    output: str
    text: str
    counted: int | None = None


def postprocess(text: str, side: str, *, cot: bool) -> str:
    """The published extraction (``inference/tasks/{output,input}_prediction.py``), its cut at the first ``==`` included."""
    text = text.split("[/ANSWER]")[0]
    if cot and "[ANSWER]" in text:
        text = text.split("[ANSWER]")[1].strip()
    elif not cot:
        text = text.split("[ANSWER]")[-1]  # a chat model writes the tag that the published prompt ends with
    if side == "output":
        if "==" in text:
            text = text.split("==")[1].strip()
    else:
        if "==" in text:
            text = text.split("==")[0].strip()
        if "assert f" in text:
            text = "f" + text.split("assert f")[1].strip()
    return text.strip()


def verdicts(
    claims: Sequence[Claim], rules: Rules, run: Run, known: Mapping[Claim, bool] | None = None
) -> list[bool | None]:
    """One verdict a claim, in order; None where the published scorer leaves it out of its denominator.

    ``known``: claims whose run is known to end in a certain way, because the caller has made that run already.
    Raises ``HarnessError`` when the sandbox fails on a claim that has to be run.
    """
    plain: dict[Claim, bool | None] = {**(known or {})}
    waiting: list[Claim] = []
    skipped: set[Claim] = set()
    standing = _names(rules.prelude + "".join(line for _, line in rules.extras))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the parser warns about `\d` and the like, which is the model's affair
        for claim in claims:
            if claim in skipped:
                continue
            if _skips(claim, rules):
                skipped.add(claim)
                continue
            if claim in plain:
                continue
            plain[claim] = decided = _decide(claim, standing) if rules.side == "output" else _decide_input(claim)
            if decided is None:
                waiting.append(claim)
    results = run([_job(claim, rules) for claim in waiting]) if waiting else []
    for claim, result in zip(waiting, results, strict=True):
        if result.status == "harness_error":
            raise HarnessError(f"the sandbox failed while running an answer as the published scorer does: {result.error}")
        plain[claim] = result.status == "ok"
    return _denominator(claims, [None if c in skipped else plain[c] for c in claims], rules)


def _denominator(claims: Sequence[Claim], found: list[bool | None], rules: Rules) -> list[bool | None]:
    """Give each skipped answer the place that it has in the published denominator.

    CRUXEval's first release (January 2024) counted a skipped answer as wrong; since April 2024 it is left out. A published
    file that gives a problem as many verdicts as it has answers left nothing out, whichever release made it.
    """
    groups: dict[str, list[int]] = {}
    for i, claim in enumerate(claims):
        groups.setdefault(claim.problem, []).append(i)
    for members in groups.values():
        group = [found[i] for i in members]
        nothing = all(v is None for v in group) or (rules.all_false_when == "none_right" and True not in group)
        if nothing or claims[members[0]].counted == len(members):
            for i in members:
                found[i] = bool(found[i])
    return found


def _skips(claim: Claim, rules: Rules) -> bool:
    return claim.call in claim.text if rules.side == "output" else "f(" not in claim.text


def _decide(claim: Claim, standing: frozenset[str]) -> bool | None:
    """The verdict where the syntax tree settles it, else None."""
    text = claim.text
    if text == claim.output and _gold(claim.output) is not None:
        return True
    parsed = _parse(text)
    if not isinstance(parsed, ast.Module):
        return parsed
    first = parsed.body[0]
    if not isinstance(first, ast.Assert) or not isinstance(first.test, ast.Compare) or len(first.test.ops) != 1:
        return None
    gold = _gold(claim.output)
    right = first.test.comparators[0]
    if gold is None:
        return None
    if isinstance(right, ast.Name) and not any(right.id in names for names in (_BUILTINS, standing, _names(claim.code))):
        return False  # NameError
    try:
        equal = bool(gold[0] == literals.from_node(right, constructors=False))
    except (LiteralError, RecursionError):
        return None
    return equal if not equal or len(parsed.body) == 1 else None


def _decide_input(claim: Claim) -> bool | None:
    parsed = _parse(claim.text)
    return None if isinstance(parsed, ast.Module) else parsed


def _parse(text: str) -> ast.Module | bool | None:
    """The tree of ``assert 0 == {text}``; False where Python refuses the text, None where it is not for us to parse."""
    if len(text) > MAX_RUN:
        return False
    try:
        literals.guard(text)
        text.encode()
        return ast.parse(f"assert 0 == {text}")
    except LiteralError:
        return None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


@cache
def _gold(output: str) -> tuple[object] | None:
    """The reference output's value in a box; None where it is not one self-contained literal that equals itself."""
    try:
        literals.guard(output)
        node = ast.parse(f"assert {output} == 0").body
        match node:
            case [ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()]), msg=None)]:
                value = literals.from_node(left, constructors=False)
                return (value,) if value == value else None
    except (LiteralError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return None


@cache
def _names(code: str) -> frozenset[str]:
    """Names that might stand for something in the module's namespace once the program has run, generously."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((a.asname or a.name).split(".")[0] for a in node.names)
        elif isinstance(node, ast.Global):
            names.update(node.names)
    return frozenset(names)


def _job(claim: Claim, rules: Rules) -> Job:
    program = f"{claim.code}\nassert {claim.output} == {claim.text}"
    extras = "".join(line for name, line in rules.extras if name in program)
    return Job(code=f"{rules.prelude}{extras}{program}", limits=LIMITS)


def explain(right: bool, published: bool | None, claim: Claim, values: Mapping[str, object], side: str = "output") -> str:
    """Why the strict verdict and the published one differ, in one clause; empty where they agree.

    ``values`` may hold ``"given"``, the value that the strict reading found.
    """
    if right == published:
        return ""
    if published is None or (right and _skips(claim, Rules(side=side))):  # type: ignore[arg-type]
        what = "the call itself" if side == "output" else "no call of f"
        counts = "leaves it out" if published is None else "counts it as wrong unrun"
        return f"the published scorer {counts}: it holds {what}"
    if published and side == "output":
        gold = _gold(claim.output)
        if gold is not None and "given" in values and gold[0] == values["given"]:
            return "equal for Python's ==, but of another type"
        return "the published scorer runs it, and the assertion passes"
    if published:
        return "the published scorer runs it with ==, and the assertion passes"
    return f"the published scorer reads {_short(claim.text)}, and the assertion fails"


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:80] + "…")
