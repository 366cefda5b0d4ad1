"""The rule-based teacher's words: what each line did, with the values of the true execution.

Everything here is told from the truth and the record of the same call, so it cannot be wrong; it is plain, not clever. ``detail``
is the number of steps told for one block; a longer block is told by its first and last steps and its end.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from ct_tasks.contra import literals
from ct_tasks.contra.program import Program
from ct_tasks.contra.trace import TAGS, Block, Truth
from ct_train.synth.record import Event, Record

FULL, BRIEF = 24, 6  # steps a block: the two levels of detail
_MAX_VALUE = 120


def thoughts(truth: Truth, record: Record, detail: int = FULL) -> list[str]:
    """One THOUGHT a block."""
    told = []
    before: Mapping[str, object] = {}
    for position, block in enumerate(truth.blocks):
        parts = []
        if position == 0:
            parts.append(_opening(truth))
        parts += _steps(truth.program, _of_block(record, truth, position), record, detail)
        last = position == len(truth.blocks) - 1
        parts.append(_end(block, before if position else _arguments(truth), last and record.cut))
        if last:
            parts.append(f"The function returns {value(literals.dump(truth.returned))}.")
        told.append(safe(" ".join(part for part in parts if part)))
        before = block.locals
    return told


def account(truth: Truth, record: Record, detail: int = FULL) -> str:
    """The whole execution in one text (vanilla tracing)."""
    return "\n".join(thoughts(truth, record, detail))


def concise(truth: Truth) -> str:
    """The values that matter, block by block, nothing twice (CodeReasoner)."""
    lines = [_opening(truth)]
    before: Mapping[str, object] = _arguments(truth)
    for block in truth.blocks:
        changed = _changed(block, before)
        where = f"Lines {block.start}-{block.stop - 1}" if len(block.lines) > 1 else f"Line {block.start}"
        if changed:
            lines.append(f"{where}: {', '.join(f'{n} = {t}' for n, t in changed.items())}.")
        before = block.locals
    lines.append(f"So the call returns {value(literals.dump(truth.returned))}.")
    return safe("\n".join(lines))


def monologue(truth: Truth, record: Record, detail: int = 60) -> str:
    """A comment line for each executed line, numbered from 1 in the whole program shown (SemCoder's forward monologue)."""
    offset = truth.program.offset + 1
    lines = [f"# [L{offset}] {_opening(truth)}"]
    for event in _shorten(record.events, detail):
        if event is None:
            lines.append("# ... the lines go on in the same way ...")
            continue
        lines.append(f"# [L{event.line + offset}] {_saying(truth.program, event)}")
    if record.cut:
        lines.append("# ... and so on until the function returns ...")
    lines.append(f"# The function returns {value(literals.dump(truth.returned))}.")
    return safe("\n".join(lines))


def prose(truth: Truth) -> str:
    """Reasoning in plain words without code (CodeIO)."""
    lines = [_opening(truth)]
    before: Mapping[str, object] = _arguments(truth)
    for number, block in enumerate(truth.blocks, 1):
        changed = _changed(block, before)
        loop = any(isinstance(n, (ast.For, ast.While)) for n in ast.walk(_parsed(block)))
        what = "After the loop" if loop else f"After step {number}"
        state = ", ".join(f"{n} is {t}" for n, t in changed.items()) or "nothing has changed"
        lines.append(f"{what}, {state}.")
        before = block.locals
    lines.append(f"The result is therefore {value(literals.dump(truth.returned))}.")
    return safe("\n".join(lines))


def _parsed(block: Block) -> ast.AST:
    try:
        return ast.parse("\n".join(["if True:", *(f" {line}" for line in block.lines)]))
    except SyntaxError:
        return ast.Module([], [])


def _opening(truth: Truth) -> str:
    given = ", ".join(f"{n} = {value(literals.dump(v))}" for n, v in _arguments(truth).items())
    return f"The call starts with {given}." if given else "The call has no arguments."


def _arguments(truth: Truth) -> dict[str, object]:
    """Parameter values as the call gives them (defaults are left out)."""
    spec = truth.program.function.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    call = ast.parse(truth.call.strip(), mode="eval").body
    assert isinstance(call, ast.Call)
    try:
        found = {n: literals.from_node(a) for n, a in zip(names, call.args, strict=False)}
        found.update({k.arg: literals.from_node(k.value) for k in call.keywords if k.arg})
    except literals.LiteralError:
        return {}
    return found


def _of_block(record: Record, truth: Truth, position: int) -> list[Event]:
    block = truth.blocks[position]
    return [e for e in record.events if block.start <= e.line < block.stop]


def _steps(program: Program, events: Sequence[Event], record: Record, detail: int) -> Iterator[str]:
    for event in _shorten(events, detail):
        if event is None:
            yield f"(… {len(events) - detail} more steps of the same kind …)"
        else:
            yield f"Line {event.line}, `{_source(program, event.line)}`: {_saying(program, event)}"


def _shorten(events: Sequence[Event], detail: int) -> list[Event | None]:
    if len(events) <= detail:
        return list(events)
    tail = max(detail // 4, 1)
    return [*events[: detail - tail], None, *events[-tail:]]


def _saying(program: Program, event: Event) -> str:
    """What the line did. Which way a condition went is said only where the next line shows it."""
    changed = ", ".join(f"{n} = {value(t)}" for n, t in event.changed.items())
    kind, first, last = _heads(program).get(event.line, ("", 0, 0))
    after = event.next_line
    inside = after is not None and first <= after <= last
    if kind == "for":
        return f"the loop takes {changed}." if changed else ("the next round." if inside else "the loop is over.")
    if event.raised:
        return f"an exception is raised{'; ' + changed if changed else ''}."
    clear = after is not None and (inside or not event.line <= after < first) and first > event.line
    if kind in ("if", "while") and clear:
        return f"the condition is {'true' if inside else 'false'}{', ' + changed if changed else ''}."
    if _source(program, event.line).startswith("return"):
        return "returns."
    return f"{changed}." if changed else "no variable changes."


@lru_cache(maxsize=64)
def _heads(program: Program) -> dict[int, tuple[str, int, int]]:
    """Header line of each loop and condition: its kind, first and last line of its body (``LINENO``)."""
    found = {}
    for node in ast.walk(program.function):
        if isinstance(node, (ast.For, ast.While, ast.If)):
            end = node.body[-1].end_lineno or node.body[-1].lineno
            found[node.lineno - 1] = (type(node).__name__.lower(), node.body[0].lineno - 1, end - 1)
    return found


def _source(program: Program, line: int) -> str:
    text = program.lines[line].strip() if 0 <= line < len(program.lines) else ""
    return text if len(text) <= 80 else text[:80] + " …"


def _changed(block: Block, before: Mapping[str, object]) -> dict[str, str]:
    return {
        n: value(literals.dump(v))
        for n, v in block.locals.items()
        if n not in before or not literals.same(before[n], v)
    }


def _end(block: Block, before: Mapping[str, object], cut: bool) -> str:
    changed = _changed(block, before)
    if not changed:
        return "No local variable differs at the end of the block."
    lead = "After all of its steps" if cut else "At the end of the block"
    return f"{lead} {', '.join(f'{n} = {t}' for n, t in changed.items())}."


def value(text: str) -> str:
    """A value's text, cut where it is long."""
    return text if len(text) <= _MAX_VALUE else text[:_MAX_VALUE] + " …"


def safe(text: str) -> str:
    """Without the tags of the formats, which a program's own strings may hold."""
    for tag in (*TAGS, "[ANSWER]", "[/ANSWER]", "[MONOLOGUE]", "[/MONOLOGUE]", "[PYTHON]", "[/PYTHON]"):
        text = text.replace(tag, tag.replace("[", "(").replace("]", ")"))
    return text
