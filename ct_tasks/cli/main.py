"""The table of subcommands, and what all of them share: help, unknown names, errors in one line."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Mapping, Sequence

from ct_tasks import __version__
from ct_tasks.errors import CodeThinkerError, UnknownNameError

COMMANDS: Mapping[str, str] = {
    "list": "tasks, sizes, where their data comes from",
    "validate": "check a config before a model is loaded",
    "selftest": "gold answers must score 100 %, hostile answers 0 %",
    "score": "score generations that already exist",
    "rescore": "score a finished run's samples again",
    "trace": "the true trace of a program",
    "run": "lm_eval's own arguments, with a journal that survives a kill",
    "report": "leaderboard and trace explorer, Markdown, LaTeX, CSV, JSON",
    "compare": "paired comparison of two runs",
    "containers": "build and check the language images",
    "model": "convert and cache the small demo model",
    "completion": "complete commands, options and task names in bash, zsh and fish",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; the exit code. Mistakes of the user end in one line on stderr and 2, ours in 3."""
    return dispatch("ct_tasks", COMMANDS, sys.argv[1:] if argv is None else argv)


def dispatch(package: str, commands: Mapping[str, str], argv: Sequence[str]) -> int:
    """Find the subcommand in ``<package>.cli.<name>`` and run its ``main``."""
    program = f"python -m {package}"
    if "_ARGCOMPLETE" in os.environ:
        from ct_tasks.cli import completion

        completion.answer(package, commands)
    if not argv or argv[0] in ("-h", "--help", "help"):
        width = max(map(len, commands))
        print(f"usage: {program} COMMAND ...\n\ncommands:")
        print("\n".join(f"  {name:<{width}}  {text}" for name, text in commands.items()))
        print(f"\n'{program} COMMAND --help' shows its options and a real example.")
        return 0 if argv else 2
    if argv[0] in ("-V", "--version"):
        print(__version__)
        return 0
    try:
        if argv[0] not in commands:
            raise UnknownNameError("command", argv[0], commands)
        module = importlib.import_module(f"{package}.cli.{argv[0]}")
        parser = argparse.ArgumentParser(
            prog=f"{program} {argv[0]}",
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(parser)
        if getattr(module, "PASS_THROUGH", False):
            args, rest = parser.parse_known_args(argv[1:])
            args.rest = rest
        else:  # key=value settings may stand before, between and after options
            args = parser.parse_intermixed_args(argv[1:])
        code: int = module.main(args)
        return code
    except CodeThinkerError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"{program}: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output went away, which is its right
        return 0
