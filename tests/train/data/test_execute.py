"""The execution filter, in the real sandbox: which calls stay, and why the others go."""

from __future__ import annotations

import pytest

from ct_train.data.execute import ExecuteSettings, Runner

CASES = {
    "kept": ("def f(n):\n    return [n, 'x']\n", "f(1)"),
    "raises": ("def f(n):\n    return 1 // n\n", "f(0)"),
    "timeout": ("def f(n):\n    while True:\n        n += 1\n", "f(0)"),
    "prints": ("def f(n):\n    print(n)\n    return n\n", "f(1)"),
    "no_literal": ("def f(n):\n    return object()\n", "f(1)"),
    "value_too_long": ("def f(n):\n    return 'ab' * n\n", "f(600)"),
    "trace_too_long": ("def f(n):\n    a = ['abc'] * n\n    b = list(a)\n    return len(b)\n", "f(2000)"),
    "memory": ("def f(n):\n    x = bytearray(n)\n    return len(x)\n", "f(3000000000)"),
    "value depends on the hash seed": ("def f(n):\n    return list({str(i) for i in range(n)})\n", "f(30)"),
    "locals depend on the hash seed": (
        "def f(n):\n    a = [x for x in {str(i) for i in range(n)}]\n    return len(a)\n",
        "f(30)",
    ),
    "addresses": ("def f(n):\n    return id(object()) % 100000007\n", "f(1)"),
}
EXPECTED = {
    "kept": "",
    "value depends on the hash seed": "not_deterministic",
    "locals depend on the hash seed": "not_deterministic",
    "addresses": "not_deterministic",
}


@pytest.fixture(scope="module")
def verdicts() -> dict[str, str]:
    rows = [
        {
            "id": name,
            "program": program,
            "entry": "f",
            "lines": 5,
            "difficulty": None,
            "inputs": [{"call": call, "origin": "dataset"}],
        }
        for name, (program, call) in CASES.items()
    ]
    with Runner(ExecuteSettings(timeout_s=0.5, max_trace_chars=5000)) as runner:
        out = runner.filter(rows)
    assert [row["output"] for row in out.kept] == ["[1, 'x']"]
    return {**{row["id"]: row["reason"] for row in out.dropped}, **{row["id"]: "" for row in out.kept}}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_call_gets_its_reason(verdicts: dict[str, str], name: str) -> None:
    assert verdicts[name] == EXPECTED.get(name, name)


def test_calls_of_one_program_are_traced_in_one_child() -> None:
    """A child can import nothing once it is closed; were the group to fail, each call would cost a child of its own."""
    from ct_tasks.execution.tracing import Call

    calls = [Call("def f(n):\n    m = n * 2\n    return m\n", f"f({i})", "f") for i in range(3)]
    with Runner(ExecuteSettings(workers=1)) as runner:
        (result,) = runner.pools[1].run([runner._job(calls)])
        assert (result.status, result.error) == ("ok", "")
        assert [t.returned for t in runner._traced(1, calls)] == [0, 2, 4]  # type: ignore[union-attr]
