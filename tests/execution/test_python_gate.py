"""Which programs may share a child: plain computations may; whatever could reach the interpreter may not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attacks import ATTACKS

from ct_tasks.execution.sandbox import gate


def judge(code: str, expr: str | None = None) -> bool:
    job: dict[str, Any] = {"code": code}
    if expr is not None:
        job["expr"] = expr
    return gate.inert(job)


PLAIN = {
    "arithmetic": "def f(x):\n    return x ** 2 // 3",
    "text": "def f(s):\n    return s.upper().replace('A', 'b').split()",
    "comment": "def f(s):  # turns s\n    return s[::-1]",
    "import": "import math\nfrom collections import Counter\ndef f(x):\n    return math.sqrt(Counter(x).most_common(1)[0][1])",
    "typing": "from typing import *\ndef f(x: List[int]) -> Optional[int]:\n    return x and x[0]",
    "class": "class P:\n    def __init__(self, x):\n        self.x = x\n    def twice(self):\n        return self.x * 2\ndef f(n):\n    return P(n).twice()",
    "type comparison": "def f(x):\n    return type(x) == int or type(x) in (str, bytes)",
    "match": "def f(x):\n    match x:\n        case [a, *rest]:\n            return a\n        case {'k': v}:\n            return v",
    "generator": "def f(n):\n    def g():\n        yield from range(n)\n    return list(g())",
    "exceptions": "def f(x):\n    try:\n        return 1 // x\n    except ZeroDivisionError as e:\n        return e.args[0]",
}

# Each of these would, if it were let through, reach something that the next program sees, or could not be judged.
ESCAPES = {
    "setattr": "import math\nsetattr(math, 'pi', 3)",
    "attribute store on a module": "import math\nmath.pi = 3",
    "attribute store through self": "import math\nclass C:\n    def f(self):\n        self.pi = 3\nC.f(math)",
    "attribute store on an imported class": "from collections import Counter\nCounter.update = lambda *a: None",
    "augmented attribute": "import math\nmath.pi += 1",
    "attribute as loop target": "import math\nfor math.pi in [3]:\n    pass",
    "deleted attribute": "import math\ndel math.pi",
    "generator frame": "g = (x for x in [1])\ng.gi_frame.f_builtins['len'] = max",
    "frame with a field of that name": "class C:\n    def __init__(self):\n        self.gi_frame = 1\ng = (x for x in [1])\ng.gi_frame",
    "comment between dot and name": "g = (x for x in [1])\n(g. # comment\n gi_frame)",
    "backslash between dot and name": "g = (x for x in [1])\ng.\\\ngi_frame",
    "class pattern": "g = (x for x in [1])\nmatch g:\n    case object(gi_frame=f):\n        pass",
    "positional class pattern": "class C:\n    __match_args__ = ('gi_frame',)\nmatch (x for x in [1]):\n    case C(f):\n        pass",
    "dunder attribute": "().__class__.__base__.__subclasses__()",
    "dunder global": "__builtins__['len'] = max",
    "dunder import": "__import__('os')",
    "eval": "eval('1')",
    "exec in a lambda": "f = lambda: exec('1')",
    "getattr": "getattr(1, 'real')",
    "vars": "vars()['x'] = 1",
    "open": "open('x')",
    "type as a constructor": "t = type(int)\nt('X', (), {})",
    "type with three arguments": "X = type('X', (), {'__del__': print}) == 1",
    "type passed on": "f = type\nf(1)",
    "nested type call": "type(type(1))('X', (), {}) == 2",
    "os": "import os\nos.getcwd()",
    "sys": "from sys import setrecursionlimit\nsetrecursionlimit(10)",
    "submodule of an allowed module": "import re\nre.functools.wraps",
    "module inside an allowed module": "import collections\ncollections.abc",
    "unlisted function": "from functools import wraps",
    "attrgetter": "from operator import attrgetter\nattrgetter('gi_frame')",
    "relative import": "from . import child",
    "dotted import": "import collections.abc",
    "hidden name as alias": "from math import sqrt as __builtins__",
    "finaliser": "class C:\n    def __del__(self):\n        print(1)",
    "comparison method": "class C:\n    def __eq__(self, o):\n        return True",
    "metaclass": "class M(Exception, metaclass=object):\n    pass",
    "suspended finally": "def g():\n    try:\n        yield 1\n    finally:\n        print('later')\nnext(g())",
    "coroutine": "async def f():\n    pass",
    "name in other letters": "ｅval('1')",
    "super": "class C:\n    def __init__(self):\n        super().__init__()",
    "too long": "x = 1\n" * 10_000,
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_programs_share(name: str) -> None:
    assert judge(PLAIN[name], "f(3)")


@pytest.mark.parametrize("name", ESCAPES)
def test_escapes_do_not(name: str) -> None:
    assert not judge(ESCAPES[name])
    assert not judge("x = 1", ESCAPES[name]), "nor in the expression"


def test_no_attack_on_the_verdict_or_the_machine_shares() -> None:
    # What is left of the corpus only uses up time, memory or output, or returns an odd value.
    harmless = {a.name for a in ATTACKS if a.stdin is None and judge(a.code, a.expr)}
    assert harmless <= {
        "memory_list", "memory_swallowing_errors", "output_flood", "output_then_value", "huge_value", "infinite_loop",
        "infinite_loop_in_c", "infinite_regex", "huge_integer", "huge_power_tower", "huge_repeat", "swallowing_everything",
        "nested_lists", "self_containing_value", "recursion", "nested_source", "null_bytes", "lone_surrogates", "error_that_lies",
    }  # fmt: skip


def test_stdin_and_unjudged_hooks_do_not_share() -> None:
    assert not gate.inert({"code": "x = 1", "stdin": ""})
    assert not gate.inert({"code": "", "hook": "m:f", "payload": {"text": "x"}})
    assert gate.inert({"code": "", "hook": "m:f", "payload": {"source": "def f(x):\n    return x", "call": "f(1)"}})
    assert not gate.inert({"code": "", "hook": "m:f", "payload": {"source": "import os", "call": "f(1)"}})


def test_exported_names_lead_to_no_module_and_no_mutable_container() -> None:
    for module, names in gate._MODULES.items():
        space = vars(__import__(module))
        for name in names & set(space):
            assert not isinstance(space[name], type(gate) | dict | list | set), f"{module}.{name}"


def test_watch_notices_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins
    import collections
    import math
    import sys

    watch = gate.Watch()
    assert watch.unchanged()
    for target, name in ((builtins, "sorted"), (math, "sqrt"), (collections.Counter, "update"), (builtins, "new_name")):
        with monkeypatch.context() as patch:
            patch.setattr(target, name, lambda *a: None, raising=False)
            assert not watch.unchanged(), name
        assert watch.unchanged()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + 1)
    assert not watch.unchanged()
    sys.setrecursionlimit(limit)


def test_nearly_all_of_cruxeval_shares(data_dir: Path) -> None:
    rows = [json.loads(line) for line in (data_dir / "cruxeval" / "test.jsonl").read_text().splitlines()]
    assert sum(judge(row["code"], f"f({row['input']})") for row in rows) >= 0.97 * len(rows)
