"""docs/paper.md: every command on it exists with these options, and every config that it names could run."""

import argparse
import importlib
import json
import re
import shlex

import pytest

from ct_tasks.cli.main import COMMANDS as TASK_COMMANDS
from ct_tasks.cli.validate import check_any, check_config
from ct_tasks.config_file import read_yaml
from ct_tasks.lm_eval.options import check_metadata, check_task
from ct_train import config
from ct_train.__main__ import COMMANDS as TRAIN_COMMANDS

ROOT = config.Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "paper.md").read_text()
FOUND = [text for text in re.findall(r"`([^`]+)`", PAGE) if re.match(r"(python -m ct_|accelerate launch)", text) and "CONFIG" not in text]
KNOWN = {"ct_tasks": TASK_COMMANDS, "ct_train": TRAIN_COMMANDS}


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A folder like a clone after "First" was run in small."""
    (tmp_path / "harness_configs").symlink_to(ROOT / "harness_configs")
    (tmp_path / "runs" / "micro").mkdir(parents=True)
    (tmp_path / "runs" / "micro" / "held_out.jsonl").touch()
    monkeypatch.chdir(tmp_path)


def parsed(command):
    """(package, subcommand, its arguments) as the real parser reads them; what lm_eval is left with in ``rest``."""
    words = shlex.split(command)
    at = words.index("-m")
    if words[0] == "accelerate":
        assert config.Path(words[words.index("--config_file") + 1]).is_file()
    package, name, *given = words[at + 1 :]
    assert name in KNOWN[package], command
    module = importlib.import_module(f"{package}.cli.{name}")
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    if getattr(module, "PASS_THROUGH", False):
        args, args.rest = parser.parse_known_args(given)
    else:
        args = parser.parse_intermixed_args(given)
    return package, name, args


def config_tasks(path):
    names, errors = check_config(read_yaml(path))
    assert not errors, path
    return names


def lm_eval_arguments(rest):
    from lm_eval._cli.run import Run

    parser = argparse.ArgumentParser()
    sub = parser.add_subparsers()
    Run.create(sub)
    return parser.parse_args(["run", *rest])


def test_the_page_has_a_row_for_every_table_and_figure():
    for number in range(1, 13):
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| Table {number} |"))
        assert row.count("`python -m") + row.count("`accelerate") >= 2, number
    figures = {n for spec in re.findall(r"^\| Figures? ([\d, –]+) \|", PAGE, re.M) for part in spec.split(", ") for n in _range(part)}
    assert figures == set(range(1, 25))


def _range(text):
    first, _, last = text.strip().partition("–")
    return range(int(first), int(last or first) + 1)


@pytest.mark.parametrize("command", dict.fromkeys(FOUND))
def test_every_command_would_run(command, clone):
    package, name, args = parsed(command)
    if (package, name) == ("ct_tasks", "run"):
        given = lm_eval_arguments(args.rest)
        metadata = given.metadata if isinstance(given.metadata, dict) else json.loads(given.metadata or "{}")
        options = check_metadata(metadata)
        names = config_tasks(config.Path(given.config)) if given.config else given.tasks if isinstance(given.tasks, list) else given.tasks.split(",")
        assert names
        for task in names:
            check_task(task, options)
    elif getattr(args, "config", None):
        kind = importlib.import_module(f"{package}.cli.{name}")
        if hasattr(kind, "SETTINGS"):
            assert check_any(args.config, args.overrides) == (f"python -m ct_train {name}", [])
        else:  # export takes the settings of grpo or sft
            assert check_any(args.config, args.overrides) == (f"python -m ct_train {'grpo' if args.engine == 'verl' else 'sft'}", [])


def test_every_config_of_a_table_is_on_the_page_or_one_of_a_family_that_is(clone):
    models = ("qc14b", "qc32b", "ds67b", "llama3_8b", "qc7b")
    for path in sorted((ROOT / "harness_configs").glob("*/*.yaml")):
        if "smollm2" in path.name or path.parent.name == "accelerate":
            continue
        family = re.sub(f"_({'|'.join(models)})", "_MODEL", path.name)
        assert family in re.sub(f"_({'|'.join(models)})", "_MODEL", PAGE), path.name
        what, errors = check_any(path)
        assert what, path
        assert not errors, path


def test_the_baselines_have_the_papers_settings_on_every_model():
    """Paper H.3, H.4: hyper-parameters as CodeThinker's; format, reward and sampling are their own."""
    from ct_train.grpo.config import GrpoSettings

    own = {"model", "output_dir", "paradigm", "reward", "regular"}
    for model in ("qc7b", "qc14b", "qc32b", "ds67b", "llama3_8b"):
        ours = config.load(GrpoSettings, ROOT / f"harness_configs/train/grpo_{model}.yaml")
        for name in ("codereasoner", "execverify"):
            theirs = config.load(GrpoSettings, ROOT / f"harness_configs/train/grpo_{name}_{model}.yaml")
            assert {k for k in vars(ours) if vars(ours)[k] != vars(theirs)[k]} == own
            assert (theirs.paradigm, theirs.reward, theirs.regular) == (name, name, theirs.group_size)
            assert theirs.model == f"runs/sft_codereasoner_{model}/merged"
