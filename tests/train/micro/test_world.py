"""The small world: programs that run, a split that does not leak, a tokenizer that loses nothing, ct_micro."""

import itertools
import json
import re

import pytest

from ct_tasks.benchmarks import micro, registry
from ct_tasks.benchmarks.base import Answer
from ct_tasks.benchmarks.micro import build
from ct_tasks.benchmarks.micro.programs import LEVELS, held_out, stream
from ct_tasks.contra.scoring import score_trace
from ct_tasks.contra.trace import render
from ct_tasks.contra.tracer import trace_call
from ct_tasks.errors import ConfigError, DataError
from ct_tasks.options import TaskOptions
from ct_train import config
from ct_train.micro.make import MicroSettings, make
from ct_train.micro.model import tokenizer


def test_every_thought_stands_beside_its_block_and_the_perfect_text_scores_four():
    for sample in itertools.islice(stream(1), 150):
        truth = trace_call(sample.code, sample.call)
        assert len(truth.blocks) == len(sample.thoughts) == sample.statements
        assert score_trace(render(truth, sample.thoughts), truth).reward == 4.0


def test_last_number_of_an_arithmetic_thought_is_the_value_in_locals():
    for sample in itertools.islice(stream(2, levels=[1]), 60):
        truth = trace_call(sample.code, sample.call)
        for block, thought in zip(truth.blocks, sample.thoughts, strict=True):
            assert int(thought.rsplit(" = ", 1)[1]) in block.locals.values()


def test_levels_bring_their_construct():
    words = {2: ("'", "["), 3: ("if ",), 4: ("for ",), 5: ("while ",)}
    for level in LEVELS[1:]:
        for sample in itertools.islice(stream(3, levels=[level]), 20):
            assert any(w in sample.code + sample.call for w in words[level]) or level == 2


def test_same_seed_same_programs_and_sides_never_meet():
    train = list(itertools.islice(stream(5), 300))
    assert train == list(itertools.islice(stream(5), 300))
    assert not {s.code for s in train} & {s.code for s in itertools.islice(stream(5, held=True), 100)}
    assert not any(s.held_out for s in train)


def test_a_program_with_its_variables_renamed_is_on_the_same_side():
    other = {"a": "d", "b": "c", "c": "a", "d": "b"}
    for sample in itertools.islice(stream(6, levels=[1]), 40):
        assert held_out(re.sub(r"\b[abcd]\b", lambda m: other[m.group()], sample.code)) == sample.held_out


def test_a_world_without_further_programs_ends_with_a_reason():
    with pytest.raises(DataError, match="no new program"):
        list(stream(0, levels=[1], statements=(1, 1), held=True))


def test_tokenizer_gives_the_text_back():
    tokens = tokenizer()
    for sample in itertools.islice(stream(7), 50):
        truth = trace_call(sample.code, sample.call)
        for text in (render(truth, sample.thoughts), micro.prompt(sample.code, sample.call), "[TRACE] odd [LINENO 99] text\n\t~"):
            ids = tokens(text)["input_ids"]
            assert tokens.decode(ids) == text
            assert tokens.unk_token_id not in ids


def test_chat_template_is_a_prefix_of_the_whole_conversation():
    tokens = tokenizer()
    turn = [{"role": "user", "content": "x"}]
    before = tokens.apply_chat_template(turn, add_generation_prompt=True, tokenize=True, return_dict=False)
    whole = tokens.apply_chat_template([*turn, {"role": "assistant", "content": "y"}], tokenize=True, return_dict=False)
    assert whole[: len(before)] == before
    assert whole[-1] == tokens.eos_token_id


def test_make_writes_the_same_bytes_and_no_shared_program(tmp_path):
    small = {"sft": 40, "grpo": 20, "held_out": 20, "layers": 1, "inner": 64}
    for name in ("a", "b"):
        make(MicroSettings(output_dir=str(tmp_path / name), **small))
    for file in ("sft.jsonl", "grpo.jsonl", "held_out.jsonl", "init/model.safetensors"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    rows = {f: [json.loads(line) for line in (tmp_path / "a" / f"{f}.jsonl").read_text().splitlines()] for f in ("sft", "grpo", "held_out")}
    assert [len(v) for v in rows.values()] == [40, 20, 20]
    assert not {r["program"] for r in rows["held_out"]} & {r["program"] for f in ("sft", "grpo") for r in rows[f]}
    assert len({(r["program"], r["call"]) for f in ("sft", "grpo") for r in rows[f]}) == 60


@pytest.mark.parametrize(("change", "match"), [({"output_dir": ""}, "needs output_dir"), ({"statements": (3, 1)}, "range"), ({"levels": (9,)}, "some of"), ({"sft": 0}, "at least 1")])
def test_bad_worlds_are_refused(change, match):
    with pytest.raises(ConfigError, match=match):
        MicroSettings(**{"output_dir": "o", **change}).check()


def test_shipped_config_loads():
    settings = config.load(MicroSettings, config.Path(__file__).parents[3] / "harness_configs" / "train" / "micro.yaml")
    settings.check()
    assert settings.held_out >= 512


def test_ct_micro_is_what_its_builder_makes_and_held_out():
    rows = [json.loads(line) for line in micro.FILE.read_text().splitlines()]
    assert len(rows) == build.ROWS == len({r["code"] for r in rows})
    assert all(held_out(r["code"]) for r in rows)
    assert build.text() == micro.FILE.read_text()


def test_ct_micro_scores_gold_and_refuses_hostile():
    task, options = registry.get("ct_micro"), TaskOptions()
    items = task.items(options)[:40]
    assert all(s.status == "right" for s in task.score([Answer(i, task.gold(i, options)) for i in items], options))
    hostile = [Answer(i, text) for i in items[:2] for text in task.hostile(i, options).values()]
    assert hostile
    assert not any(s.status == "right" for s in task.score(hostile, options))
    assert task.prompt(items[0], TaskOptions(), chat=True).startswith("[PYTHON]\n[LINENO 0]")
    assert len(task.prompt(items[0], TaskOptions(shots=1), chat=True)) > 5 * len(task.prompt(items[0], TaskOptions(), chat=True))
