"""The published scorers' verdict: rules by hand, and the in-process decision against a real run of the same program."""

import pytest

from ct_tasks.benchmarks.official import Claim, Rules, _decide, _job, postprocess, verdicts
from ct_tasks.execution.pool import shared_pool

CODE = "def f(x):\n    return x"


def claim(text, output="True", call="f(1)", **more):
    return Claim("p", CODE, call, output, text, **more)


def no_run(jobs):
    raise AssertionError([job.code for job in jobs])


def one(text, output="True"):
    return verdicts([claim(text, output)], Rules(), no_run)[0]


def test_python_equality_decides_literals_without_a_run():
    assert one("1") is True
    assert one("1.0", "1") is True
    assert one("True, 'a message'") is True
    assert one("(1, 2)", "[1, 2]") is False
    assert one("O", "'O'") is False  # a name that nothing defines
    assert one("[1, 2", "[1, 2]") is False
    assert one("'a\x00'", "'a'") is False
    assert one("\ud800", "'a'") is False
    assert one("7" * 2_000_000, "7") is False


@pytest.mark.parametrize("text", ["6 or True", "not not 1", "1 == 1", "len('a')", "f", "x\nassert True", "1\nprint(2)", "type('E', (), {'__eq__': lambda s, o: True})()", "f(True)", "__import__('os')._exit(0)", "exit()", "1 if 0 else 2", "{**{}}", "-True", "1; import sys"])
def test_what_a_literal_does_not_settle_is_run(text):
    assert _decide(claim(text), frozenset()) is None or _decide(claim(text), frozenset()) is False
    expected = shared_pool().run([_job(claim(text), Rules())])[0].status == "ok"
    if "f(1)" not in text:
        assert verdicts([claim(text)], Rules(), shared_pool().run) == [expected]
    namespace = {}
    if "exit" not in text:
        try:
            exec(f"{CODE}\nassert True == {text}", namespace)
            by_hand = True
        except Exception:  # noqa: BLE001 - the published scorer counts any exception as a failure
            by_hand = False
        assert expected == by_hand


def test_an_answer_that_holds_the_call_leaves_the_denominator():
    both = [claim("True"), claim("f(1)")]
    assert verdicts(both, Rules(), no_run) == [True, None]
    assert verdicts([claim("f(1)"), claim("0")], Rules(), no_run) == [False, False]
    assert verdicts([claim("f(1)"), claim("0")], Rules(all_false_when="none_run"), no_run) == [None, False]
    assert verdicts([claim("f(1)")], Rules(all_false_when="none_run"), no_run) == [False]
    assert verdicts([claim("f( 1)"), claim("True")], Rules(), shared_pool().run)[1] is True


def test_a_file_of_the_first_release_counts_skipped_answers_as_wrong():
    both = [claim("True", counted=2), claim("f(1)", counted=2)]
    assert verdicts(both, Rules(), no_run) == [True, False]
    both = [claim("True", counted=1), claim("f(1)", counted=1)]
    assert verdicts(both, Rules(), no_run) == [True, None]


def test_input_side_needs_a_call():
    rules = Rules(side="input")
    found = verdicts([claim("f(True)"), claim("True"), claim("f(0)")], rules, shared_pool().run)
    assert found == [True, None, False]


def test_published_extraction_with_its_faults():
    assert postprocess("assert f(1) == 'a==b'", "output", cot=False) == "'a"
    assert postprocess("x [ANSWER]\nassert f(1) == 2\n[/ANSWER]", "output", cot=True) == "2"
    assert postprocess("assert f(1) == 2\n", "input", cot=False) == "f(1)"


def test_a_failing_sandbox_is_no_verdict():
    from ct_tasks.errors import HarnessError
    from ct_tasks.execution.jobs import Result

    with pytest.raises(HarnessError):
        verdicts([claim("6 or True")], Rules(), lambda jobs: [Result("harness_error", error="no daemon") for _ in jobs])
