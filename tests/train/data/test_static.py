"""The static filter: which rows become programs, and why the others do not."""

from __future__ import annotations

import pytest

from ct_train.data.static_filter import filter_rows, to_program
from ct_train.data.unclass import Unsafe, to_functions

BODY = """
        a = 1
        b = 2
        c = 3
        d = n
        return a + b + c + d
"""


def solution(body: str = BODY, head: str = "def run(self, n: int) -> int:", before: str = "", more: str = "") -> str:
    return f"{before}class Solution:\n    {head}{body}{more}"


def test_a_method_becomes_a_function_without_comments_and_docstrings() -> None:
    source = solution('\n        """Doc."""\n        # note\n' + BODY)
    program = to_program(source, "run", 5)
    assert program.lines[:2] == ("def run(n: int) -> int:", "    a = 1")
    assert program.before == ""


def test_names_of_the_standing_imports_are_imported_where_the_program_needs_them() -> None:
    body = "\n        h = []\n        heappush(h, n)\n        c = Counter([n])\n        m = gcd(n, 4)\n        x = inf\n        return m\n"
    program = to_program(solution(body, "def run(self, n: int) -> List[int]:"), "run", 5)
    assert program.before.split("\n") == [
        "from collections import Counter",
        "from heapq import heappush",
        "from math import gcd",
        "from typing import List",
        'inf = float("inf")',
    ]
    namespace: dict[str, object] = {}
    exec(program.runnable, namespace)
    assert namespace["run"](6) == 2  # type: ignore[operator]


def test_helpers_recursion_and_static_methods_move_along() -> None:
    source = solution(
        "\n        x = self.double(n)\n        y = Solution.half(x)\n        if n > 3:\n            return self.run(n - 1)\n        return x + y\n",
        more="\n    @staticmethod\n    def half(v):\n        return v // 2\n\n    def double(self, v):\n        return 2 * v\n",
    )
    text = to_functions(source, "run")
    namespace: dict[str, object] = {}
    exec(text, namespace)
    assert namespace["run"](3) == 9  # type: ignore[operator]
    assert "self" not in text
    assert text.index("def double") < text.index("def run")


def test_a_signature_over_several_lines_keeps_its_layout() -> None:
    source = "class Solution:\n    def run(\n        self, n: int, m: int\n    ) -> int:" + BODY
    assert to_functions(source, "run").startswith("def run(\n    n: int, m: int\n) -> int:")
    alone = "class Solution:\n    def run(\n        self,\n        n: int,\n    ) -> int:" + BODY
    assert to_program(alone, "run", 5).lines[0:3] == ("def run(", "    n: int,", ") -> int:")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("class Solution:\n    def run(self, n: int) -> int:\n        return n\n", "too_short"),
        ("class Solution:\n    def run(self, n\n", "syntax"),
        ("def run(n):\n    return n\n", "no_solution_class"),
        ("class Solution:\n    def other(self, n):" + BODY, "no_entry_method"),
        (solution("\n        self.total = n\n        return self.total\n"), "instance_state"),
        (solution("\n        keep = self\n        return n\n"), "instance_state"),
        (solution(more="\n    @property\n    def p(self):\n        return 1\n"), "instance_state"),
        (solution(more="\n    LIMIT = 3\n"), "class_attribute"),
        (solution("\n        run = n\n        return run\n"), "name_clash"),
        (solution(head="def sum(self, n: int) -> int:").replace("Solution", "Solution"), "no_entry_method"),
        (solution(BODY.replace("a = 1", "print(n)")), "input_output"),
        (solution(BODY.replace("a = 1", "import random")), "chance_or_time"),
        (solution(before="from sortedcontainers import SortedList\n"), "third_party_import"),
        (solution(head="def run(self, n: Optional[ListNode]) -> int:"), "object_input"),
        (solution(head="def run(self, *n) -> int:"), "object_input"),
        (solution(head="def run(self, n: List[int]) -> None:"), "returns_nothing"),
        (solution(BODY.replace("a = 1", "yield n")), "generator"),
        (solution(BODY.replace("a = 1", "a = unheard_of(n)")), "unknown_name"),
        (solution(before="@decorate\n"), "unusual_class"),
        (solution(before="x = 1\n", more="\n\ny = Solution().run(1)\n"), "class_used_outside"),
    ],
)
def test_rows_are_dropped_with_their_reason(source: str, reason: str) -> None:
    with pytest.raises(Unsafe) as caught:
        to_program(source, "run", 5)
    assert caught.value.reason == reason
    out = filter_rows([{"task_id": "t", "completion": source, "entry_point": "Solution().run"}], 5)
    assert [row["reason"] for row in out.dropped] == [reason]
    assert not out.kept


def test_a_parameter_called_input_is_no_input() -> None:
    program = to_program(solution(BODY.replace("d = n", "d = input"), "def run(self, input: int) -> int:"), "run", 5)
    assert program.entry == "run"
