"""A reference or a returned value that is too large to be read costs its own item its verdict, never the run."""

import pytest

from ct_tasks.benchmarks.base import Answer, Item
from ct_tasks.benchmarks.input import InputBenchmark
from ct_tasks.benchmarks.official import Rules
from ct_tasks.benchmarks.output import OutputBenchmark
from ct_tasks.benchmarks.reval import co
from ct_tasks.contra.trace import Truth
from ct_tasks.contra.tracer import trace_call
from ct_tasks.errors import TraceError
from ct_tasks.execution.jobs import Result
from ct_tasks.options import TaskOptions
from ct_train.rewards import Sample, build

DEEP = "[" * 300 + "]" * 300
LONG = repr("a" * 300_000)
TEXTS = {"dashes": repr("-" * 100), "brackets": repr("(" * 170), "a list of brackets": repr(["("] * 200)}


class Items:
    """Two items, and a sandbox in which every job returns ``returns``."""

    name = "ct_test"
    rules = Rules()
    returns = "1"

    def __init__(self, output="1"):
        super().__init__()
        self.output = output

    def load(self):
        code = "def f(x):\n    return x"
        return [Item("a", {"code": code, "entry": "f", "call": "f(1)", "output": self.output}), Item("b", {"code": code, "entry": "f", "call": "f(2)", "output": "2"})]

    def run(self, options, jobs):
        return [Result("ok", value=self.returns) for _ in jobs]


class Output(Items, OutputBenchmark):
    pass


class Input(Items, InputBenchmark):
    rules = Rules("input")


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("paradigm", ["direct", "cot", "codereasoner"])
def test_strings_full_of_syntax_are_right_answers_and_references(text, paradigm):
    benchmark = Output(text)
    (item, _), options = benchmark.load(), TaskOptions(paradigm=paradigm)
    (score,) = benchmark.score([Answer(item, benchmark.gold(item, options))], options)
    assert score.status == "right", score
    assert benchmark.score([Answer(item, f"assert f(1) == {text}", extracted=True)], options)[0].status == "right"


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_strings_full_of_syntax_are_right_arguments(text):
    benchmark = Input(text)
    benchmark.returns = f"({text}, {type(eval(text)).__name__!r})"
    (score,) = benchmark.score([Answer(benchmark.load()[0], f"f({text})", extracted=True)], TaskOptions())
    assert score.status == "right", score


@pytest.mark.parametrize("output", [DEEP, LONG, "not a value", "range(10**9)"], ids=lambda v: v[:9])
@pytest.mark.parametrize("kind", [Output, Input])
def test_a_reference_that_cannot_be_read_is_no_verdict_for_its_item_alone(kind, output):
    benchmark = kind(output)
    benchmark.returns = "(2, 'int')"
    first, second = benchmark.load()
    text = "2" if kind is Output else "f(2)"
    scores = benchmark.score([Answer(first, text, extracted=True), Answer(second, text, extracted=True)], TaskOptions())
    assert [s.status for s in scores] == ["harness_error", "right"]
    assert "reference output" in scores[0].reason


@pytest.mark.parametrize("returned", [DEEP, f"({LONG}, 'str')", "(" * 200], ids=lambda v: v[:9])
def test_a_returned_value_that_cannot_be_read_is_wrong(returned):
    benchmark = Input("1")
    benchmark.returns = returned
    (score,) = benchmark.score([Answer(benchmark.load()[0], "f(1)", extracted=True)], TaskOptions())
    assert score.status == "wrong"
    assert "cannot be read" in score.reason
    # arguments that have to be evaluated come back through the same reader
    assert benchmark.score([Answer(benchmark.load()[0], "f(str(1))", extracted=True)], TaskOptions())[0].status == "wrong"


@pytest.mark.parametrize("call", [f"f(0x{'f' * 5000} + 1)", f"f({'-' * 70}x)", "f(**{'a b': 1})", "f(*[1])", "f(lambda: 1)", "f((x := 1))"], ids=lambda v: v[:9])
def test_arguments_of_any_kind_have_a_verdict(call):
    (score,) = Input("1").score([Answer(Input().load()[0], call, extracted=True)], TaskOptions())
    assert score.status == "wrong", score


def test_a_trace_that_contradicts_the_data_costs_its_item_the_trace(monkeypatch, caplog):
    benchmark = Output("7")
    monkeypatch.setattr("ct_tasks.benchmarks.output.trace_all", lambda calls, **_: [trace_call(c.source, c.call) for c in calls])
    first, second = benchmark.truths(benchmark.load(), TaskOptions(paradigm="contra"))
    assert isinstance(first, TraceError)
    assert "the program returns 1, the data says 7" in str(first)
    assert isinstance(second, Truth)
    assert "the data says 7" in caplog.text


@pytest.mark.parametrize("said", [f"0x{'f' * 5000}", "9" * 2000, "None", "'a'", "[]", "float('nan')", "(" * 200, "1j"], ids=lambda v: v[:9])
@pytest.mark.parametrize("true", ["1.5", "null", '"a"', '{"o":"odd"}'])
def test_completed_asserts_of_any_kind_have_a_verdict(said, true):
    original = "assertAlmostEqual(f(1), __MASK__)"
    seen = ("assertAlmostEqual", 1, [[true, "", ""], [true, "", ""]])
    assert isinstance(co.compare(original.replace("__MASK__", said), original, [seen]), str)


def test_a_question_whose_value_cannot_be_read_earns_nothing():
    truth = trace_call("def f(n):\n    return n", "f(1)")
    question = {"kind": "state", "question": "", "accepted": [DEEP]}
    reply = "<reasoning></reasoning><answer>assert f(1) == 1\n[[]]; list</answer>"
    assert build("execverify").score(Sample(reply, truth, (question,))).reward == 1.0
