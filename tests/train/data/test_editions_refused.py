"""No reader of training data takes a program of a ct_fresh edition."""

import json

import pytest

from ct_tasks.benchmarks.fresh.programs import stream
from ct_tasks.errors import DataError
from ct_train.data import pipeline
from ct_train.grpo import data as grpo
from ct_train.sft import data as sft
from ct_train.synth import pipeline as synth

OWN = "def f(x):\n    y = x + 1\n    return y"


def rows(program):
    return [{"id": "1", "program": OWN, "call": "f(1)"}, {"id": "2", "program": program, "call": "f(2)"}]


@pytest.mark.parametrize("load", [grpo.load_rows, sft.load_rows])
def test_training_on_an_edition_is_refused(load, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows(next(stream(202612)).code)))
    with pytest.raises(DataError, match="row 2 is a program of ct_fresh's edition 2026-12, which is for evaluation"):
        load(file)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows(next(stream(3, training=True)).code)))
    assert len(load(file)) == 2


def test_data_and_synthesis_refuse_it_too(tmp_path):
    draft = next(stream(202612))
    raw, half = tmp_path / "raw.jsonl", tmp_path / "half.jsonl"
    raw.write_text(json.dumps({"task_id": "a", "completion": draft.code, "entry_point": draft.entry}) + "\n")
    with pytest.raises(DataError, match="edition 2026-12"):
        pipeline.run(pipeline.DataSettings(out=str(tmp_path / "out"), rows=str(raw)), ["static"])
    half.write_text("".join(json.dumps(row) + "\n" for row in rows(draft.code)))
    with pytest.raises(DataError, match="edition 2026-12"):
        synth.run(synth.SynthSettings(out=str(tmp_path / "synth"), data=str(half)))
