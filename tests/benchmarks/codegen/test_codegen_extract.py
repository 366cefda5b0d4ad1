"""Which program is taken from a reply."""

from __future__ import annotations

import ast

import pytest

from ct_tasks.benchmarks.codegen.blocks import fenced
from ct_tasks.benchmarks.codegen.extract import find_program, find_script

HEAD = 'def f(x: int) -> int:\n    """Double.\n\n    >>> f(2)\n    4\n    """\n'
RIGHT = "def f(x):\n    return 2 * x"


def value(text: str, **kwargs: str) -> object:
    found = find_program(text, "f", **kwargs)  # type: ignore[arg-type]
    assert found.source is not None
    namespace: dict[str, object] = {}
    exec(found.source, namespace)
    return namespace["f"](3)  # type: ignore[operator]


@pytest.mark.parametrize("text", [
    f"Here:\n```python\n{RIGHT}\n```\nDone.",
    f"```\n{RIGHT}\n```",
    f"```py\n{RIGHT}\n```",
    f"~~~python\n{RIGHT}\n~~~",
    "```def f(x): return 2 * x\n```",
    "```def f(x): return 2 * x```",
    f"```Python3\n{RIGHT}\n```",
    f"{RIGHT}\n```",
    f"```python\n{RIGHT}",
    RIGHT,
    f"Sure, here it is.\n{RIGHT}\n",
    f"```python\n{RIGHT}\n\nprint(f(5))\nassert f(2) == 4\n```",
    f"{RIGHT}\n\nThis function doubles its argument; it's easy.",
    f"```python\n{RIGHT}\n```\nTests:\n```python\nassert f(1) == 2\nprint(f(1))\n```",
    f"```bash\npip install x\n```\n```python\n{RIGHT}\n```",
    f"```python\ndef f(x):\n    return x\n```\nBetter:\n```python\n{RIGHT}\n```",
    f"<think>```python\ndef f(x): return 0\n```</think>\n```python\n{RIGHT}\n```",
    f"```python\n{RIGHT}\n\nif __name__ == '__main__':\n    f(input())\n```",
    "```python\nK = 2\ndef f(x):\n    return K * x\nresult = f(7)\n```",
    f"  ```python\n{RIGHT}\n  ```",
])
def test_the_block_that_defines_the_entry_point_is_run(text: str) -> None:
    assert value(text) == 6


@pytest.mark.parametrize("text", ["    return 2 * x\n", "    y = x\n    return y + x\n\n\ndef g():\n    pass\n", "    return 2 * x\nprint(f(2))\n",
                                  "    return 2 * x\n```\nThat is all.", "```python\n    return 2 * x\n```"])
def test_a_base_model_continues_the_function_head(text: str) -> None:
    assert value(text, prompt=HEAD) == 6


@pytest.mark.parametrize("text", ["", "I would use a loop.", "```python\n```", "```python\ndef g(x):\n    return x\n```", "```"])
def test_no_program_is_no_answer(text: str) -> None:
    found = find_program(text, "f")
    assert found.source is None
    assert found.missing in ("no_answer", "unreadable")


def test_the_prompt_alone_is_no_program() -> None:
    assert find_program("", "f", prompt=HEAD).source is None
    assert find_program("    # todo\n", "f", prompt=HEAD).source is None


def test_thinking_that_never_ends_is_truncated() -> None:
    text = f"<think>\n```python\n{RIGHT}\n```"
    assert find_program(text, "f").missing == "unclosed"
    assert find_program(text, "f", truncated=False).missing == "unclosed"
    assert find_program(text, "f", truncated=True).missing == "truncated"


def test_actions_are_left_out_and_definitions_stay() -> None:
    source = find_program("```python\nimport os, sys\nsys.setrecursionlimit(9999)\nMEMO = {}\n@staticmethod\ndef f(x): return x\n"
                          "class A: pass\nprint(f(1)); x = 1\nassert f(1)\nfor i in range(3): f(i)\n```", "f").source
    assert source is not None
    kinds = [type(node).__name__ for node in ast.parse(source).body]
    assert kinds[:6] == ["Import", "Expr", "Assign", "FunctionDef", "ClassDef", "Expr"] or "ClassDef" in kinds
    assert "assert" not in source
    assert "for i" not in source


def test_blocks_of_unmatched_fences() -> None:
    def texts(text: str) -> list[str]:
        return [block.text for block in fenced(text)[0]]

    assert texts("a\n```\nb") == ["b"]
    assert texts("```x\na\n```\nb\n```y\nc") == ["a", "c"]
    assert texts("") == []


def test_a_script_is_the_last_block_that_parses() -> None:
    assert find_script("```python\nprint(1)\n```\n```\n$ run it\n```").source == "print(1)"
    assert find_script("print(int(input()) + 1)").source == "print(int(input()) + 1)"
    assert find_script("no program here").source is None
    assert find_script("<think>print(1)").missing == "unclosed"
