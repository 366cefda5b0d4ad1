"""Scripts in the sandbox beside ``python program.py``: what they find, what they print, and how they end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ct_tasks.execution.jobs import Job, Result
from ct_tasks.execution.pool import PythonPool
from ct_tasks.execution.worker import _shipment

INPUT = "3 4\r\nlast line\n"
WORLD = """
import builtins, sys
print(sorted(set(dir(builtins)) - {"_"}))
print(sorted(globals()), __name__, __doc__, __package__, __spec__, __cached__, __builtins__ is builtins)
print(__file__.rpartition("/")[2], sys.argv[1:], sys.getrecursionlimit() >= 1000)
for own, kept in ((sys.stdin, sys.__stdin__), (sys.stdout, sys.__stdout__), (sys.stderr, sys.__stderr__)):
    print(own is kept, type(own), own.name, own.mode, own.encoding, own.errors, own.newlines, own.line_buffering, own.write_through,
          own.fileno(), own.isatty(), own.closed, own.readable(), own.writable(), type(own.buffer), own.buffer.name, own.buffer.mode,
          type(own.buffer.raw), own.buffer.raw.mode, own.buffer.raw.closefd)
print(repr(exit), repr(quit), type(help), type(credits), type(open), open.__module__)
print([line for line in sys.stdin])
"""
ENDINGS = {
    "world": WORLD,
    "docstring": '"""What it says."""\nprint(__doc__)',
    "exit": "print('a')\nexit()\nprint('b')",
    "quit with a status": "print('a')\nquit(3)",
    "exit with a text": "import sys\nprint('a')\nsys.exit('no way')",
    "exit with nothing": "import sys\nsys.exit(None)",
    "exit with 256": "import sys\nsys.exit(256)",
    "exit with a float": "import sys\nsys.exit(0.0)",
    "exit with True": "import sys\nsys.exit(True)",
    "exit with a huge number": "import sys\nsys.exit(1 << 70)",
    "exit with a tuple": "raise SystemExit(1, 2)",
    "end of input": "while True:\n    print(input())",
    "end of input, caught": "try:\n    while True:\n        print(input())\nexcept EOFError:\n    print('end')",
    "input with a prompt": "print(input('? ') + '!')",
    "read by buffer": "import sys\nprint(sys.stdin.buffer.read())",
    "read by number": "print(open(0).read().split())",
    "read by number, as bytes": "print(open(0, 'rb').read())",
    "read by descriptor": "import os\nprint(os.read(0, 100))",
    "read by name": "print(open('/dev/stdin').read())",
    "read by path": "import pathlib\nprint(pathlib.Path('/dev/stdin').read_text())",
    "read by fileinput": "import fileinput\nprint(list(fileinput.input()))",
    "write by name": "print('b', file=open('/dev/stdout', 'w'))",
    "no flush": "import sys\nsys.stdout.write('a')",
    "no flush before a hard exit": "import os\nprint('lost')\nos._exit(0)",
    "flush before a hard exit": "import os\nprint('kept', flush=True)\nos._exit(3)",
    "a file on descriptor 1 that nobody closes": "out = open(1, 'w')\nout.write('a')",
    "another standard output": "import sys\nsys.stdout = open(1, 'w')\nprint('a')",
    "both standard outputs": "import sys\nprint('a')\nsys.stdout.flush()\nsys.stdout = open(1, 'w')\nprint('b')\nsys.__stdout__.write('c')",
    "output into memory": "import io, os, sys\nsys.stdout = io.StringIO()\nprint('a')\nos.write(1, sys.stdout.getvalue().encode())",
    "fast output at exit": "import atexit, os, io\nout = io.BytesIO()\natexit.register(lambda: os.write(1, out.getvalue()))\nout.write(b'a')",
    "closed standard output": "import sys\nprint('a')\nsys.stdout.close()",
    "an exception": "print('a')\n1 / 0",
    "an exception in a function": "def f():\n    raise KeyError('k')\nf()",
    "an exception with a cause": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('b') from e",
    "an exception of its own": "class Odd(BaseException): pass\nraise Odd(1)",
    "an exception hook": "import sys\nsys.excepthook = lambda kind, e, trace: print('hook', kind, e)\n1 / 0",
    "an exit handler that raises": "import atexit\natexit.register(lambda: 1 / 0)\nprint('a')",
    "a syntax error": "print('a')\nprint('b'",
    "a thread": "import threading\nthreading.Thread(target=lambda: print('thread')).start()\nprint('main')",
    "a last word": "class A:\n    def __del__(self): print('gone')\na = A()",
    "deep recursion": "def f(n): return n and 1 + f(n - 1)\nprint(f(990))",
    "deeper recursion": "def f(n): return n and 1 + f(n - 1)\nprint(f(1010))",
    "an import of itself": "import __main__\nx = 5\nprint(__main__.x)",
    "future": "from __future__ import (\n    annotations)\ndef f(x: Unknown): return 1\nprint(f(1))",
    "surrogates": "print('\\udcff')",
    "numpy": "import numpy as np\nprint(np.sum(np.array(input().split(), int)), np.random.default_rng(1).integers(9), np.fft.fft([1]))",
}


@pytest.fixture(scope="module")
def pool() -> Iterator[PythonPool]:
    with PythonPool(workers=1) as made:
        yield made


def real(source: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(source, encoding="utf-8")
    return subprocess.run([sys.executable, "program.py"], input=INPUT.encode(), capture_output=True, cwd=folder, check=False, env={
        "PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"})


def last_words(text: str) -> str:
    """The last line of standard error: what the exception or the exit said."""
    return (text.rstrip("\n").splitlines() or [""])[-1]


@pytest.mark.parametrize("name", ENDINGS)
def test_as_python_runs_it(pool: PythonPool, tmp_path: Path, name: str) -> None:
    if "numpy" in name:
        pytest.importorskip("numpy")
    wanted = real(ENDINGS[name], tmp_path)
    hook = "ct_tasks.benchmarks.codegen.child:before_script"
    got: Result = pool.run([Job(ENDINGS[name], stdin=INPUT, hook=hook)])[0]
    assert got.stdout == wanted.stdout.decode("utf-8", "replace")
    assert (got.status == "ok") == (wanted.returncode == 0), (got, wanted)
    assert last_words(got.stderr) == last_words(wanted.stderr.decode("utf-8", "replace"))
    if "exception in" in name:  # none of the sandbox's own lines
        assert [line for line in got.stderr.splitlines() if "File" in line] != []
        assert "child.py" not in got.stderr


def test_a_script_needs_no_hook(pool: PythonPool) -> None:
    (got,) = pool.run([Job("print(sorted(open('/dev/stdin').read().split()))\nexit()", stdin=INPUT)])
    assert (got.status, got.stdout) == ("ok", "['3', '4', 'last', 'line']\n")


def test_what_a_container_gets_holds_no_compiled_package() -> None:
    """NumPy is loaded beforehand here, where it is installed; a container has its own, or none."""
    assert b"before_script" in _shipment("ct_tasks.benchmarks.codegen.child")
