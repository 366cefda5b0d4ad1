"""A plain line tracer, to check ``observe`` and the ConTra tracer against: it copies all locals of the entry function at every
line, and counts rounds and branches from the order of lines instead of marks in the syntax tree."""

import ast
import copy
import itertools
import sys
from collections import defaultdict

QUIET = (StopIteration, GeneratorExit)


def _copy(value):
    return copy.deepcopy(value) if type(value) in (int, str, list, dict, set, tuple, bool, float, type(None)) else None


def run(code, call, entry):
    """(returned, {frame: [(line, locals)]} of all functions, id of the entry's first frame, first raising line)."""
    events, alive, first, raised = defaultdict(list), [], [], []

    def local(frame, event, arg):
        if event == "line" or event == "return":
            at = frame.f_lineno if event == "line" else None
            watched = bool(first) and frame is first[0]
            events[id(frame)].append((at, {n: _copy(v) for n, v in frame.f_locals.items()} if watched else None))
        elif event == "exception" and not raised and not issubclass(arg[0], QUIET):
            raised.append(frame.f_lineno)
        return local

    def entered(frame, event, arg):
        if frame.f_code.co_filename != "<plain>":
            return None
        alive.append(frame)  # so that no id is used twice
        if frame.f_code.co_name == entry and not first:
            first.append(frame)
        return local

    space = {}
    exec(compile(code, "<plain>", "exec"), space)
    sys.settrace(entered)
    try:
        value = eval(call, space)
    finally:
        sys.settrace(None)
    return value, events, id(first[0]), raised[0] if raised else None


def rounds(code, events):
    """Loop line → rounds: the first line of the body right after the loop's own line, in one function's order of lines."""
    found = {}
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, (ast.For, ast.While)):
            found[node.lineno] = sum(pair == (node.lineno, node.body[0].lineno) for pair in _pairs(events))
    return found


def branches(code, events):
    """If line → first lines of the branches that ran, in order; None where none did."""
    chains = {}
    seen = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.If) and node not in seen:
            tests, bodies, at = [node.lineno], [node.body[0].lineno], node
            while len(at.orelse) == 1 and isinstance(at.orelse[0], ast.If) and at.orelse[0].col_offset == at.col_offset:
                at = at.orelse[0]
                seen.add(at)
                tests.append(at.lineno)
                bodies.append(at.body[0].lineno)
            if at.orelse:
                bodies.append(at.orelse[0].lineno)
            chains[node.lineno] = (tests, bodies)
    found = {}
    for head, (tests, bodies) in chains.items():
        found[head] = [
            after if after in bodies else None
            for before, after in _pairs(events)
            if before in tests and not (after in tests and after > before)
        ]
    return found


def _pairs(events):
    for lines in events.values():
        numbers = [line for line, _ in lines]
        yield from itertools.pairwise(numbers)


def state_after(lines, first, last):
    """Locals of the entry function when control first stands outside lines first to last after having been inside."""
    inside = False
    for at, values in lines:
        if at is not None and first <= at <= last:
            inside = True
        elif inside:
            return values
    return None
