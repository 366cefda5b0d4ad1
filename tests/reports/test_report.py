"""Reading folders in every state, tables, comparison and scoring again."""

import csv
import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from test_site import write_run

from ct_tasks.cli.main import main
from ct_tasks.errors import ConfigError
from ct_tasks.reports import comparison, latex, paper, shapes, tables
from ct_tasks.reports.read import read_runs, read_samples


@pytest.fixture
def runs(tmp_path):
    write_run(tmp_path / "a", "model_one & 100% #1", "contra", "answer")
    write_run(tmp_path / "b", "model-two", "direct", "none")
    return tmp_path


def test_tables(runs):
    found, problems = read_runs([runs])
    assert problems == []
    table = tables.rows(found)
    assert {r["task"] for r in table} == {"ct_mini", "plain_task"}
    text = tables.markdown(table)
    assert text.count("**") == 4  # one best in ct_mini and one on average; two that tie in plain_task are not ranked
    assert text.splitlines()[:3] == [
        "| run | Average | ct_mini (n=30) | plain_task (n=4) |", "|---|---:|---:|---:|",
        "| model-two · direct | **39.17** ± 23.9 | **53.33** ± 17.2 | 25.00 ± 44.9 |",
    ]
    assert r"\textbf{53.33}{\scriptsize $\pm$17.2}" in latex.latex(table)
    assert "| acc % |" in text.splitlines()[5]  # one scale for all shares
    lines = list(csv.reader(io.StringIO(tables.as_csv(table))))
    assert all(len(line) == len(lines[0]) for line in lines)
    assert json.loads(tables.as_json(table))["rows"][0]["n"] == 30
    low, high = table[0]["low"], table[0]["high"]
    assert 0 <= low <= table[0]["value"] <= high <= 1


def test_the_average_counts_every_task_once_and_no_run_that_lacks_one(runs):
    table = tables.rows(read_runs([runs])[0])
    for row in table:
        row["clustered"] = None
    means = tables.averages_of(table)
    mean, low, high = means["model-two · direct"]
    assert mean == pytest.approx((16 / 30 + 0.25) / 2)
    ends = [(r["value"] - r["low"], r["high"] - r["value"]) for r in table if r["run"] == "model-two · direct"]
    assert low == pytest.approx(mean - (ends[0][0] ** 2 + ends[1][0] ** 2) ** 0.5 / 2)
    assert high == pytest.approx(mean + (ends[0][1] ** 2 + ends[1][1] ** 2) ** 0.5 / 2)
    one = [r for r in table if r["task"] == "ct_mini"]
    assert tables.averages_of(one) == {}
    assert tables.averages_of([*one, table[1]])["model_one & 100% #1 · contra"] is None
    derived = [{**r, "task": "cruxeval_x (2 languages)", "derived": True, "value": 1.0} for r in one]
    assert tables.averages_of([*table, *derived]) == means


LONGEST = "organisation_with_a_long_name/Model-Name_That^Goes~On & on-{7B}-\\textbf-100%-$dollar$-#1-äöü-模型-" + "x" * 120


@pytest.mark.slow
def test_latex_compiles_with_the_longest_names(tmp_path):
    if shutil.which("pdflatex") is None:
        from conftest import missing

        missing("no pdflatex")
    write_run(tmp_path / "a", LONGEST, "contra", "answer")
    write_run(tmp_path / "b", "model_one & 100% #1", "direct", "none")
    found, _ = read_runs([tmp_path])
    rows = tables.rows(found)
    rows += [{**row, "task": "ct_cruxeval_o", "stage": stage, "run": f"{row['run']} {stage}"} for row in rows for stage in ("base", "grpo", "alpha=0.5", "w/o_DBS")]
    text = f"{latex.latex(rows)}\n\n{shapes.latex(shapes.filled(rows))}"
    assert "Table 2" in text
    numbers = {"n": 9, "acc_a": 0.5, "acc_b": 0.25, "difference": -0.25, "low": -0.5, "high": 0.1, "p": 0.0, "won": ["a"], "lost": [], "changes": {}}
    text += comparison.latex(comparison.Comparison(LONGEST, LONGEST, {LONGEST: numbers, "ct_mini": {**numbers, "n": 0}, "one": {**numbers, "low": None, "p_holm": 1e-9}}))
    assert "$<$ 1e-300" in text
    (tmp_path / "t.tex").write_text("\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n" + text + "\\end{document}\n")
    done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-1500:]


def test_hostile_names_break_no_table(tmp_path):
    name = "=HYPERLINK(1)|a`b`*c*<script>\x00\u202e\n"
    write_run(tmp_path / "a", name, "contra", "answer")
    found, _ = read_runs([tmp_path])
    rows = tables.rows(found)
    lines = list(csv.reader(io.StringIO(tables.as_csv(rows))))
    assert len({len(line) for line in lines}) == 1
    assert lines[1][0].startswith("'=")
    body = tables.markdown(rows).splitlines()[2]
    assert body.count("|") - body.count("\\|") == len(tables.wide(rows).heads) + 2
    assert "<script>" not in body
    assert body.isprintable()
    from markdown_it import MarkdownIt

    html = MarkdownIt("commonmark").enable("table").render(tables.markdown(rows))
    assert html.count("<table>") == 2
    assert html.count("<tr>") == 1 + 1 + 1 + len(rows)  # two heads, one run, one row a task
    assert "<em>" not in html.replace("<strong>", "")
    assert "<script>" not in html


def test_damaged_and_half_written_folders(runs, tmp_path):
    (runs / "torn").mkdir()
    (runs / "torn" / "results_1.json").write_text('{"results": {"a"')
    (runs / "other").mkdir()
    (runs / "other" / "results_1.json").write_text("[]")
    found, problems = read_runs([runs])
    assert len(found) == 2
    assert len(problems) == 2
    assert all("left out" in p for p in problems)
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "samples_x_1.jsonl").write_text("{}\n")
    with pytest.raises(ConfigError, match="did not finish"):
        read_runs([tmp_path / "half"])
    with pytest.raises(ConfigError, match="does not exist"):
        read_runs([tmp_path / "nowhere"])


def test_damaged_samples(runs):
    path = runs / "a" / "samples_ct_mini_x.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[0], "{torn", "[]", *lines[1:]]) + '\n{"doc_id": 1, "res')
    problems = []
    assert len(list(read_samples(path, problems))) == 30
    assert len(problems) == 4
    assert any("occurs twice" in p for p in problems)


def test_compare(runs, capsys):
    assert main(["compare", str(runs / "a"), str(runs / "b"), "--json"]) == 0
    row = json.loads(capsys.readouterr().out)["ct_mini"]
    assert row["n"] == 30
    assert len(row["won"]) == 5
    assert row["lost"] == []
    assert row["difference"] == pytest.approx(5 / 30)
    assert row["low"] <= row["difference"] <= row["high"]
    assert main(["compare", str(runs / "a"), str(runs / "a")]) == 0
    assert "not one sample differs" in capsys.readouterr().out


def test_compare_is_a_table_everywhere(tmp_path, capsys):
    write_run(tmp_path / "a", "x & <b>|1", "contra", "answer", n=400)
    write_run(tmp_path / "b", "x & <b>|1", "contra", "none", n=400)
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    out = capsys.readouterr().out
    head = next(line for line in out.splitlines() if line.startswith("task"))
    row = next(line for line in out.splitlines() if line.startswith("ct_mini "))
    assert row.split()[:5] == ["ct_mini", "400", "64.50", "96.50", "+32.00"]
    assert row.split()[-2:] == ["5.9e-39", "5.9e-39"]  # 2 / 2^128: never 0.0000
    assert len(head) == len(row)  # one under the other
    assert "wrong -> right: 128" in out
    for kind in ("md", "tex", "html"):
        assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--out", str(tmp_path / f"c.{kind}")]) == 0
        text = (tmp_path / f"c.{kind}").read_text()
        assert "5.9e-39" in text
        assert "32.00" in text
        assert "0.0000" not in text
        assert "<b>" not in text or kind == "tex"
    assert r"\& <b>|1" in (tmp_path / "c.tex").read_text()
    assert "&lt;b&gt;|1" in (tmp_path / "c.html").read_text()
    assert "x & &lt;b>\\|1" in (tmp_path / "c.md").read_text()
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--out", str(tmp_path / "c.pdf")]) == 2
    assert ".md, .tex, .html" in capsys.readouterr().err


def test_compare_fails_when_worse(tmp_path, capsys):
    write_run(tmp_path / "a", "x", "contra", "none", n=60)
    write_run(tmp_path / "b", "x", "contra", "answer", n=60)
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--fail-if-worse"]) == 1
    assert main(["compare", str(tmp_path / "b"), str(tmp_path / "a"), "--fail-if-worse"]) == 0


def test_compare_without_common_samples(runs, capsys):
    (runs / "b" / "samples_ct_mini_x.jsonl").write_text("")
    assert main(["compare", str(runs / "a"), str(runs / "b")]) == 0
    assert "no sample has a verdict in both runs" in capsys.readouterr().out
    (runs / "b" / "samples_ct_mini_x.jsonl").unlink()
    assert main(["compare", str(runs / "a"), str(runs / "b")]) == 2


# What lm-eval itself writes for tasks of its own: older and newer layouts.
OWN = {
    "gsm8k": ({"exact_match,strict-match": 0.5, "exact_match_stderr,strict-match": 0.1, "exact_match,flexible-extract": 0.6, "alias": "gsm8k"}, {"exact_match": 1.0, "filtered_resps": ["18"], "resps": [["... #### 18"]]}),
    "arc_easy": ({"acc,none": 0.7, "acc_norm,none": 0.6, "acc_stderr,none": "N/A", "alias": "arc_easy"}, {"acc": 1.0, "filtered_resps": [[-1.5, True], [-2.5, False]], "resps": [[[-1.5, True]], [[-2.5, False]]]}),
    "wikitext": ({"word_perplexity,none": 21.3, "alias": "wikitext"}, {"word_perplexity": [-10.0, 5], "filtered_resps": [-10.0], "resps": [[-10.0]]}),
}


def test_tasks_of_lm_eval_itself(tmp_path, capsys):
    results = {"results": {k: v for k, (v, _) in OWN.items()}, "configs": {k: {} for k in OWN}, "versions": {"gsm8k": 3.0}, "model_name": "EleutherAI/pythia-70m", "date": 5.0}
    (tmp_path / "results_1.json").write_text(json.dumps(results))
    for name, (_, row) in OWN.items():
        lines = [json.dumps({"doc_id": i, "doc": {"question": "q"}, "target": "t", "arguments": [["prompt", {}]], **row}) for i in range(2)]
        (tmp_path / f"samples_{name}_1.jsonl").write_text("\n".join(lines) + "\n")
    assert main(["report", str(tmp_path), "--out", str(tmp_path / "site")]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "50.00" in out
    assert "21.30" in out
    data = (tmp_path / "site" / "data" / "r0-0-index.js").read_text()
    assert '["0",["right"]' in data


def test_every_kind_of_damage_is_named_and_the_rest_is_shown(runs, tmp_path, capsys):
    for number, text in enumerate(('{"results": {"a"', "[]", '{"results": []}', '{"results": {}}', '{"no": 1}', "", "\x00\x00", '{"results": {"t": {"acc,none": "x"}}, "configs": {"t": []}}')):
        (runs / f"bad{number}").mkdir()
        (runs / f"bad{number}" / "results_1.json").write_text(text)
    good = [json.loads(line) for line in (runs / "a" / "samples_ct_mini_x.jsonl").read_text().splitlines()]
    odd = [{**good[0], "doc_id": 100, "doc": {"id": "o1"}, "filtered_resps": [[json.dumps({"status": 3, "acc": "yes", "detail": [1], "rcs": "high"})]]},
           {**good[0], "doc_id": 101, "doc": None, "resps": 5}, {**good[0], "doc": {"id": "o2"}, "resps": None, "filtered_resps": None},
           {**good[0], "doc": {"id": "o3"}, "filtered_resps": [[json.dumps({"status": "wrong", "acc": False, "detail": {"trace": {"deltas": [], "blocks": [3], "first_wrong": "x"}}})]]}]
    with (runs / "a" / "samples_ct_mini_x.jsonl").open("a") as file:
        file.write("".join(json.dumps(row) + "\n" for row in odd) + json.dumps(good[3])[:50])
    assert main(["report", str(runs), "--out", str(tmp_path / "site")]) == 0
    out, err = capsys.readouterr()
    assert "2 runs" in out or "3 runs" in out
    assert all(f"bad{n}" in err for n in range(7))
    assert main(["compare", str(runs / "a"), str(runs / "b")]) == 0


def test_two_versions_of_ours_are_named(runs, capsys):
    for folder, version in (("a", 1), ("b", 2)):
        path = runs / folder / "results_x.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "versions": {"ct_mini": version}}))
    assert main(["report", str(runs), "--out", str(runs / "site")]) == 0
    assert "ct_mini was scored by different versions of the task: 1: model_one" in capsys.readouterr().err


def test_compare_gives_links_into_a_site(tmp_path, capsys):
    write_run(tmp_path / "a", "x", "contra", "none")
    write_run(tmp_path / "b", "x", "contra", "answer")
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--site", str(tmp_path / "site")]) == 2
    assert main(["report", str(tmp_path), "--out", str(tmp_path / "site")]) == 0
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--site", str(tmp_path / "site")]) == 0
    out = capsys.readouterr().out
    keys = [run.key for run in read_runs([tmp_path / "a", tmp_path / "b"])[0]]
    assert f"index.html#samples?run={keys[0]}&task=ct_mini&id=s2&other={keys[1]}&show=lost" in out


@pytest.mark.parametrize("n", [0, 1])
def test_compare_of_hardly_anything(tmp_path, capsys, n):
    for name in ("a", "b"):
        write_run(tmp_path / name, "x", "contra", "none")
        path = tmp_path / name / "samples_ct_mini_x.jsonl"
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:n]))
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    out = capsys.readouterr().out
    assert ("no sample has a verdict in both runs" if n == 0 else "one program only: no interval") in out
    assert main(["report", str(tmp_path), "--out", str(tmp_path / "site")]) == 0


def test_the_papers_numbers_in_results_are_those_of_the_code():
    path = Path(__file__).parents[2] / "results" / "paper.md"
    assert path.read_text() == paper.markdown(), "results/paper.md is out of date: make site"
    assert "reference only, not measured here" in path.read_text()
