"""The check that an answer is nothing but a value, and rows taken apart, in every language; no engine needed."""

import gzip
import json

import pytest

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.cruxeval_x import values
from ct_tasks.benchmarks.cruxeval_x.hostile import texts
from ct_tasks.benchmarks.cruxeval_x.rows import take_apart
from ct_tasks.errors import UnknownNameError
from ct_tasks.execution.languages import NAMES, get
from ct_tasks.options import TaskOptions


def items(task):
    return registry.get(task).items(TaskOptions())


@pytest.mark.parametrize("name", NAMES)
def test_rows_come_apart_and_go_together_again(name, data_dir):
    for prefix in ("ct_cruxeval_x_", "ct_cruxeval_xi_"):
        task = registry.get(prefix + name)
        together = 0
        for item in task.items(TaskOptions()):
            parts = task.parts(item)
            if parts is None:
                assert item.id in task.bad_references(TaskOptions())
                continue
            together += 1
            assert parts.program(parts.gold).rstrip() == str(item.data["code"]).rstrip()
        assert together >= task.source.rows - 11  # the D and Julia rows whose two texts differ in a type


@pytest.mark.parametrize("name", NAMES)
def test_no_hostile_text_is_taken_for_a_value(name, data_dir):
    task = registry.get(f"ct_cruxeval_x_{name}")
    item = task.items(TaskOptions())[0]
    # Values after all, though not the right ones: a raw string, two values that stand side by side.
    allowed = {"wrong value", "another function", "backquote"} | ({"true at the end", "format"} if name in ("jl", "rkt", "sh") else set())
    for kind, text in texts(task.language, task.parts(item), "output").items():
        if kind not in allowed:
            assert values.objection(text, task.language, task.words), (kind, text[:80])


@pytest.mark.parametrize("name", NAMES)
def test_gold_answers_are_values(name, data_dir):
    task = registry.get(f"ct_cruxeval_x_{name}")
    refused = [(i.id, why) for i in task.items(TaskOptions()) if (p := task.parts(i)) and (why := values.objection(p.gold, task.language, task.words))]
    # A $ or @ inside a double-quoted string of PHP, Perl or Ruby; as gold text such an answer is right without this check.
    assert len(refused) <= 5, refused[:5]


@pytest.mark.parametrize(
    ("name", "text", "fine"),
    [
        ("cpp", '(std::vector<long>({(long)1, (long)2}))', True), ("cpp", "6 || true", False), ("cpp", "(3); exit(0", False), ("java", "(new ArrayList<Long>(Arrays.asList((long)1l)))", True),
        ("java", "List.of(1l)", True), ("java", "f(3)", False), ("py", "[1, 'a', (2,)]", True), ("py", "1 if True else 2", False), ("php", '"a$b"', False), ("php", "'a$b'", True), ("php", 'array("a" => 1)', True),
        ("rb", '"#{exit}"', False), ("rb", "{1 => nil}", True), ("js", "`${process.exit()}`", False), ("sh", '"$(id)"', False), ("sh", "'a b'", True), ("sh", "*", False), ("sh", "a;b", False), ("sh", '"a*"', True),
        ("swift", '"\\(exit(0))"', False), ("rkt", '(list "a" 1 #t)', True), ("rkt", "(candidate 1)", False), ("lua", "{1, 2} --", False), ("go", "[]int{1, 2}", True), ("go", "os.Exit(0)", False), ("rs", "vec![1, 2]", True),
        ("rs", "std::process::exit(0)", False), ("pl", '{"a" => 1}', True), ("pl", '"@{[exit]}"', False), ("scala", "List[Long](1l)", True), ("d", "[1L, 2L]", True), ("jl", "Dict(1 => 2)", True), ("r", "list(1, 2)", True), ("r", "quit()", False),
        ("ts", "[1, 2] as any", True), ("cs", "(new List<long>(new long[]{(long)1L}))", True),
    ],
)
def test_worked_answers(name, text, fine, data_dir):
    task = registry.get(f"ct_cruxeval_x_{name}")
    assert (values.objection(text, task.language, task.words) == "") is fine


def test_names_are_suggested():
    with pytest.raises(UnknownNameError, match="did you mean"):
        get("jav")


def test_take_apart_refuses_what_does_not_belong():
    assert take_apart("int main() {}", "assert(f(????))") is None
    assert take_apart("x", "no gap") is None


def test_prompts_never_hold_the_answer(data_dir):
    for name in NAMES:
        task = registry.get(f"ct_cruxeval_x_{name}")
        for item in task.items(TaskOptions())[:40]:
            parts = task.parts(item)
            shown = task.prompt(item, TaskOptions(), chat=True).rsplit("```", 2)[1]
            assert parts.check.strip() in shown
            assert parts.program(parts.gold).strip() not in shown


def test_published_layout_is_read(data_dir):
    from ct_tasks.benchmarks.generations import read_generations

    file = data_dir / "published_generations" / "cruxeval-x" / "phi-1_py.json.gz"
    task = registry.get("ct_cruxeval_x_py")
    found = read_generations(file, task)
    with gzip.open(file) as packed:
        rows = json.load(packed)["output"]
    assert sum(map(len, found.values())) == len(rows)
    assert all(r.extracted and "program" in r.extra for row in found.values() for r in row)
