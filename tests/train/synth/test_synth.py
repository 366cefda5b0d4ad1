"""Synthesis: the rule-based teacher is right about everything, a corrupted teacher is found out, with the reason."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ct_tasks import paradigms
from ct_tasks.contra.parser import parse_strict
from ct_tasks.contra.scoring import score_trace
from ct_tasks.contra.trace import Truth, render
from ct_tasks.contra.tracer import trace_call
from ct_tasks.errors import ConfigError, UnknownNameError
from ct_tasks.paradigms.base import Found
from ct_train import config
from ct_train.data.llm import LlmSettings, Reply
from ct_train.grpo.data import load_rows, with_truths
from ct_train.synth import formats, narrate, record, reject, teachers
from ct_train.synth.pipeline import SynthSettings, run
from ct_train.synth.record import Record

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
from stub_server import Stub, serve

PROGRAM = """from typing import List
def f(xs: List[int], k: int) -> int:
    total = 0
    for x in xs:
        if x > k:
            total += x
        else:
            total -= 1
    label = '[TRACE]' * k
    return total + len(label)
"""
ROWS = [
    {"id": "f", "sample": f"f/{i}", "program": PROGRAM, "entry": "f", "call": call, "output": output}
    for i, (call, output) in enumerate([("f([1, 2, 3], 1)", "11"), ("f([], 0)", "0"), ("f([5] * 3, 2)", "29")])
]


def truth() -> Truth:
    return trace_call(PROGRAM, "f([1, 2, 3], 1)")


def recorded(true: Truth) -> Record:
    """As in the sandbox's child, for programs of our own."""
    payload = record.job(true.program.runnable, true.program.entry, [true.call], "statement").payload
    return record.from_json(record.trace_and_record(payload)["replies"][0]["record"])


def write(tmp_path: Path, rows: Sequence[Mapping[str, Any]] = ROWS) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.slow
def test_rule_based_rows_are_all_right_in_every_format(tmp_path: Path, data_dir: Path) -> None:
    from ct_train.data import programs

    rows: list[Mapping[str, Any]] = list(ROWS)
    for group in programs.load(("reval", "livecodebench")).values():
        for reference in [r for r in group if r.entry and not r.prelude][:25]:
            rows += [
                {"id": reference.name, "program": reference.program, "entry": reference.entry, "call": c}
                for c in reference.calls[:2]
            ]
    summaries = run(SynthSettings(out=str(tmp_path / "out"), data=str(write(tmp_path, rows)), workers=1))
    made = read(tmp_path / "out" / "contra.jsonl")
    assert summaries["contra"]["kept"] == len(made) > 40
    assert summaries["contra"]["dropped"] == 0
    assert set(summaries["traces"]["reasons"]) <= {"no_trace"}
    for row in made:
        true = trace_call(row["program"], row["call"], entry=row["entry"])
        score = score_trace(row["completion"], true)
        assert score.fmt
        assert all(score.deltas)
        assert score.reward == 4.0
        assert all(block.thought.strip() for block in parse_strict(row["completion"], true).trace.blocks)
        assert row["prompt"].endswith(f"The call: {row['call']}")
    for name in formats.BASELINES:
        for row in read(tmp_path / "out" / f"{name}.jsonl"):
            true = trace_call(row["program"], row["call"], entry=row["entry"])
            found = paradigms.get(name).extract(row["completion"], formats.problem_of(true))
            assert isinstance(found, Found)
            assert formats._right(found, true)
        assert summaries[name]["kept"] == len(made)


def test_rows_feed_grpo_and_sft(tmp_path: Path) -> None:
    run(SynthSettings(out=str(tmp_path / "out"), data=str(write(tmp_path)), workers=1, baselines=()))
    rows = load_rows(tmp_path / "out" / "contra.jsonl")
    assert len(with_truths(rows)) == 3
    assert all({"prompt", "completion", "program", "call"} <= row.keys() for row in rows)


def swap(pattern: str, new: str) -> Callable[[str], str]:
    return lambda text: re.sub(pattern, new, text, count=1)


LOCALS = r"\[LOCALS\]\n(.*)\n"
CORRUPTIONS: dict[str, tuple[Callable[[str], str | None], str]] = {
    "no reply": (lambda text: None, "teacher_failed"),
    "words before it": (lambda text: "Here it is:\n" + text, "format: begin"),
    "words after it": (lambda text: text + "\nDone.", "format: end"),
    "cut off": (lambda text: text[: len(text) // 2].rpartition("\n")[0], "format: order"),
    "tag not alone": (swap(r"\[/THOUGHT\]", "[/THOUGHT] "), "format: tag-alone"),
    "sections in another order": (
        lambda text: text.replace("[THOUGHT]\n", "[LOCALS]\n{}\n[/LOCALS]\n[THOUGHT]\n", 1),
        "format: order",
    ),
    "a section missing": (
        lambda text: re.sub(r"\[THOUGHT\][\s\S]*?\[/THOUGHT\]\n", "", text, count=1),
        "format: order",
    ),
    "a tag inside a thought": (swap(r"\[THOUGHT\]\n", "[THOUGHT]\n[LOCALS]\n"), "format: order"),
    "code line without number": (swap(r"\[LINENO 1\] {4}", ""), "format: code-line"),
    "a line number left out": (swap(r"\[LINENO 1\]", "[LINENO 2]"), "format: lineno"),
    "code changed": (swap("total = 0", "total = 1"), "format: code"),
    "locals no literal": (swap(LOCALS, "[LOCALS]\n{'xs': sorted([1, 2])}\n"), "format: locals"),
    "locals no dict": (swap(LOCALS, "[LOCALS]\n[1]\n"), "format: locals"),
    "a value changed": (swap("'total': 0", "'total': 7"), "locals_wrong"),
    "a type changed": (swap("'total': 0", "'total': False"), "locals_wrong"),
    "a variable left out": (swap(", 'total': 0", ""), "locals_wrong"),
    "a variable invented": (swap("'total': 0", "'total': 0, 'extra': 1"), "locals_wrong"),
    "a block left out": (lambda text: text[: text.rindex("[CODE]")] + text[text.index("[RETURN]") :], "format: blocks"),
    "another result": (swap(r"== 11", "== 12"), "return_wrong"),
    "a call as result": (swap(r"== 11", "== f([1], 1)"), "format: return"),
    "an empty thought": (
        lambda text: re.sub(r"\[THOUGHT\]\n[\s\S]*?\n\[/THOUGHT\]", "[THOUGHT]\n[/THOUGHT]", text, count=1),
        "thought_missing",
    ),
    "a thought without end": (swap(r"\[THOUGHT\]\n", "[THOUGHT]\n" + "so it is. " * 1000 + "\n"), "thought_too_long"),
}


class Corrupted:
    """The rule-based teacher, its text spoilt in one way; right again from attempt ``cures`` on."""

    name = "corrupted"
    tries = 4

    def __init__(self, kind: str, cures: int = 99) -> None:
        self.kind, self.cures = kind, cures

    def settings(self) -> Mapping[str, Any]:
        return {"kind": self.kind}

    def propose(self, truths: Sequence[Truth], records: Sequence[Record], attempt: int) -> list[teachers.Proposal]:
        out: list[teachers.Proposal] = []
        for text, _ in teachers.RuleTeacher().propose(truths, records, 0):
            assert text is not None
            spoilt = text if attempt >= self.cures else CORRUPTIONS[self.kind][0](text)
            out.append((spoilt, Reply(None, {"429": 5}, "scripted") if spoilt is None else None))
        return out


@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_a_corrupted_text_is_rejected_with_the_right_reason(kind: str) -> None:
    true = truth()
    found = recorded(true)
    good = render(true, narrate.thoughts(true, found))
    assert reject.judge(good, true).reason == ""
    corrupt, reason = CORRUPTIONS[kind]
    spoilt = corrupt(good)
    assert spoilt != good
    failure = Reply(None, {"429": 5}, "scripted") if spoilt is None else None
    assert reject.judge(spoilt, true, failure=failure).reason == reason


@pytest.mark.slow
def test_a_corrupted_teacher_is_tried_again_and_its_reasons_are_counted(tmp_path: Path) -> None:
    data = str(write(tmp_path, ROWS[:1]))
    bad = run(
        SynthSettings(out=str(tmp_path / "bad"), data=data, workers=1, baselines=()), Corrupted("a value changed")
    )["contra"]
    assert (bad["kept"], bad["reasons"], bad["counts"]) == (0, {"locals_wrong": 1}, {"tried: locals_wrong": 4})
    dropped = read(tmp_path / "bad" / "contra.dropped.jsonl")
    assert dropped[0]["detail"] == "block 0: total"
    cured = run(
        SynthSettings(out=str(tmp_path / "ok"), data=data, workers=1, baselines=()), Corrupted("a value changed", 2)
    )["contra"]
    assert (cured["kept"], cured["counts"]) == (1, {"tried: kept": 1, "tried: locals_wrong": 2})
    assert read(tmp_path / "ok" / "contra.jsonl")[0]["tries"] == 3


def test_the_best_of_several_texts_names_the_values() -> None:
    true = truth()
    found = recorded(true)
    full = reject.judge(render(true, narrate.thoughts(true, found)), true)
    vague = reject.judge(render(true, ["Something happens."] * len(true.blocks)), true)
    assert reject.best([vague, full, reject.Judged("", "locals_wrong")]) == full
    assert full.quality == 1.0 > vague.quality
    assert reject.best([reject.Judged("", "locals_wrong")]) is None


def test_the_narration_says_which_way_a_condition_went_only_where_it_is_seen() -> None:
    source = (
        "def f(n):\n    s = 0\n    if n > 2: s = 1\n    while (s < 3 and\n           n > 0):\n        s += 1\n        if s == 2:\n"
        "            continue\n    try:\n        if 1 // (s - s) > 2:\n            s = 9\n    except ZeroDivisionError:\n        s = -1\n    return s\n"
    )
    true = trace_call(source, "f(4)")
    found = recorded(true)
    told = narrate.thoughts(true, found)
    assert "Line 2, `if n > 2: s = 1`: s = 1." in told[1]
    assert told[2].count("`if s == 2:`: the condition is true.") == 1
    assert told[2].count("`if s == 2:`: the condition is false.") == 1
    assert told[2].count("`while (s < 3 and`: the condition is false.") == 1
    assert "`while (s < 3 and`: the condition is true." not in told[2]
    assert "`if 1 // (s - s) > 2:`: an exception is raised." in told[3]
    assert told[3].endswith("The function returns -1.")


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.slow
def test_a_model_behind_a_server_fills_in_the_thoughts(tmp_path: Path, whole: bool) -> None:
    def good(prompt: str) -> str:
        trace = prompt[prompt.index("The trace:\n") + 11 : prompt.rindex("[/TRACE]", 0, prompt.rindex("\n\n")) + 8]
        count = trace.count("[THOUGHT]")
        if whole:
            return "<think>let me see</think>\n" + trace.replace("[THOUGHT]\n", "[THOUGHT]\nIt is as the code says.\n")
        return json.dumps({"thoughts": ["It is as the code says."] * count})

    with serve(Stub(good, lambda prompt: ["429", "empty"])) as stub:
        llm = LlmSettings(base_url=stub.url, model="stub", timeout_s=5.0, backoff_s=0.01, max_backoff_s=0.02)
        settings = SynthSettings(
            out=str(tmp_path / "out"),
            data=str(write(tmp_path)),
            teacher="llm",
            whole=whole,
            workers=1,
            baselines=(),
            llm=llm,
        )
        summary = run(settings)["contra"]
        assert (summary["kept"], summary["reasons"]) == (3, {})
        assert set(stub.served.values()) == {1}
    assert all("It is as the code says." in row["completion"] for row in read(tmp_path / "out" / "contra.jsonl"))


def test_settings_are_checked(tmp_path: Path) -> None:
    for path in sorted((Path(__file__).parents[3] / "harness_configs" / "train").glob("synth*.yaml")):
        config.load(SynthSettings, path, [f"out={tmp_path}", "data=x.jsonl"]).check()
    with pytest.raises(UnknownNameError, match="did you mean rules"):
        SynthSettings(out="x", data="y", teacher="rule").check()
    with pytest.raises(ConfigError, match="set out"):
        SynthSettings().check_places()
