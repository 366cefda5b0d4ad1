"""δ_fmt rule by rule, the lenient prefix, and the texts that must not hurt either."""

import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import CASES

from ct_tasks.contra.literals import LiteralError
from ct_tasks.contra.parser import RULES, parse_lenient, parse_prefix, parse_return, parse_strict
from ct_tasks.contra.scoring import score_trace
from ct_tasks.contra.trace import TAGS, Truth, render
from ct_tasks.contra.tracer import trace_call

SOURCE = "def f(n):\n    x = n + 1\n    y = x * 2\n    while y > 9:\n        y -= 5\n    return y"
TRUTH = trace_call(SOURCE, "f(4)")
GOLD = render(TRUTH, ["add one", "double", "subtract until small"])


def swap(old, new, count=1):
    assert old in GOLD
    return GOLD.replace(old, new, count)


BROKEN = [
    ("begin", "x\n" + GOLD),
    ("begin", " " + GOLD.replace("[TRACE]", "[TRACE", 1)),
    ("begin", ""),
    ("end", GOLD + "\nmore"),
    ("end", GOLD + "\n" + GOLD),
    ("end", GOLD.replace("\n[/TRACE]", "")),
    ("tag-alone", swap("[CODE]", " [CODE]")),
    ("tag-alone", swap("[/CODE]", "[/CODE] ")),
    ("tag-alone", swap("[TRACE]", "[TRACE] ")),
    ("tag-alone", swap("[/THOUGHT]", "so [/THOUGHT]")),
    ("tag-alone", swap("double", "as in [CODE] above")),
    ("tag-alone", swap("[/LOCALS]", "[/LOCALS]\t")),
    ("tag-alone", swap("[/RETURN]", " [/RETURN]\n[/RETURN]")),
    ("order", swap("[THOUGHT]\nadd one\n[/THOUGHT]\n", "")),
    ("order", swap("[/CODE]\n", "")),
    ("order", swap("[/LOCALS]\n", "[/LOCALS]\n[/LOCALS]\n")),
    ("order", swap("[CODE]\n", "[CODE]\n[CODE]\n")),
    ("order", swap("[RETURN]\n", "[RETURN]\n[TRACE]\n")),
    ("order", swap("[/LOCALS]\n", "[/LOCALS]\nchatter\n")),
    ("order", "[TRACE]\n" + GOLD),
    ("order", "[TRACE]\n[RETURN]\nassert f(4) == 5\n[/RETURN]\n[/TRACE]"),
    ("code-line", swap("[LINENO 0]    def", "[LINENO 0]   def")),
    ("code-line", swap("[LINENO 0]    def", "[LINENO 00]    def")),
    ("code-line", swap("[LINENO 0]    def", "[LINENO ٠]    def")),
    ("code-line", swap("[LINENO 0]    def", "[LINENO -0]    def")),
    ("code-line", swap("[LINENO 0]    def", " [LINENO 0]    def")),
    ("code-line", swap("[LINENO 2]    ", "")),
    ("code-line", swap("[CODE]\n[LINENO 2]        y = x * 2\n", "[CODE]\n")),
    ("lineno", swap("[LINENO 2]", "[LINENO 3]")),
    ("lineno", swap("[LINENO 0]", "[LINENO 1]")),
    ("lineno", swap("[LINENO 4]", "[LINENO 40]")),
    ("locals", swap("{'n': 4, 'x': 5}", "{'n': 4, 'x': n + 1}")),
    ("locals", swap("{'n': 4, 'x': 5}", "{'n': 4, 'x': int(5)}")),
    ("locals", swap("{'n': 4, 'x': 5}", "dict(n=4, x=5)")),
    ("locals", swap("{'n': 4, 'x': 5}", "[('n', 4)]")),
    ("locals", swap("{'n': 4, 'x': 5}", "")),
    ("return", swap("assert f(4) == 5", "assert f(4) == f(4)")),
    ("return", swap("assert f(4) == 5", "f(4) == 5")),
    ("return", swap("assert f(4) == 5", "assert f(4) == 5, 'why'")),
    ("return", swap("assert f(4) == 5", "assert f(4) == 5 == 5")),
    ("return", swap("assert f(4) == 5", "assert 5 == f(4)")),
    ("return", swap("assert f(4) == 5", "assert f(4) == 5 or True")),
    ("return", swap("assert f(4) == 5", "assert f(4) == 5\nassert f(4) == 6")),
    ("return", swap("assert f(4) == 5", "assert f(4) is 5")),
    ("return", swap("assert f(4) == 5", "assert g(4) == 5")),
    ("return", swap("assert f(4) == 5", "assert (f)(4)() == 5")),
    ("blocks", GOLD.replace(GOLD[GOLD.rindex("[CODE]") : GOLD.index("[RETURN]")], "")),
    ("blocks", swap("[RETURN]", "[CODE]\n[LINENO 6]    z = 1\n[/CODE]\n[THOUGHT]\n[/THOUGHT]\n[LOCALS]\n{}\n[/LOCALS]\n[RETURN]")),
    ("range", swap("[LINENO 1]        x = n + 1\n", "[LINENO 1]        x = n + 1\n[LINENO 2]        y = x * 2\n")),
    ("code", swap("x = n + 1", "x = n + 2")),
    ("code", swap("return y", "return x")),
]


def test_gold_passes():
    parsed = parse_strict(GOLD, TRUTH)
    assert parsed.ok, parsed.issues
    assert parse_strict(GOLD + "\n").ok
    assert parse_prefix(GOLD, TRUTH).ok


@pytest.mark.parametrize(("rule", "text"), BROKEN, ids=[f"{r}-{i}" for i, (r, _) in enumerate(BROKEN)])
def test_each_rule_is_what_rejects(rule, text):
    parsed = parse_strict(text, TRUTH)
    assert not parsed.ok
    assert parsed.issues[0].rule == rule, parsed.issues
    assert parsed.issues[0].message
    assert 1 <= parsed.issues[0].line <= text.count("\n") + 2
    assert score_trace(text, TRUTH).reward == 0


def test_every_rule_has_a_case():
    assert {rule for rule, _ in BROKEN} == set(RULES)


@pytest.mark.parametrize("around", ["\n", " ", "\n\n  ", "\r\n", "\t"])
def test_white_space_around_the_whole_text_is_ignored(around):
    for text in (around + GOLD, GOLD + around, around + GOLD + around):
        assert parse_strict(text, TRUTH).ok
        assert parse_prefix(text, TRUTH).ok
        assert score_trace(text, TRUTH).reward == 4.0
    assert parse_strict("\n\n" + swap("[CODE]", " [CODE]"), TRUTH).issues[0].line == 4  # lines are counted in the text as it is


def test_faults_name_their_line():
    text = swap("{'n': 4, 'x': 5}", "{'n': oops}")
    issue = parse_strict(text, TRUTH).issues[0]
    assert text.split("\n")[issue.line - 1] == "{'n': oops}"
    text = swap("y = x * 2", "y = x * 3")
    issue = parse_strict(text, TRUTH).issues[0]
    assert "x * 3" in text.split("\n")[issue.line - 1]


@pytest.mark.parametrize("fallback", ["set()", "float('inf')", "-inf", "nan", "frozenset({1})", "dict(a=1)"])
def test_return_takes_the_safe_constructors(fallback):
    assert parse_strict(swap("== 5", f"== {fallback}"), TRUTH).ok


def test_code_is_compared_after_strip_and_may_hold_tags():
    assert parse_strict(swap("[LINENO 2]        y", "[LINENO 2]    y"), TRUTH).ok
    truth = trace_call("def f():\n    x = '''\n[/CODE]\n[TRACE]'''\n    return x", "f()")
    text = render(truth)
    assert score_trace(text, truth).reward == 4


@pytest.mark.parametrize("cut", range(len(GOLD)))
def test_every_cut_of_a_right_trace_is_a_valid_prefix(cut):
    parsed = parse_prefix(GOLD[:cut], TRUTH)
    unfinished = [i for i in parsed.issues if i.rule not in ("locals", "return", "code-line", "code", "range", "lineno")]
    assert not unfinished, (GOLD[:cut][-40:], parsed.issues)
    assert len(parsed.trace.blocks) == GOLD[:cut].count("[/LOCALS]")


def test_prefix_sees_faults_that_are_there():
    wrong = GOLD[: GOLD.index("[RETURN]")].replace("y = x * 2", "y = x * 3")
    assert parse_prefix(wrong, TRUTH).issues[0].rule == "code"
    assert parse_prefix("hello\n" + GOLD[:200], TRUTH).issues[0].rule == "begin"


@pytest.mark.parametrize(
    ("text", "blocks", "answer"),
    [
        ("Sure!\n" + GOLD, 3, 5),
        (GOLD.replace("[CODE]", "  [CODE] "), 3, 5),
        (GOLD.replace("[THOUGHT]\nadd one\n[/THOUGHT]\n", ""), 3, 5),
        (GOLD[: GOLD.rindex("[LOCALS]")], 2, None),
        (GOLD.replace("[/TRACE]", ""), 3, 5),
        (GOLD.replace("{'n': 4, 'x': 5, 'y': 10}", "oops"), 1, 5),
        (GOLD.replace("[LINENO 2]", "[LINENO 7]"), 1, 5),
        (GOLD.replace("[TRACE]", ""), 0, 5),
        (GOLD + "\n[RETURN]\nassert f(4) == 6\n[/RETURN]", 3, None),
        (GOLD.lower().replace("lineno", "LINENO"), 3, 5),
        (re.sub(r"(?m)^(\[/?[A-Z]+\])$", r"**\1**", GOLD), 3, 5),
        (f"Here it is:\n```\n{GOLD}\n```", 3, 5),
        (GOLD.replace("[CODE]", "[CODE]\n```python").replace("[/CODE]", "```\n[/CODE]"), 3, 5),
        (GOLD.replace("[LOCALS]\n", "[LOCALS] ").replace("\n[/LOCALS]", " [/LOCALS]"), 3, 5),
        (GOLD.replace("[THOUGHT]\n", "[THOUGHT] ").replace("\n[/THOUGHT]", "[/THOUGHT]"), 3, 5),
        (re.sub(r"\[LINENO (\d)\]    ", r"[LINENO \1] ", GOLD), 3, 5),
        (re.sub(r"\[LINENO (\d)\]    ", r"[LINENO \1]\t", GOLD), 3, 5),
        (re.sub(r"\[LINENO (\d)\]", r"[\1]", GOLD), 3, 5),
        (re.sub(r"\[LINENO (\d)\]    ", r"LINENO \1: ", GOLD), 3, 5),
        (GOLD.replace("\n[/RETURN]", ""), 3, 5),
        (GOLD.replace("\n[/RETURN]\n[/TRACE]", ""), 3, 5),
        (GOLD.replace("[RETURN]\n", "[RETURN] "), 3, 5),
        (GOLD + "\n" + GOLD, 3, 5),
        ("no trace here", 0, None),
        ("", 0, None),
    ],
)
def test_lenient_reads_the_longest_prefix(text, blocks, answer):
    parsed = parse_lenient(text)
    assert score_trace(text, TRUTH).rcs == pytest.approx(blocks / 3)
    assert len(parsed.blocks) == blocks
    assert (parsed.returned.value if parsed.returned else None) == answer


thoughts = st.text(max_size=40).filter(lambda t: not any(tag in t for tag in TAGS))


@given(st.sampled_from([(c[1], c[2]) for c in CASES]), st.data())
def test_render_then_parse_is_the_identity(case, data):
    truth = trace_call(*case)
    said = [data.draw(thoughts) for _ in truth.blocks]
    parsed = parse_strict(render(truth, said), truth)
    assert parsed.ok, parsed.issues
    assert [b.thought for b in parsed.trace.blocks] == said
    assert [b.lines for b in parsed.trace.blocks] == [b.lines for b in truth.blocks]
    assert [b.locals for b in parsed.trace.blocks] == [b.locals for b in truth.blocks]
    assert render(Truth.from_json(truth.to_json()), said) == render(truth, said)
    assert score_trace(render(truth, said), truth).reward == 4


pieces = st.sampled_from([*TAGS, "[LINENO 0]    def f(n):", "[LINENO 1]        x = n + 1", "{'n': 4}", "assert f(4) == 5", "\n", " ", "[", "]", "{", "\x00", "\r", "\u2028"])


@settings(max_examples=300)
@given(st.lists(pieces | st.text(max_size=6), max_size=60), st.sampled_from(["\n", ""]))
def test_no_text_crashes_any_reader(parts, glue):
    text = glue.join(parts)
    parse_strict(text, TRUTH)
    parse_prefix(text, TRUTH)
    parse_lenient(text)
    assert 0 <= score_trace(text, TRUTH).reward <= 4


def test_render_refuses_a_thought_with_a_tag():
    with pytest.raises(ValueError, match="tag"):
        render(TRUTH, ["[/TRACE]", "", ""])
    with pytest.raises(ValueError, match="2 thoughts for 3"):
        render(TRUTH, ["", ""])


def test_parse_return():
    assert parse_return("assert f('a, b', [1]) == {'k': (1,)}").value == {"k": (1,)}
    assert parse_return("assert (f(3) == 6)").text == "6"
    with pytest.raises(LiteralError):
        parse_return("assert f(3) == __import__('os').system('true')")


LARGE = {
    "brackets": lambda n: "[" * n,
    "open traces": lambda n: "[TRACE]\n" * (n // 8),
    "code lines": lambda n: "[TRACE]\n[CODE]\n" + "[LINENO 0]    x\n" * (n // 16),
    "thought lines": lambda n: GOLD.replace("double", "hm\n" * (n // 3)),
    "locals": lambda n: GOLD.replace("{'n': 4, 'x': 5}", "{'n': 4," * (n // 8)),
    "returns": lambda n: "[RETURN]\nassert f(1) == 1\n[/RETURN]\n" * (n // 36),
    "blocks": lambda n: "[TRACE]\n" + "[CODE]\n[LINENO 0]    x\n[/CODE]\n[THOUGHT]\n[/THOUGHT]\n[LOCALS]\n{}\n[/LOCALS]\n" * (n // 80),
    "no newline": lambda n: "[TRACE]" * (n // 7),
}


def _steps(text):
    """Lines of our own code that scoring executes: a measure of work that does not depend on the machine."""
    count = 0

    def watch(frame, event, arg):
        nonlocal count
        if "ct_tasks" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        score_trace(text, TRUTH)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("shape", LARGE)
def test_work_grows_no_faster_than_the_text(shape):
    small, large = (_steps(LARGE[shape](n)) for n in (10_000, 40_000))
    assert large <= 4.2 * small + 2_000


@pytest.mark.slow
@pytest.mark.parametrize("shape", LARGE)
def test_ten_megabytes_are_read(shape):
    text = LARGE[shape](10_000_000)
    assert len(text) > 9_000_000
    assert score_trace(text, TRUTH).reward < 4 or shape == "thought lines"
