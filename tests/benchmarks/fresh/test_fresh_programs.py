"""ct_fresh's programs: the same from the same seed, no two alike, deterministic, and what is said of their runs is true."""

import ast
import hashlib
import itertools
import re

import fresh_plain as plain
import pytest

from ct_tasks.benchmarks.fresh import editions, pool
from ct_tasks.benchmarks.fresh.dials import Dials
from ct_tasks.benchmarks.fresh.fingerprint import fingerprint
from ct_tasks.benchmarks.fresh.programs import make, on_training_side, stream
from ct_tasks.contra import literals
from ct_tasks.contra.scoring import score_trace
from ct_tasks.contra.trace import Truth, render
from ct_tasks.errors import ConfigError, DataError, UnknownNameError
from ct_tasks.execution.pool import PythonPool, shared_pool
from ct_tasks.execution.tracing import Call, trace_all
from ct_tasks.options import TaskOptions

EDITION_DIGEST = "7dfb230c90736fcb393680624bc72b47b3ecc0e16789346010a5a3818773d598"


def drafts(count, seed=7, **dials):
    return list(itertools.islice(stream(seed, Dials.read(dials)), count))


def seen(batch):
    return [s for s in pool.observed(batch, shared_pool().run) if s is not None]


def test_the_first_edition_is_what_it_was():
    """A published edition never changes. Who changes the generator keeps the old one for the old editions."""
    text = "\n".join(f"{d.code}\n{d.call}" for d in itertools.islice(stream(editions.seed_of("2026-12")), 200))
    assert hashlib.sha256(text.encode()).hexdigest() == EDITION_DIGEST


def test_same_seed_same_programs_and_every_one_can_be_made_again():
    first = drafts(40)
    assert first == drafts(40)
    assert first != drafts(40, seed=8)
    assert [make(7, d.number, Dials()) for d in first] == first


def test_no_two_are_alike_up_to_names_and_sides_never_meet():
    marks = [fingerprint(d.code) for d in drafts(300)]
    training = [fingerprint(d.code) for d in itertools.islice(stream(7, training=True), 100)]
    assert len({*marks, *training}) == 400
    assert not any(map(on_training_side, marks))
    assert all(map(on_training_side, training))


RENAMED = [
    ("def f(a):\n    return a", "def g(b):\n    return b", True),
    ("def f(a):\n    return a", "def f(a):\n    # why\n\n    return a", True),
    ("def f(a):\n    return a", "def f(a):\n    return a + 1", False),
    ("def f(a, b):\n    return a", "def f(a, b):\n    return b", False),
    ("def f(a):\n    return len(a)", "def f(a):\n    return max(a)", False),
    ("def f(a):\n    return 'a'", "def f(b):\n    return 'a'", True),
    ("def f(a):\n    return 'a'", "def f(b):\n    return 'b'", False),
    ("def h(x):\n    return x\ndef f(a):\n    return h(a)", "def k(q):\n    return q\ndef f(q):\n    return k(q)", True),
    ("class A:\n    def __init__(self, n):\n        self.n = n\n    def go(self):\n        return self.n", "class B:\n    def __init__(me, k):\n        me.v = k\n    def run(me):\n        return me.v", True),
    ("class A:\n    def go(self, n):\n        self.n = n", "class A:\n    def __init__(self, n):\n        self.n = n", False),
    ("def f(a):\n    def g():\n        nonlocal a\n        a += 1\n    return g", "def f(b):\n    def h():\n        nonlocal b\n        b += 1\n    return h", True),
    ("def f(", "def f(", True),
    ("def f(", "def g(", False),
]


@pytest.mark.parametrize(("one", "other", "same"), RENAMED)
def test_a_fingerprint_is_that_of_the_program_without_its_names(one, other, same):
    assert (fingerprint(one) == fingerprint(other)) is same


@pytest.mark.parametrize("number", range(3))
def test_a_generated_program_renamed_has_the_same_fingerprint(number):
    draft = drafts(3)[number]
    names = {n.id for n in ast.walk(ast.parse(draft.code)) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    text = re.sub(r"\b\w+\b", lambda m: f"zz_{m.group()}" if m.group() in names else m.group(), draft.code)
    assert text != draft.code
    renamed = "".join(p if i % 2 == 0 else q for i, (p, q) in enumerate(zip(re.split(r"('[^'\n]*')", text), re.split(r"('[^'\n]*')", draft.code), strict=True)))
    assert fingerprint(renamed) == fingerprint(draft.code)


@pytest.mark.slow
def test_runs_do_not_depend_on_the_hash_seed():
    batch = drafts(120, blocks=[3, 5], depth=[0, 3])
    found = []
    for hash_seed in (0, 1, 2):
        with PythonPool(2, hash_seed=hash_seed) as made:
            found.append(list(pool.observed(batch, made.run)))
    assert found[0] == found[1] == found[2]
    assert sum(s is not None for s in found[0]) > 110


@pytest.mark.slow
def test_what_is_said_of_a_run_is_what_a_plain_tracer_sees():
    checked = {"states": 0, "rounds": 0, "branches": 0, "raises": 0, "none": 0}
    runs = seen(drafts(150))
    truths = trace_all([Call(s.draft.code, s.draft.call, s.draft.entry) for s in runs])
    for s, truth in zip(runs, truths, strict=True):
        code, entry = s.draft.code, s.draft.entry
        value, events, first, raised = plain.run(code, s.draft.call, entry)
        assert literals.same(literals.parse(s.output), value)
        assert raised == s.raised, code
        assert dict(s.trips) == plain.rounds(code, events), code
        assert {line: list(taken) for line, taken in s.branches} == plain.branches(code, events), code
        assert isinstance(truth, Truth)
        start = next(n.lineno for n in ast.parse(code).body if isinstance(n, ast.FunctionDef) and n.name == entry)
        for block in truth.blocks:
            here = (start if block.start == 0 else start + block.start, start + block.stop - 1)
            values = plain.state_after(events[first], *here)
            assert all(literals.same(values[name], true) for name, true in block.locals.items()), (code, here)
            checked["states"] += len(block.locals)
        checked["rounds"] += sum(n for _, n in s.trips)
        checked["branches"] += sum(len(t) for _, t in s.branches)
        checked["raises" if raised else "none"] += 1
        assert score_trace(render(truth), truth).rcs == 1
    assert all(checked.values()), checked


def test_dials_do_what_they_say():
    def mean(value, **dials):
        made = [value(s) for s in seen(drafts(60, **dials))]
        return sum(made) / len(made)

    def lines(s):
        return s.draft.code.count("\n")

    assert mean(lines, blocks=5) > mean(lines, blocks=2) + 5
    assert mean(lambda s: s.rounds, trips=12) > mean(lambda s: s.rounds, trips=3) + 5
    assert mean(lambda s: s.depth, depth=0) == 0
    assert mean(lambda s: s.depth, depth=4) > 2
    assert mean(lambda s: max(map(int, re.findall(r"\d+", s.draft.call)), default=0), digits=4) > 1000
    assert all(sum(f"{n} = " in d.code for n in ("spare", "backup", "draft", "hint", "stamp", "shadow")) >= 2 for d in drafts(20, dead=2))
    assert not any(f"{n} = " in d.code for n in ("spare", "backup", "draft", "hint", "stamp", "shadow") for d in drafts(20, dead=0))


@pytest.mark.parametrize(
    ("given", "kind", "match"),
    [
        ({"block": 3}, UnknownNameError, "did you mean blocks"),
        ({"blocks": 0}, ConfigError, "from 1 to 10"),
        ({"blocks": [4, 2]}, ConfigError, "blocks"),
        ({"trips": "many"}, ConfigError, "trips"),
        ({"trips": True}, ConfigError, "trips"),
        ("blocks=3", ConfigError, "mapping"),
    ],
)
def test_bad_dials_are_refused(given, kind, match):
    with pytest.raises(kind, match=match):
        Dials.read(given)


def test_editions_and_their_seeds():
    assert editions.seed_of("2026-12") == 202612
    assert editions.is_reserved(202612)
    assert editions.is_reserved(203001)
    assert [editions.is_reserved(s) for s in (0, 7, 202611, 202613, 202600, 210001)] == [False] * 6
    assert editions.known() == ["2026-12"]
    for bad in ("2026-11", "2026-13", "2026", "26-12", "", None):
        with pytest.raises(ConfigError, match="fresh_edition"):
            editions.seed_of(bad)
    with pytest.raises(ConfigError, match="edition 2026-12"):
        next(stream(202612, training=True))


def test_training_rows_of_an_edition_are_refused():
    draft = next(stream(202612))
    other = next(stream(7, training=True))
    renamed = re.sub(rf"\b{draft.entry}\b", "f", draft.code)
    truth = trace_all([Call(draft.code, draft.call, draft.entry)])[0]
    assert isinstance(truth, Truth)
    editions.refuse([{"id": "7", "program": other.code}, {"program": "def f(x):\n    return x"}, {"messages": []}, {"program": "def f("}], "x")
    for row in ({"program": draft.code}, {"program": renamed}, {"id": "fresh/2027-03/5"}, {"fresh_edition": "2026-12"}, {"fresh_seed": 202701}, {"truth": truth.to_json()}):
        with pytest.raises(DataError, match=r"rows\.jsonl: row 2 is a program of ct_fresh's edition 202"):
            editions.refuse([{"program": other.code}, row], "rows.jsonl")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"fresh_edition": "2025-01"}, "a month from 2026-12 on"),
        ({"fresh_edition": "2026-12", "fresh_seed": 3}, "give one of them"),
        ({"fresh_seed": 202701}, "belongs to no edition"),
        ({"fresh_seed": -1}, "whole number"),
    ],
)
def test_options_that_choose_no_programs_are_refused(options, match):
    with pytest.raises(ConfigError, match=match):
        pool.Set.of(TaskOptions(**options))


def test_dials_are_part_of_the_names_of_items():
    assert pool.Set.of(TaskOptions(fresh_dials={"blocks": 3, "trips": [3, 6]})).label == "2026-12+blocks=3-3"
    assert pool.Set.of(TaskOptions(fresh_seed=5)).label == "seed-5"


def test_dials_that_leave_nothing_to_ask_say_so():
    made = pool.Pool(pool.Set(7, Dials(), "seed-7"))
    with pytest.raises(DataError, match="leave too little"):
        made.take(5, lambda s: False, shared_pool().run)
