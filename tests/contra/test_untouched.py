"""Tracing changes nothing: a traced program computes what the untraced one computes, and none of its methods run for it."""

import subprocess
import sys

import pytest
from pythons import ROOT, other_python
from untouched import PROGRAMS, untraced

from ct_tasks.contra import literals
from ct_tasks.contra.program import normalise
from ct_tasks.contra.trace import Truth
from ct_tasks.contra.tracer import trace_call
from ct_tasks.errors import ProgramRaised, TraceError, TraceMemory, TraceTimeout


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_traced_program_computes_what_the_untraced_one_computes(name):
    expected = untraced(PROGRAMS[name], "f()")
    truth = trace_call(PROGRAMS[name], "f()")
    assert literals.same(truth.returned, expected), expected
    assert literals.same(Truth.from_json(truth.to_json()).returned, expected)


@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_other_pythons_agree(version, tmp_path):
    python, env = other_python(version, tmp_path)
    script = (
        "import sys; sys.path.insert(0, 'tests/contra')\nfrom untouched import PROGRAMS, untraced\n"
        "from ct_tasks.contra import literals\nfrom ct_tasks.contra.tracer import trace_call\n"
        "print([n for n, p in PROGRAMS.items() if not literals.same(trace_call(p, 'f()').returned, untraced(p, 'f()'))])"
    )
    done = subprocess.run([python, "-c", script], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr[-2000:]


def test_the_program_is_a_module_for_as_long_as_it_runs():
    source = "import sys\ndef f():\n    return sys.modules[__name__].f is f"
    assert trace_call(source, "f()").returned is True
    assert "__program__" not in sys.modules


METAS = {
    "eq": "def __eq__(cls, other):\n        calls.append('eq')\n        return True\n    __hash__ = type.__hash__",
    "eq that asks for its text": "def __eq__(cls, other):\n        calls.append(repr(cls))\n        return NotImplemented\n    __hash__ = type.__hash__\n    def __repr__(cls):\n        calls.append('repr')\n        return ''",
    "hash": "def __hash__(cls):\n        calls.append('hash')\n        return 1",
    "attributes": "def __getattribute__(cls, name):\n        calls.append(name)\n        return type.__getattribute__(cls, name)",
    "its dictionary": "@property\n    def __dict__(cls):\n        calls.append('dict')\n        return {}",
    "its bases": "@property\n    def __bases__(cls):\n        calls.append('bases')\n        return (tuple,)",
    "its name": "@property\n    def __name__(cls):\n        calls.append('name')\n        return 'int'",
    "its instances": "def __instancecheck__(cls, other):\n        calls.append('instance')\n        return True\n    def __subclasscheck__(cls, other):\n        calls.append('subclass')\n        return True",
    "its order of bases": "def mro(cls):\n        return type.mro(cls)\n    @property\n    def __mro__(cls):\n        calls.append('mro')\n        return ()",
}  # fmt: skip


@pytest.mark.parametrize("base", ["object", "tuple", "int", "list", "dict", "str"])
@pytest.mark.parametrize("meta", METAS)
def test_no_metaclass_is_asked(meta, base):
    source = (
        f"calls = []\nclass Meta(type):\n    {METAS[meta]}\nclass Odd({base}, metaclass=Meta):\n    _fields = ('a',)\n"
        "def f():\n    x = Odd()\n    y = [Odd()]\n    z = Odd\n    calls.clear()\n    n = 1\n    return list(calls)"
    )
    truth = trace_call(source, "f()")
    assert truth.returned == []
    named = {"x": (), "y": [()]} if base == "tuple" else {}  # a tuple with _fields is a namedtuple
    assert truth.blocks[-1].locals == {**named, "n": 1}


def test_a_returned_oddity_is_not_asked_for_its_name():
    source = (
        "calls = []\nclass Name(str):\n    def __format__(self, spec):\n        calls.append('format')\n        return 'x'\n"
        "    __str__ = __format__\nOdd = type(Name('Odd'), (), {})\ndef f():\n    return Odd()"
    )
    with pytest.raises(TraceError, match=r"no literal expresses the returned (object|Odd)"):
        trace_call(source, "f()")


def test_keys_of_a_class_are_not_compared():
    source = (
        "calls = []\nclass Key(str):\n    def __eq__(self, other):\n        calls.append(other)\n        return True\n"
        "    __hash__ = str.__hash__\nOdd = type('Odd', (tuple,), {Key('_fields'): ()})\n"
        "def f():\n    x = Odd()\n    calls.clear()\n    y = 1\n    return len(calls)"
    )
    assert trace_call(source, "f()").returned == 0


@pytest.mark.parametrize("catch", ["except Exception:\n            pass", "except BaseException:\n            pass", "finally:\n            return 7"])
def test_a_program_that_catches_the_tracers_own_error_has_no_trace(catch):
    source = f"def f():\n    n = 0\n    while n < 10:\n        try:\n            n += 1\n            for i in range(100):\n                n = n\n        {catch}\n    return n"
    with pytest.raises(TraceTimeout, match="too many lines"):
        trace_call(source, "f()", max_events=150)
    large = "def f():\n    try:\n        xs = list(range(1000))\n    except Exception:\n        return 0\n    y = 1\n    return y"
    with pytest.raises(TraceMemory, match="too large"):
        trace_call(large, "f()", max_values=100)


@pytest.mark.parametrize("words", ["10 ** 5000", "object()", "'a', 'b'", "", "'\\ud800'", "-(10 ** 5000)"])
def test_whatever_is_raised_can_be_told(words):
    with pytest.raises(ProgramRaised, match="ValueError"):
        trace_call(f"def f():\n    raise ValueError({words})", "f()")


def test_keys_that_an_exec_leaves_are_no_locals():
    truth = trace_call("def f():\n    exec('zz = 1')\n    exec('locals()[3] = 4')\n    y = 2\n    return y", "f()")
    assert truth.blocks[-1].locals == {"y": 2}


def test_recursion_has_the_depth_of_a_plain_run():
    """The deepest recursion that a sandboxed job can make is one that a trace of it can make, give or take our own frames."""
    from ct_tasks.execution.jobs import Job
    from ct_tasks.execution.pool import shared_pool

    source = "def f(n):\n    return 0 if n == 0 else 1 + f(n - 1)"
    depths = range(960, 1000)
    jobs = [Job(source, expr=f"f({n})") for n in depths]
    traces = [Job("", hook="ct_tasks.contra.tracer:trace_hook", payload={"source": source, "call": f"f({n})"}) for n in depths]
    ran = [n for n, result in zip(depths, shared_pool().run(jobs), strict=True) if result.status == "ok"]
    traced = [n for n, result in zip(depths, shared_pool().run(traces), strict=True) if '"truth"' in (result.value or "")]
    assert ran != []
    assert set(ran) <= set(traced)
    assert len(traced) - len(ran) <= 5


def test_normalised_text_keeps_what_the_function_depends_on():
    source = '"""module"""\ndef f():\n    """doc"""\n    return X\nX = []\nX.append(1)\nprint(f())\nf()\n"text"\nassert True'
    program = normalise(source)
    assert program.after == "X = []\nX.append(1)\nassert True"
    assert program.lines == ("def f():", "    return X")
