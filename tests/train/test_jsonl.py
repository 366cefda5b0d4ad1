"""JSON lines: a line ends at a line feed alone; rows that cannot be used are told with file and line, and counted."""

import json

import pytest

from ct_tasks.errors import ConfigError, DataError
from ct_train import jsonl
from ct_train.__main__ import main
from ct_train.data.steps import dump, read_rows
from ct_train.grpo.data import load_rows, with_prompts, with_truths
from ct_train.sft.data import complete, tokenize
from ct_train.sft.data import load_rows as load_sft
from tests.train import tiny

BREAKS = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\r"  # what str.splitlines splits at, beside the line feed


def test_lines_end_at_line_feeds_alone_in_every_reader(tmp_path, capsys):
    """Our own writer leaves these characters raw in the strings of a program."""
    row = {"program": f"def f(n):\n    s = {BREAKS!r}\n    return n", "call": "f(1)", "prompt": BREAKS, "completion": BREAKS, "truth": tiny.TRUTHS[0].to_json()}
    path = tmp_path / "d.jsonl"
    path.write_text((dump(row) + "\n") * 2, encoding="utf-8", newline="")
    assert "\u2028" in path.read_text(encoding="utf-8")
    for rows in (load_rows(path), load_sft(path), [r for _, r in jsonl.read(path)], read_rows(path)):
        assert [r["prompt"] for r in rows] == [BREAKS] * 2
    path.write_text((dump({k: row[k] for k in ("program", "call", "completion")}) + "\n") * 2, encoding="utf-8", newline="")
    assert main(["reward", str(path), "--json"]) == 0
    assert len(capsys.readouterr().out.split("\n")) == 3


@pytest.mark.parametrize(
    ("content", "match"),
    [(b'{"a": 1}\n\xff\n', r":2 is not JSON"), (b'{"a": 1}\n\n[1]\n', r":3 holds a list"), (b'{"a": 1}\n{"a": 1', r":2 is not JSON"), (b"[" * 100000, ":1 is not JSON"), (b"null", ":1 holds a NoneType")],
)
def test_a_damaged_line_is_named(tmp_path, content, match):
    path = tmp_path / "d.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=match):
        list(jsonl.read(path))
    with pytest.raises(DataError, match="cannot read"):
        list(jsonl.read(tmp_path))


def test_a_byte_order_mark_is_no_part_of_the_first_row(tmp_path):
    (tmp_path / "d.jsonl").write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\n{"a": 2}')
    assert list(jsonl.read(tmp_path / "d.jsonl")) == [(1, {"a": 1}), (3, {"a": 2})]


@pytest.mark.parametrize(
    ("row", "match"),
    [({"program": 1, "call": "f()"}, r"d\.jsonl:1: program is a int"), ({"truth": "{"}, "its truth cannot be read"), ({"truth": {}}, "its truth cannot be read"), ({"truth": 3}, "its truth cannot be read")],
)
def test_rows_of_another_shape_are_named(tmp_path, row, match):
    path = tmp_path / "d.jsonl"
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(DataError, match=match):
        with_truths(load_rows(path))


@pytest.mark.parametrize(
    ("row", "match"), [({"messages": 3}, "messages must be"), ({"messages": [{"role": "user"}]}, "messages must be"), ({"prompt": "x", "completion": 3}, "completion is a int")]
)
def test_sft_rows_of_another_shape_are_named(tmp_path, row, match):
    (tmp_path / "d.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(DataError, match=rf"d\.jsonl:1: {match}"):
        load_sft(tmp_path / "d.jsonl")


def test_rows_that_are_left_out_are_counted_with_their_places(tmp_path):
    path = tmp_path / "d.jsonl"
    good = [{"program": tiny.SOURCE, "call": t.call} for t in tiny.TRUTHS]
    bad = {"program": "def f(n):\n    return 1 // n", "call": "f(0)"}
    path.write_text("".join(json.dumps(r) + "\n" for r in (bad, *good[:2], {**good[2], "prompt": "1" * 99}, bad)))
    dropped = {}
    rows = with_truths(load_rows(path), dropped=dropped)
    tokens = tiny.tokenizer()
    kept = with_prompts(rows, tokens, tiny.prompt_of, 20, dropped=dropped)
    assert [r["where"] for r in kept] == ["d.jsonl:2", "d.jsonl:3"]
    assert jsonl.left_out("grpo", dropped, 5) == (
        "grpo: 3 of 5 rows are left out: 2 without a trace, e.g. ZeroDivisionError: integer division or modulo by zero (d.jsonl:1, d.jsonl:5); 1 longer than max_prompt_tokens = 20 (d.jsonl:4)"
    )
    dropped = {}
    made = complete(load_sft(path), tiny.prompt_of, "statement", dropped)
    assert len(tokenize(made, tokens, 250, dropped)) == 2
    assert {k.partition(",")[0]: v for k, v in dropped.items()} == {"without a trace": ["d.jsonl:1", "d.jsonl:5"], "longer than max_tokens = 250": ["d.jsonl:4"]}
    assert jsonl.left_out("sft", {}, 5) == ""
    with pytest.raises(ConfigError, match="every prompt is longer"):
        with_prompts(rows, tokens, tiny.prompt_of, 1)
