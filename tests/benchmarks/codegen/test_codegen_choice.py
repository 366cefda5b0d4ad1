"""Which of several pieces of code in a reply is the program, and what is brought along with it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ct_tasks.benchmarks.codegen.extract import find_program, find_script

RIGHT = "def f(x):\n    return 2 * x"
BLOCK = f"```python\n{RIGHT}\n```\n"
HEAD = 'from typing import List\n\n\ndef twice(x):\n    return 2 * x\n\n\ndef f(x: List) -> int:\n    """Double."""\n'


def value(text: str, *, flexible: bool = False, entry: str = "f", prompt: str = "") -> object:
    found = find_program(text, entry, prompt=prompt, flexible=flexible)
    assert found.source is not None, found
    namespace: dict[str, object] = {"__name__": "program"}
    exec(found.source, namespace)
    name, _, method = entry.partition(".")
    made = namespace[name]
    return getattr(made(), method)(3) if method else made(3)  # type: ignore[operator]


PROGRAMS = {
    "import of it": f"{BLOCK}Use it:\n```python\nfrom solution import f\nprint(f(3))\n```",
    "stub with pass": f"{BLOCK}Signature:\n```python\ndef f(x):\n    pass\n```",
    "stub with dots": f"{BLOCK}```python\ndef f(x: int) -> int: ...\n```",
    "stub with docstring": f'{BLOCK}```python\ndef f(x):\n    """Double x."""\n```',
    "stub that raises": f"{BLOCK}```python\ndef f(x):\n    raise NotImplementedError('todo')\n```",
    "stub first": f"```python\ndef f(x):\n    ...\n```\nnow\n{BLOCK}",
    "parts left out": f"{BLOCK}The idea:\n```python\ndef f(x):\n    # ... check the input\n    return 0\n```",
    "prefix as explanation": "```python\ndef f(x):\n    y = x\n    y += x\n    return y\n```\nFirst we copy:\n```python\ndef f(x):\n    y = x\n```",
    "correction": f"```python\ndef f(x):\n    return x\n```\nThat forgets the factor. Corrected:\n{BLOCK}",
    "correction that deletes a line": "```python\ndef f(x):\n    x = 2 * x\n    x += 1\n    return x\n```\nWithout the addition:\n"
                                      "```python\ndef f(x):\n    x = 2 * x\n    return x\n```",
    "a test after it": f"{BLOCK}```python\ndef test_f():\n    assert f(1) == 2\ntest_f()\n```",
    "a test that shadows it": f"{BLOCK}```python\nf = f(3)\nprint(f)\n```",
    "output after it": f"{BLOCK}Output:\n```\n6\n```",
    "shell after it": f"{BLOCK}```bash\npython f.py\n```",
    "another language after it": f"{BLOCK}In JavaScript:\n```javascript\nfunction f(x) {{ return 3 * x; }}\n```",
    "java after it": f"{BLOCK}```java\nclass f {{ int g; }}\n```",
    "broken piece after it": f"{BLOCK}```diff\n-def f(x):\n+def f(x, y):\n```",
    "helper in another block": "```python\ndef g(x):\n    return 2 * x\n```\nand\n```python\ndef f(x):\n    return g(x)\n```",
    "helper after it": "```python\ndef f(x):\n    return g(x)\n```\nwith\n```python\nimport math\ndef g(x):\n    return math.floor(2 * x)\n```",
    "imports in another block": "```python\nimport math\n```\n```python\ndef f(x):\n    return math.floor(x) * 2\n```",
    "constant in another block": "```python\nfrom math import floor\nK = floor(2.5)\n```\n```python\ndef f(x):\n    return K * x\n```",
    "future import and a helper": "```python\nK = 2\n```\n```python\nfrom __future__ import annotations\ndef f(x: Unknown):\n    return K * x\n```",
    "own check": "```python\ndef check(n):\n    return n + 1\nK = check(1)\ndef f(x):\n    return K * x\n```",
    "table filled by a call": "```python\nT = {}\ndef fill():\n    for i in range(9):\n        T[i] = 2 * i\nfill()\ndef f(x):\n    return T[x]\n```",
    "table filled by a global": "```python\ndef fill():\n    global T\n    T = [2 * i for i in range(9)]\n    print('filled')\nfill()\ndef f(x):\n    return T[x]\n```",
    "table filled in a loop": "```python\nT = [0]\nfor i in range(9):\n    T.append(T[-1] + 2)\ndef f(x):\n    return T[x]\n```",
    "wrapped afterwards": "```python\ndef f(x):\n    return x\ndef double(g):\n    return lambda x: 2 * g(x)\nf = double(f)\n```",
    "attribute set": "```python\ndef f(x):\n    return f.k * x\nf.k = 2\nprint(f(1))\n```",
    "wrong asserts left out": f"```python\n{RIGHT}\nassert f(1) == 3\ncheck(f)\n```",
    "main that reads left out": f"```python\n{RIGHT}\ndef main():\n    print(f(int(input())))\nmain()\n```",
    "name of a parameter read from input": "```python\ndef f(n):\n    return 2 * n\nn = int(input())\nprint(f(n))\n```",
    "named in a condition": "```python\ntry:\n    import numpy_of_nobody\nexcept ImportError:\n    pass\nif True:\n    def f(x):\n        return 2 * x\n```",
    "lambda": "```python\nf = lambda x: 2 * x\n```",
    "four backticks": f"````\n{BLOCK}````",
    "markdown around it": f"```markdown\n# Title\n{BLOCK}```\n",
    "fence in a docstring": '```python\ndef f(x):\n    """\n    ```\n    f(1)\n    ```\n    """\n    return 2 * x\n```\nDone.',
    "fence never closed, next opens": f"```python\n{RIGHT}\n\n```bash\nls\n```",
    "in a list": "1. Code:\n   ```python\n   def f(x):\n       return 2 * x\n   ```\n2. Done",
    "fence after a bullet": "- ```python\n  def f(x):\n      return 2 * x\n  ```",
    "windows lines": BLOCK.replace("\n", "\r\n"),
    "tag with attributes": f'```python title="f.py"\n{RIGHT}\n```',
    "tag with braces": f"```{{.python}}\n{RIGHT}\n```",
    "plain code twice": f"def f(x):\n    return x\n\nNo, better:\n\n{RIGHT}\n\nIt doubles.",
    "plain code with a list at the margin": "K = [\n1,\n2,\n]\ndef f(x):\n    return K[1] * x\n\nThat is it.",
    "code outside, output fenced": f"{RIGHT}\n\nOutput:\n```\n6\n```",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_of_a_function_problem(name: str) -> None:
    assert value(PROGRAMS[name]) == 6
    assert value(PROGRAMS[name], flexible=True) == 6


@pytest.mark.parametrize("text", [
    ">>> def f(x):\n...     return 2 * x\n...\n>>> f(3)\n6", f"```\n>>> {RIGHT.replace(chr(10), chr(10) + '... ')}\n>>> f(1)\n2\n```",
    "Just use `f = lambda x: 2 * x`.", "``def f(x): return 2 * x`` does it."])
def test_the_flexible_reading_takes_sessions_and_inline_code(text: str) -> None:
    assert find_program(text, "f").source is None
    assert value(text, flexible=True) == 6


@pytest.mark.parametrize("text", ["def double(self, x):\n    return 2 * x", "```python\ndef double(x):\n    return 2 * x\n```",
                                  "```python\n    def double(self, x: int) -> int:\n        return 2 * x\n```"])
def test_a_method_without_its_class(text: str) -> None:
    assert find_program(text, "Solution.double").source is None
    assert value(text, flexible=True, entry="Solution.double") == 6


def test_a_class_without_the_method_is_not_chosen() -> None:
    right = "```python\nclass Solution:\n    def double(self, x):\n        return 2 * x\n```"
    assert value(f"{right}\n```python\nclass Solution:\n    def other(self): return 1\n```", entry="Solution.double") == 6
    assert value(f"{right}\n```python\nclass Solution:\n    def double(self, x):\n        pass\n```", entry="Solution.double") == 6


def test_the_prompts_own_code_is_at_hand() -> None:
    text = "```python\ndef f(x: List) -> int:\n    return twice(x)\n```"
    assert value(text, prompt=HEAD) == 6
    assert value(f"```python\n{HEAD}```\n{text}", prompt=HEAD) == 6


@pytest.mark.parametrize(("text", "truncated", "missing"), [
    ("", None, "no_answer"), ("Use a loop.", False, "no_answer"), ("Use a loop and", True, "truncated"), ("```python\nimport os\n", True, "truncated"),
    ("```python\ndef g(x):\n    return x\n```", None, "unreadable"), ("def g(x):\n    return x", None, "unreadable"), ("```\n6\n```", None, "unreadable"),
    ("```java\nclass f { }\n```", None, "unreadable"), ("<think>hm", None, "unclosed"), ("<think>hm", True, "truncated")])
def test_why_there_is_no_program(text: str, truncated: bool | None, missing: str) -> None:
    for flexible in (False, True):
        found = find_program(text, "f", truncated=truncated, flexible=flexible)
        assert (found.source, found.missing) == (None, missing)


def test_a_thinking_part_that_the_template_opened() -> None:
    assert find_program(f"First\n{BLOCK}Hm", "f", thinking=True).missing == "unclosed"
    assert find_program(f"First\n{BLOCK}</think>\n{BLOCK}", "f", thinking=True).source == RIGHT
    assert find_script("```python\nprint(1)\n```", thinking=True, truncated=True).missing == "truncated"


def test_a_program_is_cut_only_where_the_reply_was() -> None:
    half = "```python\ndef f(x):\n    y = x\n    return y + ("
    assert find_program(half, "f", truncated=True).cut
    assert not find_program(half, "f").cut
    assert not find_program(BLOCK + "and so", "f", truncated=True).cut
    assert not find_program(f"{RIGHT}\n\ndef g(y):\n    return y + (", "f", truncated=True).cut
    assert find_program("    y = x\n    return y + (", "f", prompt=HEAD, truncated=True).cut
    assert find_script("```python\nprint(1", truncated=True).cut


SCRIPT = "a, b = map(int, input().split())\nprint(a + b)"
SCRIPTS = {
    "alone": f"```python\n{SCRIPT}\n```",
    "sample output after it": f"```python\n{SCRIPT}\n```\nSample output:\n```\n7\n```",
    "sample input after it": f"```python\n{SCRIPT}\n```\nFor the input\n```\n3 4\n```\nit prints\n```text\n7\n```",
    "words after it": f"```python\n{SCRIPT}\n```\n```\nYes\n```",
    "list after it": f"```python\n{SCRIPT}\n```\n```\n[1, 2, 3]\n```",
    "output tagged python after it": f"```python\n{SCRIPT}\n```\n```python\n7\n```",
    "shell after it": f"```python\n{SCRIPT}\n```\n```bash\necho 3 4 | python a.py\n```",
    "fragment after it": f"```python\n{SCRIPT}\n```\nHere\n```python\na, b = map(int, input().split())\n```\nreads both.",
    "example of use after it": "```python\ndef solve(a, b):\n    return a + b\na, b = map(int, input().split())\nprint(solve(a, b))\n```\n"
                               "Example:\n```python\nprint(solve(1, 1))\n```",
    "test of it": f"```python\ndef main():\n    {SCRIPT.replace(chr(10), chr(10) + '    ')}\nmain()\n```\nTest:\n```python\nimport io, sys\n"
                  "sys.stdin = io.StringIO('1 1')\nmain()\n```",
    "call in another block": "```python\ndef main():\n    a, b = map(int, input().split())\n    print(a + b)\n```\nRun it:\n```python\nmain()\n```",
    "helper in another block": "```python\ndef add(a, b):\n    return a + b\n```\n```python\na, b = map(int, input().split())\nprint(add(a, b))\n```",
    "correction": f"```python\n{SCRIPT.replace('+', '-')}\n```\nNo:\n```python\n{SCRIPT}\n```",
    "sample before it": f"```\n3 4\n```\n```python\n{SCRIPT}\n```",
    "by sys": "```python\nimport sys\ndata = sys.stdin.read().split()\nsys.stdout.write(str(int(data[0]) + int(data[1])))\n```\n```\n7\n```",
    "main guard": "```python\ndef main():\n    a, b = map(int, input().split())\n    print(a + b)\n\nif __name__ == '__main__':\n    main()\n```\n```\n7\n```",
    "plain": SCRIPT,
    "plain between prose": f"The program:\n\n{SCRIPT}\n\nIt adds the numbers.",
    "wrong tag": f"```text\n{SCRIPT}\n```",
    "input simulated before it": f"```python\ns = '3 4'\nprint(s)\n```\n```python\n{SCRIPT}\n```",
    "correction without its import": "```python\nprint(sum(map(int, input().split())) + 1)\n```\nBetter:\n```python\nfrom math import *\n"
                                     "print(int(fsum(map(int, input().split()))))\n```",
    "comment with the sample": f"```python\n{SCRIPT}\n```\n```python\n# Input: 3 4\n# Output: 7\n```",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_script_of_an_input_problem(name: str) -> None:
    for flexible in (False, True):
        source = find_script(SCRIPTS[name], flexible=flexible).source
        assert source is not None
        ran = subprocess.run([sys.executable, "-c", source], input="3 4\n", capture_output=True, text=True, check=False)
        assert ran.stdout.strip() == "7", (source, ran.stderr)


def test_no_script() -> None:
    assert find_script("```\n7\n```").missing == "unreadable"
    assert find_script("The answer is 7.").missing == "no_answer"
    assert find_script("`print(7)`").source is None
    assert find_script("`print(7)`", flexible=True).source == "print(7)"
    assert find_script(">>> print(7)\n7", flexible=True).source == "print(7)"
    assert find_script("```python\nprint 7\n```").source == "print 7"  # wrong, but the program


PIECES = st.lists(st.sampled_from([
    "```", "```python", "````", "~~~", "def f(x):", "    return x", "class f:", "'''", '"""', "f = 1", "(", ")", ">>> f(1)", "... ", "`f = 2`", "print(f)",
    "<think>", "</think>", "    ", "\t", "#", "@", "\\", "\x00", "import f", "from f import *", "text", "if f:", "lambda", "\r", "\u2028", "f'{x!r:{f}}'",
    "assert f", "global f", "1" * 5000, "[" * 300, "-" * 300, "- ```python", "async def f(): await x", "del f", "f.x = 3", "nonlocal y", "return"]), max_size=25)


@settings(max_examples=1000, deadline=None)
@given(PIECES, st.sampled_from(["\n", " ", ""]), st.sampled_from([None, True, False]))
def test_no_text_raises(parts: list[str], glue: str, truncated: bool | None) -> None:
    text = glue.join(parts)
    for flexible in (False, True):
        find_program(text, "f", prompt=HEAD, truncated=truncated, flexible=flexible)
        find_program(text, "f.g", truncated=truncated, flexible=flexible)
        find_script(text, truncated=truncated, flexible=flexible)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["```\n'''\n```\n", "```python\ndef f(x):\n    return x\n```\n", "def f(x):\n", "`f`", "x = (\n", ">>> f\n", "```\n", "```python\n",
                                  "f = 1;", "a" * 99 + "\n", "\"\"\"'''\n", "````\n```\n", "print(f(1))\n", "T[1] = f\n", "f(", "\\", "- ```\n", "if f:\n x\n"])
def test_megabytes_are_read(unit: str) -> None:
    """Whatever a reply repeats, it ends: no step takes more than time in proportion to the text."""
    text = unit * (3_000_000 // len(unit))
    find_program(text, "f", prompt=HEAD, flexible=True)
    find_script(text, flexible=True)
