"""Numbers out of bounds, in every class of settings; tokenizers and models that do not fit: a sentence each."""

import dataclasses
import importlib.util
import json
import math
import shutil

import pytest

from ct_tasks.errors import CodeThinkerError, ConfigError
from ct_train import config
from ct_train.__main__ import main
from ct_train.data.pipeline import DataSettings
from ct_train.demo import DemoSettings
from ct_train.grpo.config import GrpoSettings
from ct_train.micro.make import MicroSettings
from ct_train.models import load_model, load_tokenizer, refuse_other_vocabulary
from ct_train.sft.config import SftSettings
from ct_train.synth.pipeline import SynthSettings
from tests.train import tiny
from tests.train.test_finite import command

NEEDED = {
    GrpoSettings: ["model=m", "data=d", "output_dir=o"], SftSettings: ["model=m", "data=d", "output_dir=o"],
    MicroSettings: ["output_dir=o"], DemoSettings: [], DataSettings: ["out=o"], SynthSettings: ["out=o", "data=d"],
}


def numbers(kind, where=""):
    """(name, type) of every numeric setting, groups included."""
    hints = __import__("typing").get_type_hints(kind)
    for field in dataclasses.fields(kind):
        hint = hints[field.name]
        if dataclasses.is_dataclass(hint):
            yield from numbers(hint, f"{where}{field.name}.")
        elif hint in (int, float, int | None, float | None):
            yield where + field.name, hint


CASES = [(kind, name, hint) for kind in NEEDED for name, hint in numbers(kind)]


@pytest.mark.parametrize(("kind", "name", "hint"), CASES, ids=[f"{k.__name__}-{n}" for k, n, _ in CASES])
def test_no_number_passes_that_no_run_could_have(kind, name, hint):
    """Each numeric setting of each command: below zero, and NaN and infinity where it is a float."""
    bad = ["-2", *([".nan", ".inf", "-0.5"] if hint in (float, float | None) else [])]
    for value in bad:
        with pytest.raises(ConfigError) as error:
            config.load(kind, None, [*NEEDED[kind], f"{name}={value}"]).check()
        assert name.rsplit(".", 1)[-1] in str(error.value)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ("temperature=0", "temperature 0.0 must be more than 0"), ("clip=-1", "clip -1.0 must be more than 0"), ("epochs=0", "train nothing"), ("epochs=-1", "train nothing"), ("max_steps=0", "at least 1, or -1"), ("prompts_per_update=0", "at least 1"),
        ("learning_rate=0", "more than 0"), ("lora.dropout=1", "less than 1"), ("reward_options.alpha=-1", "pay for wrong"), ("reward_options.alpha=.nan", "reward_options.alpha nan is not a finite number"), ("vllm_memory=1.5", "at most 1"),
        ("seed=-1", "seed -1"), ("segmentation=statment", "did you mean statement"),
    ],
)
def test_grpo_says_what_is_wrong(change, match):
    with pytest.raises(ConfigError, match=match):
        config.load(GrpoSettings, None, [*NEEDED[GrpoSettings], change]).check()


def test_the_command_ends_before_it_makes_a_folder(tmp_path, capsys):
    for name, change in (("grpo", "temperature=-1"), ("sft", "weight_decay=-1")):
        assert main([name, "model=m", "data=d", f"output_dir={tmp_path}/o", change]) == 2
        assert "must be" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.make(tmp_path_factory.mktemp("tiny"), steps=1)


def spoilt(folder, place, name, content):
    shutil.copytree(folder, place)
    if content is None:
        (place / name).unlink()
    else:
        (place / name).write_bytes(content if isinstance(content, bytes) else content((place / name).read_bytes()))
    return place


def half(content):
    return content[: len(content) // 2]


@pytest.mark.parametrize(
    ("name", "content"),
    [("tokenizer.json", None), ("tokenizer.json", half), ("tokenizer.json", b""), ("tokenizer.json", b"{}"), ("tokenizer_config.json", half), ("config.json", None), ("config.json", half), ("config.json", b'{"model_type": "lama"}'), ("model.safetensors", None), ("model.safetensors", half),
     ("model.safetensors", b"")],
)
def test_a_model_folder_with_a_file_torn_or_missing_ends_in_a_sentence(folder, tmp_path, capsys, name, content):
    place = spoilt(folder, tmp_path / "m", name, content)
    for command_name in ("sft", "grpo"):
        assert main(command(command_name, place, tmp_path / "o")) == 2, (name, command_name)
        said = capsys.readouterr().err.strip().split("\n")[-1]
        assert said.startswith("python -m ct_train: ")
        assert str(place) in said


def test_a_model_that_lacks_weights_is_not_filled_up_at_random(folder, tmp_path):
    from safetensors.torch import load_file, save_file

    shutil.copytree(folder, tmp_path / "m")
    weights = load_file(folder / "model.safetensors")
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, str(tmp_path / "m" / "model.safetensors"), {"format": "pt"})
    with pytest.raises(ConfigError, match=r"lacks 1 of its weights \(model\.layers\.1\.mlp\.up_proj\.weight\)"):
        load_model(str(tmp_path / "m"), bf16=False, whole=True)


def test_a_tokenizer_of_another_model_is_told_by_its_ids(folder, tmp_path, capsys):
    """One token too many, used by the data: index error in the embedding, before."""
    place = tmp_path / "m"
    shutil.copytree(folder, place)
    tokens = load_tokenizer(str(folder))
    tokens.add_tokens(["f(0)"])
    tokens.save_pretrained(place)
    for name in ("sft", "grpo"):
        assert main(command(name, place, tmp_path / "o")) == 2
        assert f"writes token {len(tokens) - 1} ('f(0)'), but the model has {len(tokens) - 1} embeddings" in capsys.readouterr().err
    refuse_other_vocabulary(str(folder), load_tokenizer(str(folder)), [[0, 1]])  # an unused one does no harm


def test_a_tokenizer_without_an_end_is_refused(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "m")
    file = tmp_path / "m" / "tokenizer_config.json"
    file.write_text(json.dumps({k: v for k, v in json.loads(file.read_text()).items() if k != "eos_token"}))
    with pytest.raises(ConfigError, match="names no end-of-sequence token"):
        load_tokenizer(str(tmp_path / "m"))


@pytest.mark.parametrize("template", ["{{ messages[9]['content'] }}", "{% for %}", "{{ raise_exception('roles must alternate') }}"])
def test_a_chat_template_that_cannot_be_rendered_is_refused(folder, tmp_path, capsys, template):
    shutil.copytree(folder, tmp_path / "m")
    (tmp_path / "m" / "chat_template.jinja").write_text(template)
    for name in ("sft", "grpo"):
        given = [a for a in command(name, tmp_path / "m", tmp_path / "o") if a != "chat=false"]
        assert main(given) == 2
        assert "chat template" in capsys.readouterr().err


def test_a_logger_that_is_not_there_is_refused(folder, tmp_path, capsys):
    for name in ("sft", "grpo"):
        assert main(command(name, folder, tmp_path / "o", "report_to=tensorbord")) == 2
        assert "tensorbord" in capsys.readouterr().err


def test_measuring_says_what_is_missing(folder, tmp_path, capsys):
    def measure(model, *more, data="data.jsonl"):
        assert main(["micro", "--measure", str(model), "--data", str(folder / data), *more]) == 2
        return capsys.readouterr().err

    assert "cannot be loaded" in measure(tmp_path / "none")
    assert "no chat template" in measure(folder)
    assert "--samples 0" in measure(folder, "--samples", "0")
    assert "4 rows have no truth" in measure(folder, data="sft.jsonl")


@pytest.mark.skipif(importlib.util.find_spec("vllm") is not None, reason="vLLM is installed")
def test_an_engine_that_is_not_installed_is_told(folder, tmp_path, capsys):
    assert main(command("grpo", folder, tmp_path / "o", "engine=vllm")) == 2
    assert "need vLLM: pip install" in capsys.readouterr().err


def test_a_plan_without_a_model_config_it_knows(folder, tmp_path, capsys):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "config.json").write_text('{"model_type": "gpt2"}')
    assert main([*command("grpo", tmp_path / "m", tmp_path / "o", f"data={folder}/data.jsonl"), "--dry-run"]) == 0
    assert "size is not known" in capsys.readouterr().out


def test_nan_is_no_bound():
    assert math.isnan(config.load(SftSettings, None, ["learning_rate=.nan"]).learning_rate)
    with pytest.raises(CodeThinkerError, match="learning_rate nan is not a finite number"):
        config.load(SftSettings, None, [*NEEDED[SftSettings], "learning_rate=.nan"]).check()
