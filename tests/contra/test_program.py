"""Normalisation and the three segmentations."""

import ast
import itertools

import pytest

from ct_tasks.contra.program import Span, normalise, segment
from ct_tasks.errors import TraceError, UnknownNameError


def test_blank_lines_comments_and_docstrings_go_and_the_rest_stays():
    source = (
        'import os  # used\n\n\ndef f(a):\n    """Doc.\n\n    More.\n    """\n    # note\n    b = a  # why\n\n    s = """x\n\n# not a comment\n"""\n'
        "    t = '#'   \n    return b\n"
    )
    program = normalise(source)
    assert program.lines == ("def f(a):", "    b = a", '    s = """x', "", "# not a comment", '"""', "    t = '#'   ", "    return b")
    assert program.context == "import os"
    assert program.runnable == "import os\n" + program.source + "\n"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ('def f():\n    "only a docstring"', ("def f():", '    "only a docstring"')),
        ('def f(): "doc"; return 1', ('def f(): "doc"; return 1',)),
        ('def f():\n    "doc"; x = 1\n    return x', ("def f():", '    "doc"; x = 1', "    return x")),
        ("def f(a,\n      # why\n      b):\n    return a", ("def f(a,", "      b):", "    return a")),
        ("def f():\r\n    return 1\r\n", ("def f():", "    return 1")),
        ("def f():\n    def g():\n        '''inner'''\n        return 1\n    return g()", ("def f():", "    def g():", "        return 1", "    return g()")),
        ("def f(x):\n\tif x:\n\t\treturn 1\n\treturn 2", ("def f(x):", "\tif x:", "\t\treturn 1", "\treturn 2")),
        ("def f(x):\n    y = x + \\\n        1\n    return y", ("def f(x):", "    y = x + \\", "        1", "    return y")),
    ],
)
def test_lines(source, lines):
    assert normalise(source).lines == lines
    ast.parse("\n".join(lines))


def test_context_keeps_definitions_and_drops_the_main_guard_and_calls_after():
    source = "import re\nK = 3\n@cache\ndef f(x):\n    return h(x)\n\ndef h(x):\n    return x\n\nprint(f(1))\nif __name__ == '__main__':\n    f(2)\n"
    program = normalise(source, "f")
    assert program.before == "import re\nK = 3\n@cache"
    assert program.after == "def h(x):\n    return x"
    assert program.offset == 3
    assert program.runnable.split("\n")[program.offset] == "def f(x):"


def test_entry_is_the_named_one_or_f_or_the_last():
    source = "def a():\n    return 1\ndef b():\n    return 2"
    assert normalise(source).entry == "b"
    assert normalise(source, "a").entry == "a"
    assert normalise("def f():\n    return 1\n" + source).entry == "f"
    with pytest.raises(TraceError, match="did you mean"):
        normalise("def solve():\n    return 1", "solv")


def _blocks(source, mode):
    return [(s.start, s.stop, s.weight) for s in segment(normalise(source), mode)]


WORKED = "def f(n):\n    a = n\n    b = a\n    c = b\n    while c:\n        c -= 1\n    return c"


def test_statement_blocks_join_def_and_return():
    assert _blocks(WORKED, "statement") == [(0, 2, 1), (2, 3, 1), (3, 4, 1), (4, 7, 2)]


def test_coalesced_blocks():
    assert _blocks(WORKED, "coalesced") == [(0, 4, 1), (4, 7, 2)]
    assert _blocks("def f(n):\n    for i in n:\n        pass\n    a = 1\n    b = 2\n    return b", "coalesced") == [(0, 3, 2), (3, 6, 1)]


def test_adaptive_blocks_cut_after_five_variables():
    source = "def f(n):\n" + "".join(f"    v{i} = n\n" for i in range(10)) + "    return v9"
    assert len(_blocks(source, "adaptive")) == 3
    assert len(_blocks(source, "statement")) == 10
    assert len(_blocks(source, "coalesced")) == 1


@pytest.mark.parametrize(
    ("body", "weight"),
    [
        ("    x = n", 1), ("    while n:\n        n -= 1", 2), ("    for i in n:\n        if i:\n            pass", 3), ("    x = [i for i in n if i]", 3), ("    x = n and n or n", 3),
        ("    if n:\n        x = 1\n    elif n > 1:\n        x = 2\n    else:\n        x = 3", 3), ("    try:\n        x = 1\n    except KeyError:\n        x = 2", 2),
    ],
)
def test_weights_are_radons_complexity(body, weight):
    assert segment(normalise(f"def f(n):\n{body}"))[0].weight == weight


def test_bare_return_and_single_line_functions_are_one_block():
    assert _blocks("def f(n):\n    return n", "statement") == [(0, 2, 1)]
    assert _blocks("def f(n): return n", "statement") == [(0, 1, 1)]


def test_unknown_segmentation_suggests():
    with pytest.raises(UnknownNameError, match="did you mean statement"):
        segment(normalise("def f():\n    return 1"), "statment")


@pytest.mark.parametrize("mode", ["statement", "coalesced", "adaptive"])
def test_blocks_cover_every_benchmark_program(mode, data_dir):
    import json

    rows = [json.loads(line) for line in (data_dir / "cruxeval" / "test.jsonl").open()]
    sizes = []
    for row in rows:
        program = normalise(row["code"], "f")
        spans = segment(program, mode)
        assert spans[0].start == 0
        assert spans[-1].stop == len(program.lines)
        assert all(isinstance(s, Span) and s.start < s.stop and s.weight >= 1 for s in spans)
        assert all(a.stop == b.start for a, b in itertools.pairwise(spans))
        sizes.append(len(spans))
    if mode == "statement":
        assert (min(sizes), max(sizes), round(sum(sizes) / len(sizes), 1)) == (1, 6, 1.9)
