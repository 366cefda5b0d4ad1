"""Safe values: what reads, what does not, typed equality, and text that reads back."""

import ast
import math
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ct_tasks.contra import literals
from ct_tasks.contra.literals import OMIT, LiteralError, dump, parse, plain, same

hashables = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=4) | st.complex_numbers(allow_nan=False, allow_infinity=False),
    lambda inner: st.tuples(inner) | st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=6,
)
values = st.recursive(
    hashables | st.sets(hashables, max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(hashables, inner, max_size=3) | st.tuples(inner, inner),
    max_leaves=12,
)


@given(values)
def test_dump_reads_back_as_the_same_typed_value(value):
    assert same(parse(dump(value)), value)
    assert same(parse(dump(value), constructors=False), value)


@given(values)
def test_plain_of_a_plain_value_is_the_same(value):
    assert same(plain(value), value)


@given(st.text(alphabet="[](){}'\"0123456789.,:+-*eEjinfasetTrueNoe \\\n\x00", max_size=80))
def test_no_text_crashes_the_reader(text):
    try:
        value = parse(text)
    except LiteralError:
        return
    assert same(parse(dump(value)), value)


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (True, 1, False), (1, 1.0, False), ((1,), [1], False), (math.nan, math.nan, True), ([math.nan], [math.nan], True),
        ({1: True}, {1: 1}, False), ({True: 1}, {1: 1}, False), ({1}, {True}, False), ({1, 2}, {2, 1}, True), ({1}, frozenset({1}), False),
        ("1", 1, False), (b"a", "a", False), (None, False, False), ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True), ([], (), False),
        (0.0, -0.0, True), (math.inf, -math.inf, False), ("", "", True), (1 + 2j, 1 + 2j, True), (..., ..., True), ([1, [2]], [1, [2]], True),
    ],
)
def test_typed_equality(left, right, equal):
    assert same(left, right) is equal
    assert same(right, left) is equal


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("set()", set()), ("frozenset({1})", frozenset({1})), ("frozenset()", frozenset()), ("float('inf')", math.inf), ("float('-inf')", -math.inf),
        ("-float('inf')", -math.inf), ("inf", math.inf), ("-inf", -math.inf), ("nan", math.nan), ("[nan, 1]", [math.nan, 1]), ("dict(a=1)", {"a": 1}),
        ("dict([(1, 2)])", {1: 2}), ("OrderedDict([('a', 1)])", {"a": 1}), ("Counter({'a': 2})", {"a": 2}), ("defaultdict(int, {1: 2})", {1: 2}),
        ("deque([1, 2])", [1, 2]), ("set([1, 1])", {1}), ("list(range(3))", [0, 1, 2]), ("tuple([1])", (1,)), ("-1", -1), ("+1", 1), ("1+2j", 1 + 2j), ("'a' 'b'", "ab"),
        ("(1)", 1), ("(1,)", (1,)), ("1_000", 1000), ("0x10", 16), ("b'x'", b"x"), ("1e400", math.inf), ("  [1]  ", [1]), ("'it\\'s'", "it's"),
    ],
)
def test_reads(text, value):
    assert same(parse(text), value)


@pytest.mark.parametrize(
    "text",
    [
        "", "f(3)", "6 or True", "1 if True else 2", "lambda: 1", "__import__('os')", "(x := 1)", "f'{1}'", "f'{f(3)}'", "1 + 1", "'a' + 'b'", "[1] * 3", "not 1", "1 < 2",
        "[x for x in (1,)]", "{**{}}", "[*[1]]", "O", "True.real", "x[0]", "abs(-1)", "int('3')", "str(1)", "eval('1')", "set(range(10**9))", "range(10**12)", "float('1')",
        "list(map(f, [1]))", "Ellipsis", "dict(**{'a': 1})", "set([[]])", "{[]: 1}", "{{}}", "frozenset(1)", "1; 2", "1\n2", "assert 1", "'a", "[1", "9" * 5000, "-" * 500 + "1", "--'a'", "-True",
        "~1", "[" * 300 + "]" * 300, "1\x00", "sorted([1])", "inf()", "type('A', (), {})()", "open('/etc/passwd').read()", "1 == 1", "await x", "yield", "print(1)", "...()",
    ],
)
def test_refuses(text):
    with pytest.raises(LiteralError):
        parse(text)


@pytest.mark.parametrize("text", ["dict(a=1)", "Counter({'a': 2})", "list([1])", "range(3)", "inf", "nan", "deque([1])", "set([1])", "OrderedDict()"])
def test_locals_admit_fewer_constructors(text):
    parse(text)
    with pytest.raises(LiteralError):
        parse(text, constructors=False)


@pytest.mark.parametrize("bomb", ["[" * 10_000_000, "(" * 5_000 + ")" * 5_000, "1+" * 3_000_000 + "1", "[" + "[]," * 3_000_000 + "]", "9" * 10_000_000, "- " * 2_000_000 + "1", "\x00" * 10_000_000, "{1:" * 100_000], ids=lambda b: b[:6])
def test_bombs_are_refused(bomb):
    with pytest.raises(LiteralError):
        parse(bomb)


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (defaultdict(int, {1: 2}), {1: 2}), (Counter("aa"), {"a": 2}), (OrderedDict(a=1), {"a": 1}), (deque([1]), [1]), (range(2), [0, 1]), (Point(1, [2]), (1, [2])),
        ([Point(1, 2)], [(1, 2)]), ({"k": deque()}, {"k": []}),
    ],
)
def test_standard_containers_become_plain(value, expected):
    assert same(plain(value), expected)
    assert plain(value, "drop") is OMIT


@pytest.mark.parametrize("value", [object(), len, math, iter([]), [object()], {1: len}, {len: 1}, 10**5000, bytearray(b"a"), type, {}.keys(), True.__class__], ids=lambda v: type(v).__name__)
def test_inexpressible_is_omitted(value):
    assert plain(value) is OMIT


def test_copies_share_nothing():
    inner = [1]
    copied = plain([inner, inner])
    inner.append(2)
    assert copied == [[1], [1]]


def test_budget_bounds_the_copy():
    with pytest.raises(LiteralError, match="too large"):
        plain(list(range(100)), budget=50)
    with pytest.raises(LiteralError, match="too large"):
        plain(range(10**12))


def test_sets_are_written_in_one_order():
    assert dump({"b", "a", 3, 1}) == "{1, 3, 'a', 'b'}"


@pytest.mark.parametrize("value", [object(), complex(math.inf, 0), 10**5000, bytearray()], ids=lambda v: type(v).__name__)
def test_dump_refuses(value):
    with pytest.raises(LiteralError):
        literals.dump(value)


@pytest.mark.parametrize(
    "value",
    [
        "-" * 100, "+" * 81, "~" * 200, "(" * 170, "[" * 500, "{" * 170, ["("] * 200, {"(": "[" * 170}, ("'" + "(" * 170,), '"' + "(" * 170, "\\" * 3 + "(" * 170,
        "\\'" * 170 + "(" * 170, ["-" * 50, "-" * 50], "'''" + "(" * 170, '"""' + "(" * 170 + "'", b"(" * 170, "#" + "(" * 170, ["'", "(" * 170, "'"],
        "\n" * 100 + "-" * 100, ",:" * 40_000, ["a,b:c"] * 15_000,
    ],
    ids=lambda v: ascii(v)[:12],
)  # fmt: skip
def test_syntax_inside_strings_is_text(value):
    assert same(parse(repr(value)), value)
    assert same(parse(dump(value), constructors=False), value)


@pytest.mark.parametrize(
    "text",
    [
        "'a' # " + "(" * 170, "[ # '" + "(" * 170 + "\n1]", "'''" + "(" * 170 + "\n'''", 'r"\\" + "(" * 170', "'(' " * 170, "-1 # " + "-" * 100, "r'" + "\\(" * 170 + "'",
        "b'''" + "(" * 170 + "'''", "'''" + "(" * 170 + "''\\''''",
    ],
    ids=lambda v: ascii(v)[:12],
)  # fmt: skip
def test_comments_and_every_kind_of_string_are_text(text):
    literals.guard(text)
    literals.guard("['" + "(" * 200 + "', " + text + "\n]")


@pytest.mark.parametrize("text", ["''" + "(" * 170, "'(' + " + "(" * 170, "'\\\\'" + "(" * 170, "'a'#'\n" + "(" * 170, "'''a'''" + "-" * 100, "(" * 170 + "'", '"\'"' + "(" * 170], ids=lambda v: ascii(v)[:12])
def test_syntax_beside_strings_counts(text):
    with pytest.raises(LiteralError, match=r"nested deeper|unary operators"):
        literals.guard(text)


@pytest.mark.parametrize("kind", [frozenset, tuple, list, dict])
def test_nesting_is_written_once_a_level(kind):
    """Each level once: two readings a level would be 2 ** 75 of them."""
    value = 1
    for _ in range(75):
        value = {1: value} if kind is dict else kind([value, 2])
    assert same(parse(dump(value)), value)
    assert same(plain(value), value)
    assert not same(value, kind([1]) if kind is not dict else {1: 2})


PRIME = 2**61 - 1  # Python's hash of an integer is its rest by this number
COLLIDING = ", ".join(str(n * PRIME) for n in range(200))


@pytest.mark.parametrize(
    "text",
    [
        "[" + "range(99999), " * 80 + "]", "list(" * 9 + "range(99999)" + ")" * 9, "range(10**30)", "range(" + "9" * 4000 + ")", "list(" * 9 + "'" + "ab" * 30_000 + "'" + ")" * 9,
        "0x" + "f" * 4000, "1+1j+1j", "1" + "+1j" * 300, "[" + "1," * 70_000 + "]", "{" + COLLIDING + "}", "{" + COLLIDING.replace(",", ": 0,") + ": 0}", f"set([{COLLIDING}])",
        f"frozenset([{COLLIDING}])", f"Counter([{COLLIDING}])", "dict([" + ", ".join(f"({n * PRIME}, 0)" for n in range(200)) + "])",
        "{" + ", ".join(f"({', '.join(str(-1 - (n >> b & 1)) for b in range(8))})" for n in range(256)) + "}",
    ],
    ids=lambda t: t[:14],
)  # fmt: skip
def test_what_costs_too_much_is_refused(text):
    with pytest.raises(LiteralError):
        parse(text)


def test_equal_keys_do_not_collide():
    assert parse("set([" + "1, " * 500 + "])") == {1}
    assert parse("{" + "'a': 1, " * 500 + "}") == {"a": 1}
    assert len(parse("{" + ", ".join(f"({', '.join(str(-1 - (n >> b & 1)) for b in range(6))})" for n in range(64)) + "}")) == 64
    assert parse("Counter('" + "ab" * 500 + "')") == {"a": 500, "b": 500}
    assert parse("range(100000)") == list(range(100_000))


def test_sets_with_nan_have_one_order_and_their_size_counts():
    nans = [float("nan") for _ in range(3)]
    assert dump({3.0, nans[0], 1.0}) == dump({nans[1], 1.0, 3.0}) == "{1.0, 3.0, float('nan')}"
    assert same({nans[0], 1}, {1, nans[1]})
    assert not same({nans[0], nans[1]}, {nans[2], 1.0})
    assert not same({nans[0]: 1, nans[1]: 2}, {nans[2]: 1, nans[0]: 1})
    assert same({nans[0]: 1, nans[1]: 2}, {nans[2]: 2, nans[0]: 1})
    assert not same({0.0: 1}, {0: 1})
    assert same({0.0}, {-0.0})


@pytest.mark.parametrize("value", [{range(3)}, {range(3): 1}, {(range(2),)}, frozenset({range(1)}), [complex("inf")], complex("nan+1j"), {1: complex(0, math.inf)}], ids=repr)
def test_what_has_no_literal_in_its_place_is_omitted(value):
    assert plain(value) is OMIT


def test_a_container_that_holds_itself_is_omitted_at_once():
    loop = []
    loop += [loop, loop, loop]
    pair = {1: {}}
    pair[1].update({2: pair, 3: pair})
    assert plain([1, loop], budget=10) is OMIT
    assert plain(pair, budget=10) is OMIT
    shared = [1]
    assert plain([shared, shared]) == [[1], [1]]


@pytest.mark.parametrize("text", ["assert f('é🙂', [1]) == ('ü',)\n", "x\x0c = 1\r\ny = (2,\r 'é\u2028') # \x85\rz = '''a\nb'''", "f(a)(b)[c]\\\n + 1", ""])
def test_segment_is_the_source_of_every_node(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.expr):
            assert literals.segment(text, node) == ast.get_source_segment(text, node)


def test_segment_goes_through_a_text_once_however_many_nodes_are_asked_for():
    text = "assert f(1) == 2\n" * 300
    before = literals._lines.cache_info().misses
    assert {literals.segment(text, s.test.comparators[0]) for s in ast.parse(text).body} == {"2"}
    assert literals._lines.cache_info().misses == before + 1
