"""Programs whose value a careless tracer would change, and what they compute when nobody watches."""

import sys
import types

from ct_tasks.contra import literals

PATCHED = "'any', 'dict', 'frozenset', 'id', 'int', 'isinstance', 'issubclass', 'iter', 'len', 'list', 'map', 'max', 'range', 'set', 'sorted', 'str', 'tuple', 'type'"
PROGRAMS = {
    "locals kept, then a variable added": "def f():\n    a = 1\n    d = locals()\n    b = 2\n    return sorted(d)",
    "locals changed by hand": "def f():\n    a = 1\n    d = locals()\n    d['a'] = 5\n    c = 0\n    return d['a'], a",
    "locals asked for twice": "def f():\n    a = 1\n    d = locals()\n    b = 2\n    e = locals()\n    del a\n    return d is e, sorted(d), sorted(locals())",
    "vars without an argument": "def f():\n    a = 1\n    d = vars()\n    b = 2\n    return sorted(d)",
    "vars of an object": "class C:\n    pass\ndef f():\n    c = C()\n    c.x = 1\n    return vars(c)",
    "locals in a helper": "def g(x):\n    d = locals()\n    y = 1\n    return sorted(d)\ndef f():\n    return g(2)",
    "locals in recursion": "def f(n=2):\n    d = locals()\n    m = n\n    return sorted(d) + (f(n - 1) if n else [])",
    "exec stores a name": "def f():\n    exec('zz = 1')\n    y = 2\n    return 'zz' in locals(), eval('y')",
    "its own docstring": 'def f():\n    """words"""\n    x = 1\n    return f.__doc__, len(f.__doc__)',
    "a docstring through getattr": 'def g():\n    "words"\n    return 1\ndef f():\n    return getattr(g, "__doc__")',
    "the docstring of a class": 'class C:\n    """words"""\n    x = 1\ndef f():\n    return C.__doc__',
    "byte order mark": "\ufeffdef f():\n    return 'b'",
    "carriage returns": "def f():\r\n    x = 1\r\n    return x",
    "annotations are evaluated": "def f(x: int = 1):\n    return f.__annotations__['x'] is int",
    "a dataclass with postponed annotations": "from __future__ import annotations\nimport dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int\ndef f():\n    return dataclasses.astuple(P(1))",
    "names of the module": "def f():\n    return sorted(n for n in globals() if not n.startswith('__')), __name__, '__pack__' in globals()",
    "state set up below the function": "def f():\n    return list(seen)\nseen = []\nseen.append(3)",
    "the limit of recursion": "import sys\ndef g(n):\n    return 0 if n == 0 else 1 + g(n - 1)\ndef f():\n    return g(600)",
    "a range in a set": "def f():\n    x = 1\n    s = {range(3), 2}\n    d = {range(2): 1}\n    return len(s), len(d)",
    "a complex number that is not finite": "def f():\n    z = complex('inf')\n    e = 1e999j\n    n = complex('nan+1j')\n    return 1",
    "a list that holds itself twice": "def f():\n    a = []\n    a.append(a)\n    a.append(a)\n    return len(a)",
    "a range without a length": "def f():\n    n = 0\n    for i in range(10**30):\n        n += i\n        if i > 3:\n            break\n    return n",
    "patched built-ins": "import builtins\ndef f():\n    xs = [(1, {2})]\n    kept = dict(vars(builtins))\n    seen = []\n    for n in [" + PATCHED + "]:\n        setattr(builtins, n, lambda *a, n=n, **k: seen.append(n))\n    y = 1\n    z = [y]\n    vars(builtins).update(kept)\n    return seen",
}  # fmt: skip


def untraced(source: str, call: str) -> object:
    module = types.ModuleType("__program__")
    sys.modules["__program__"] = module
    try:
        exec(compile(source.removeprefix("\ufeff"), "<untraced>", "exec", dont_inherit=True), module.__dict__)
        return literals.plain(eval(compile(call, "<call>", "eval", dont_inherit=True), module.__dict__))
    finally:
        del sys.modules["__program__"]
