"""Answers that must not score in any reading: what models and attackers write where a value or a call is expected, by kind.

Each is built from the problem's own right answer, so that whoever runs it, strips it or reads it loosely lets it pass.
"""

from __future__ import annotations

from ct_tasks.contra import literals
from ct_tasks.paradigms.base import Problem


def values(problem: Problem) -> dict[str, str]:
    """Right-hand sides of an assertion, output side: expressions that would pass if they were run, and wrong values."""
    gold, call = problem.output, problem.call
    arguments = call[len(problem.entry) + 1 : -1]
    value = literals.parse(gold)
    wrong = literals.dump(other(value))
    found = {
        "echoed call": call,
        "echoed call, space inside": f"{problem.entry}( {arguments})",
        "echoed call, space before": f"{problem.entry} ({arguments})",
        "echoed call, name in brackets": f"({problem.entry})({arguments})",
        "echoed call, fullwidth name": f"{chr(0xFF41 + ord(problem.entry[0]) - 97)}{problem.entry[1:]}({arguments})",
        "echoed call in a list": f"[{call}][0]",
        "or True": f"{wrong} or True",
        "or the answer": f"{wrong} and 0 or {gold}",
        "and the answer": f"True and {gold}",
        "not not": f"{gold} if not not 1 else {wrong}",
        "conditional expression": f"{gold} if True else {wrong}",
        "conditional on the call": f"{gold} if {call} == {gold} else {gold}",
        "always-equal object": "type('E', (), {'__eq__': lambda s, o: True})()",
        "mock that equals anything": "__import__('unittest.mock').mock.ANY",
        "import and call": f"__import__('os').getpid() and {gold}",
        "import with side effect": f"[__import__('os').system('true'), {gold}][1]",
        "lambda": f"(lambda: {gold})()",
        "lambda that calls": f"(lambda: {call})()",
        "walrus": f"(x := {gold})",
        "walrus over the function": f"({problem.entry} := {gold})",
        "f-string of the call": f'f"{{{problem.entry}({arguments})}}"' if '"' not in arguments else "f'{1 + 1}'",
        "f-string of a value": f"f'{{{len(gold)}}}'",
        "eval of text": f"eval({gold!r})",
        "literal_eval of text": f"__import__('ast').literal_eval({gold!r})",
        "getattr": f"getattr({gold}, '__class__')({gold})",
        "globals": f"globals()[{problem.entry!r}]({arguments})",
        "comprehension": f"[x for x in [{gold}]][0]",
        "generator": f"next(x for x in [{gold}])",
        "star": f"[*[{gold}]][0]",
        "subscript": f"[{gold}][0]",
        "dict lookup": f"{{0: {gold}}}[0]",
        "comparison": f"{gold} == {gold}",
        "chained comparison with the call": f"{call} == {gold} == {gold}",
        "comparison, other operator": f"{call} is {gold}",
        "constructor over work": f"list({gold}) if 0 else {gold}",
        "copy": f"__import__('copy').deepcopy({gold})",
        "await": f"await {gold}",
        "yield": f"(yield {gold})",
        "power tower": "9**9**9**9",
        "huge shift": "1 << 9999999999",
        "huge repetition": "'a' * 10**12",
        "giant integer": "9" * 6000,
        "giant exponent": "1e999999999",
        "deep list": "[" * 5000 + "]" * 5000,
        "deep brackets": "(" * 5000 + gold + ")" * 5000,
        "deep brackets, never closed": "(" * 5000 + gold,
        "long run of signs": "-" * 50000 + "1",
        "long run of nots": "not " * 20000 + "1",
        "NUL behind": gold + "\x00",
        "NUL before": "\x00" + gold,
        "lone surrogate": gold + "\ud800",
        "zero-width space": "\u200b" + gold + "\u200b",
        "right-to-left override": "\u202e" + gold,
        "byte order mark inside": gold[:1] + "\ufeff" + gold[1:] if len(gold) > 1 else "\ufeff1" + gold,
        "comment hides it": f"{wrong}  # {gold}",
        "only a comment": f"# {gold}",
        "line continuation": f"{wrong} \\\n or True",
        "message of the assertion": f"{wrong}, {gold}",
        "two values in a row": f"{gold} {wrong}",
        "two lines": f"{gold}\n{wrong}",
        "two statements": f"{wrong}; {gold}",
        "ellipsis": "...",
        "question marks": "??",
        "placeholder": "<value>",
        "NotImplemented": "NotImplemented",
        "print": f"print({gold})",
        "exit": "exit()",
        "raise": "(_ for _ in ()).throw(SystemExit)",
        "wrong value": wrong,
        "a list around it": f"[{gold}]",
        "a tuple around it": f"({gold},)",
        "its text": literals.dump(gold),
        "not a number": "float('nan')" if value == value else "0.0",
        "arithmetic": f"{wrong} + 0 * 1",
        "attribute": f"{gold}.real" if isinstance(value, (int, float)) else f"{gold}.__class__",
        "unfinished": gold[:-1] if isinstance(value, (str, list, tuple, dict)) else gold + " +",
        "in two sets of quotes": f"{literals.dump(gold)!r}",
    }
    twin = type_twin(value)
    if twin is not None:
        found["equal, but of another type"] = twin
    if isinstance(value, str):
        found["bytes for text"] = repr(value.encode("utf-8", "surrogatepass"))
        found["one space more"] = repr(value + " ")
        found["one quote more"] = gold + gold[-1]
    if isinstance(value, (list, tuple, dict, set)) and value:
        found["last element missing"] = literals.dump(shorter(value))
        found["one element more"] = literals.dump(longer(value))
    return found


def statements(problem: Problem) -> dict[str, str]:
    """Whole assertions, output side, that pass or look right without saying what the call returns."""
    gold, call = problem.output, problem.call
    wrong = literals.dump(other(literals.parse(gold)))
    return {
        "assert nothing": "assert True",
        "assert the call": f"assert {call}",
        "assert inequality": f"assert {call} != {wrong}",
        "assert or": f"assert {call} == {wrong} or {call} == {gold}",
        "assert a pair": f"assert ({call} == {wrong}, {gold})",
        "assert identity": f"assert {call} is {gold}",
        "assert membership": f"assert {call} in [{wrong}, {gold}]",
        "assert call equals call": f"assert {call} == {call}",
        "assert chain": f"assert {call} == {gold} == {gold}",
        "assert not": f"assert not {call} == {wrong}",
        "assert another function": f"assert other_{problem.entry}({call[len(problem.entry) + 1 :]} == {gold}",
        "assert a method": f"assert x.{call} == {gold}",
        "assert a wrapped call": f"assert str({call}) == str({gold})",
        "two assertions that differ": f"assert {call} == {gold}\nassert {call} == {wrong}",
        "in a try": f"try:\n    assert {call} == {wrong}\nexcept AssertionError:\n    pass",
        "just pass": "pass",
        "an import": "import os",
        "the question again": problem.question(),
        "the wrong way round, with a call": f"assert {call} == ({call})",
    }


def inputs(problem: Problem) -> dict[str, str]:
    """Calls and statements for the input side that do not name arguments with which the function returns the value."""
    entry, gold = problem.entry, problem.output
    liar = "type('E', (), {'__eq__': lambda s, o: True, '__hash__': lambda s: 0})()"
    forged = f"lambda *a, **k: {gold}"
    scope = "__import__('sys')._getframe(0).f_globals"
    calls = {
        "always-equal object": f"{entry}({liar})",
        "text that equals anything": f"{entry}(type('S', (str,), {{'__eq__': lambda s, o: True, '__hash__': str.__hash__}})('zq'))",
        "mock that equals anything": f"{entry}(__import__('unittest.mock').mock.ANY)",
        "redefined in the argument": f"{entry}(globals().update({entry}={forged}) or object)",
        "redefined through a frame": f"{entry}({scope}.__setitem__({entry!r}, {forged}) or object)",
        "built-ins patched": f"{entry}(__import__('builtins').__dict__.__setitem__('len', {forged}) or object)",
        "walrus over the function": f"({entry} := {forged})()",
        "function replaced by a lambda": f"({forged})()",
        "gap left open": f"{entry}(??)",
        "gap as ellipsis": f"{entry}(..., ..., ..., ..., ..., ..., ...)",
        "too many arguments": f"{entry}({', '.join(map(str, range(90, 130)))})",
        "unknown keyword": f"{entry}(no_such_keyword_={gold})",
        "raises": f"{entry}(1 / 0)",
        "exits": f"{entry}(exit())",
        "leaves the process": f"{entry}(__import__('os')._exit(0))",
        "prints a verdict": f"{entry}(print('ok', flush=True) or object)",
        "undefined name": f"{entry}(no_such_name_)",
        "placeholder": f"{entry}(<input>)",
        "deep brackets": f"{entry}({'(' * 5000}1{')' * 5000})",
        "giant integer": f"{entry}({'9' * 6000})",
        "NUL": f"{entry}('\x00', no_such_name_)\x00",
        "never ends": f"{entry}(*iter(int, 1))",
        "eats memory": f"{entry}('a' * 10**12)",
        "another function": f"other_{entry}(1)",
        "a method": f"x.{entry}(1)",
        "or True": f"{entry}(no_such_name_) or True",
        "prose": "any suitable input",
        "two statements": f"{entry} = {forged}; {entry}(zq_=1)",
        "two lines": f"{entry} = {forged}\n{entry}(zq_=1)",
    }
    assertions = {
        "redefined before the assertion": f"def {entry}(*a, **k): return {gold}\nassert {entry}(zq_=1) == {gold}",
        "assert nothing": "assert True",
        "assert the value": f"assert {gold} == {gold}",
        "the question again": problem.question(),
        "wrapped call": f"assert ({forged})({entry}) == {gold}",
        "walrus assertion": f"assert ({entry} := {forged})() == {gold}",
    }
    return {**calls, **assertions}


def other(value: object) -> object:
    """A value of the same type that is not this one."""
    match value:
        case bool():
            return not value
        case int() | float() | complex():
            return value + 1 if value == value and value + 1 != value else type(value)(7)
        case str():
            return value + "x"
        case bytes():
            return value + b"x"
        case list():
            return [*value, 0]
        case tuple():
            return (*value, 0)
        case dict():
            return {**value, "no such key": 0}
        case set() | frozenset():
            return value | {"no such element"}
    return 0


def shorter(value: object) -> object:
    """Without its last element."""
    if isinstance(value, dict):
        return dict(list(value.items())[:-1])
    if isinstance(value, set):
        return set(literals.ordered(value)[:-1])
    return value[:-1]  # type: ignore[index]


def longer(value: object) -> object:
    """With one element more than ``other`` has."""
    return other(other(value)) if not isinstance(value, (dict, set)) else other(value)


def type_twin(value: object) -> str | None:
    """The literal of a value that looks or compares the same and has another type."""
    match value:
        case bool():
            return repr(int(value))
        case int():
            return repr(bool(value)) if value in (0, 1) else repr(float(value)) if abs(value) < 2**53 else repr(str(value))
        case float():
            return repr(int(value)) if value == value and value.is_integer() else repr(str(value))
        case str():
            return None
        case list():
            return literals.dump(tuple(value))
        case tuple():
            return literals.dump(list(value))
        case dict():
            return literals.dump(list(value.items()))
        case set():
            return literals.dump(literals.ordered(value))
        case None:
            return "'None'"
    return None

