"""The tracer against values worked by hand, on this Python and on the others that are installed."""

import json
import subprocess
import sys

import pytest
from programs import CASES
from pythons import ROOT, other_python

from ct_tasks.contra import literals
from ct_tasks.contra.tracer import trace_call, trace_hook
from ct_tasks.errors import ProgramRaised, TraceError, TraceMemory, TraceTimeout


@pytest.mark.parametrize(("source", "call", "states", "returned"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_locals_at_block_ends(source, call, states, returned):
    truth = trace_call(source, call)
    assert [dict(b.locals) for b in truth.blocks] == states
    assert all(literals.same(dict(b.locals), s) for b, s in zip(truth.blocks, states, strict=True))
    assert literals.same(truth.returned, returned)


@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_same_on_other_pythons(version, tmp_path):
    python, env = other_python(version, tmp_path)
    script = (
        "import sys, json; sys.path.insert(0, 'tests/contra'); from programs import CASES\n"
        "from ct_tasks.contra.tracer import trace_call\n"
        "print(json.dumps([trace_call(c[1], c[2], segmentation=s).to_json() for c in CASES for s in ('statement', 'adaptive')]))"
    )
    other = subprocess.run([python, "-c", script], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    mine = [trace_call(c[1], c[2], segmentation=s).to_json() for c in CASES for s in ("statement", "adaptive")]
    assert json.loads(other.stdout) == mine


HOSTILE = """
calls = []
class Evil:
    def __repr__(self): calls.append('repr'); return '1'
    def __eq__(self, other): calls.append('eq'); return True
    def __hash__(self): calls.append('hash'); return 1
    def __deepcopy__(self, memo): calls.append('deepcopy'); return self
    def __reduce__(self): calls.append('reduce'); return (int, ())
    def __iter__(self): calls.append('iter'); return iter(())
    def __len__(self): calls.append('len'); return 0
    def __bool__(self): calls.append('bool'); return True
class EvilInt(int):
    def __repr__(self): calls.append('repr'); return '1'
class EvilList(list):
    def __iter__(self): calls.append('iter'); return iter(())
class EvilMeta(type):
    @property
    def __name__(cls): calls.append('name'); return 'int'
class Odd(metaclass=EvilMeta):
    pass
def f():
    a = Evil()
    b = EvilInt(3)
    c = EvilList([1])
    d = Odd()
    e = [a]
    n = 1
    return calls
"""


def test_program_methods_never_run():
    truth = trace_call(HOSTILE, "f()")
    assert truth.returned == []
    assert dict(truth.blocks[-1].locals) == {"n": 1}


def test_evil_return_value_is_an_error_not_a_call():
    with pytest.raises(TraceError, match="no literal expresses"):
        trace_call("class E:\n    def __repr__(self): return '1'\ndef f():\n    return E()", "f()")


@pytest.mark.parametrize(
    ("source", "call", "error", "message"),
    [
        ("def f():\n    return 1 // 0", "f()", ProgramRaised, "ZeroDivisionError"),
        ("def f():\n    raise SystemExit(3)", "f()", ProgramRaised, "SystemExit"),
        ("def f():\n    while True:\n        pass", "f()", TraceTimeout, "too many lines"),
        ("def f():\n    xs = list(range(3000000))\n    ys = list(xs)\n    return 1", "f()", TraceMemory, "too large"),
        ("def f():\n    yield 1", "f()", TraceError, "generator"),
        ("def f():\n    return lambda: 1", "f()", TraceError, "no literal"),
        ("def f():\n    import sys\n    sys.settrace(None)\n    x = 1\n    return x", "f()", TraceError, "removed the tracer"),
        ("def f(:\n", "f()", TraceError, "does not parse"),
        ("x = 1", "f()", TraceError, "no module-level function"),
        ("def g():\n    return 1", "f()", TraceError, "did you mean|known: g"),
        ("def f():\n    return 1", "f(", TraceError, "does not parse"),
        ("def f():\n    return 1", "1 + 1", TraceError, "not a call"),
    ],
)
def test_named_errors(source, call, error, message):
    with pytest.raises(error, match=message) as caught:
        trace_call(source, call, max_events=200_000)
    assert type(caught.value) is error


def test_trace_function_is_put_back():
    before = sys.gettrace()
    trace_call("def f(n):\n    return n if n < 2 else f(n - 1) * n", "f(4)")
    assert sys.gettrace() is before


def test_hook_speaks_json():
    good = trace_hook({"source": "def f(a):\n    return {a}", "call": "f(1)"})
    assert json.loads(json.dumps(good))["truth"]["returned"] == "{1}"
    assert trace_hook({"source": "def f():\n    return 1 // 0", "call": "f()"})["error"] == "ProgramRaised"


def test_containers_can_be_dropped():
    source = "from collections import deque\ndef f():\n    d = deque([1])\n    n = 1\n    return d"
    truth = trace_call(source, "f()", containers="drop")
    assert [dict(b.locals) for b in truth.blocks] == [{}, {"n": 1}]
    assert truth.returned == [1]


def test_prelude_is_run_but_not_shown():
    truth = trace_call("def f(xs):\n    c = Counter(xs)\n    return c", "f('aa')", prelude="from collections import Counter")
    assert truth.returned == {"a": 2}
    assert truth.program.context == ""


def test_adaptive_opens_a_long_loop():
    source = (
        "def f(xs):\n    total = 0\n    seen = []\n    for x in xs:\n        y = x\n        if y > 3:\n            y = 3\n"
        "        elif y < 0:\n            y = 0\n        if y in seen:\n            continue\n        seen.append(y)\n"
        "        total += y\n    return total"
    )
    truth = trace_call(source, "f([1, 9])", segmentation="adaptive")
    assert [(b.start, b.stop) for b in truth.blocks] == [(0, 3), (3, 5), (5, 9), (9, 11), (11, 12), (12, 14)]
    assert truth.blocks[2].locals == {"xs": [1, 9], "total": 1, "seen": [1], "x": 9, "y": 3}
    assert truth.blocks[-1].locals["total"] == 4
    never = trace_call(source, "f([])", segmentation="adaptive")
    assert dict(never.blocks[0].locals) == {"xs": [], "total": 0, "seen": []}
