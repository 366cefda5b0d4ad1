"""Completion of ct-tasks and ct-train in your shell: commands, options, names of tasks and paradigms.

    eval "$(python -m ct_tasks completion bash)"              # in ~/.bashrc
    eval "$(python -m ct_tasks completion zsh)"               # in ~/.zshrc
    python -m ct_tasks completion fish | source               # in ~/.config/fish/config.fish

The shell asks the program itself (package argcomplete), so what it offers is what this version takes.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shlex
from collections.abc import Mapping

import argcomplete
from argcomplete.shell_integration import shellcode

from ct_tasks.benchmarks.registry import TASKS

SCRIPTS = ("ct-tasks", "ct-train")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def main(args: argparse.Namespace) -> int:
    print(shellcode(list(SCRIPTS), shell=args.shell))
    return 0


def answer(package: str, commands: Mapping[str, str]) -> None:
    """Tell the shell and end the process. Only the command on the line is imported."""
    line = os.environ.get("COMP_LINE", "")
    try:
        words = shlex.split(line)
    except ValueError:  # an open quote
        words = line.split()
    parser = argparse.ArgumentParser(prog=package.replace("_", "-"))
    parser.add_argument("--version", action="store_true")
    below = parser.add_subparsers()
    for name, told in commands.items():
        child = below.add_parser(name, help=told.replace("%", "%%"))
        if name in words[1:2]:
            importlib.import_module(f"{package}.cli.{name}").add_arguments(child)
            for action in child._actions:
                if action.dest in ("task", "tasks"):
                    action.completer = lambda **_: TASKS  # type: ignore[attr-defined]
    argcomplete.autocomplete(parser)
