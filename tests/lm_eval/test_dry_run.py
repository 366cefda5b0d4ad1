"""What a run would ask, without its model."""

import json
import sys

import pytest

from ct_tasks.cli.main import main
from ct_tasks.lm_eval.dry_run import Asked, Rates, text

SETTINGS = ["--tasks", "ct_mini", "--limit", "3", "--metadata", json.dumps({"paradigm": "direct", "repeats": 2, "shots": 1}), "--gen_kwargs", "max_gen_toks=50,do_sample=True,temperature=1"]


@pytest.mark.slow
def test_nothing_is_generated_or_written(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["run", "--dry-run", "--tokens_per_s", "100", "--price_out", "2", "--model", "local-chat-completions", "--model_args", "model=m,base_url=http://127.0.0.1:9/v1/chat/completions", "--apply_chat_template", *SETTINGS, "--output_path", "there"]
    before = list(sys.argv)
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "user: Below is a Python program" in out
    assert "--- stop strings: none" in out
    assert "| ct_mini | 6 | ? | 300 | 0:00:03 | 0.00 |" in out
    assert list(tmp_path.iterdir()) == []
    assert sys.argv == before


@pytest.mark.slow
@pytest.mark.model
def test_the_prompt_is_the_one_that_is_sent(capsys, smollm2):
    """Rendered with the model's own template, and counted with its own tokenizer."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(smollm2)
    assert main(["run", "--dry-run", "--model", "hf", "--model_args", f"pretrained={smollm2}", "--apply_chat_template", *SETTINGS[:2], "--limit", "1", *SETTINGS[4:]]) == 0
    out = capsys.readouterr().out
    prompt = out.partition("as it is sent\n")[2].partition("\n--- stop strings")[0]
    assert prompt.startswith("<|im_start|>system")
    assert prompt.endswith("<|im_start|>assistant\n")
    tokens = 2 * len(tokenizer(prompt, add_special_tokens=False).input_ids)
    assert f"| ct_mini | 2 | {tokens:,} | 100 |" in out


def test_time_and_cost_are_those_of_full_replies():
    rows = [Asked("a", "p", {"until": ["x"]}, 4, 3_000_000, 7_200_000), Asked("b", "q", {}, 1, None, 36_000)]
    shown = text(rows, Rates(1000, 2, 10))
    assert "| a | 4 | 3,000,000 | 7,200,000 | 2:00:00 | 78.00 |" in shown
    assert "| b | 1 | ? | 36,000 | 0:00:36 | ? |" in shown
    assert "| all | 5 | ? | 7,236,000 | 2:00:36 | ? |" in shown
    assert "--- stop strings: 'x'" in shown
    assert "give --tokens_per_s | give --price_in, --price_out |" in text(rows[:1], Rates())


def test_a_run_without_a_folder_is_refused(capsys):
    assert main(["run", "--model", "dummy", "--tasks", "ct_mini"]) == 2
    assert "--run_dir DIR" in capsys.readouterr().err
    assert main(["run", "--dry-run", "--tokens_per_s", "0", "--model", "dummy", "--tasks", "ct_mini"]) == 2
    assert "--tokens_per_s must be above 0" in capsys.readouterr().err
