"""Leaderboard and trace explorer (static pages), Markdown, LaTeX, CSV and JSON from result folders.

    python -m ct_tasks report runs/base runs/grpo --out site

Folders are those that lm_eval wrote with --output_path (--log_samples for the explorer). Open site/index.html.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ct_tasks.errors import ConfigError
from ct_tasks.reports import tables
from ct_tasks.reports.read import read_runs
from ct_tasks.reports.site import write_site


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR", help="folders with lm_eval results")
    parser.add_argument("--out", type=Path, required=True, help="folder for the site and the tables")


def main(args: argparse.Namespace) -> int:
    runs, problems = read_runs(args.folders)
    table = tables.rows(runs)
    try:
        args.out.mkdir(parents=True, exist_ok=True)
        write_site(runs, table, problems, args.out)
        for name, text in (
            ("report.md", tables.markdown(table)), ("report.tex", tables.latex(table)), ("report.csv", tables.as_csv(table)), ("report.json", tables.as_json(table)),
        ):  # fmt: skip
            (args.out / name).write_text(text)
    except OSError as error:
        raise ConfigError(f"cannot write {args.out}: {error}") from None
    print(tables.markdown(table).split("\n\n")[0])
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(runs)} runs; the site is {args.out / 'index.html'}")
    return 0
