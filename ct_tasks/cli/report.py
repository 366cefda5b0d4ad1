"""Leaderboard, trace explorer and plots (static pages), Markdown, LaTeX, CSV and JSON from result folders.

    python -m ct_tasks report runs/base runs/grpo --out site

Folders are those that lm_eval wrote with --output_path (--log_samples for the explorer), and those of `ct_train grpo`, whose
rollouts.jsonl makes the plot of rewards. Open site/index.html.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ct_tasks.errors import ConfigError
from ct_tasks.reports import latex, paper, plots, shapes, tables
from ct_tasks.reports.read import read_runs
from ct_tasks.reports.rollouts import Training, read_trainings
from ct_tasks.reports.site import write_site
from ct_tasks.reports.summary import summarise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR", help="folders with lm_eval results")
    parser.add_argument("--out", type=Path, required=True, help="folder for the site and the tables")


def main(args: argparse.Namespace) -> int:
    runs, problems = read_runs(args.folders)
    trainings, unread = read_trainings(args.folders)
    problems += unread
    summaries = {
        (run.key, task): summarise(run, task, result.samples)
        for run in runs
        for task, result in run.tasks.items()
        if result.samples is not None
    }
    table = tables.rows(runs, summaries)
    shaped = shapes.filled(table)
    try:
        args.out.mkdir(parents=True, exist_ok=True)
        drawn, reason = _draw(table, summaries, trainings, args.out)
        problems += reason
        write_site(runs, table, summaries, shaped, drawn, problems, args.out)
        for name, text in (
            ("report.md", f"{tables.markdown(table)}\n{shapes.markdown(shaped)}\n{paper.markdown()}"),
            ("report.tex", f"{latex.latex(table)}\n{shapes.latex(shaped)}"),
            ("report.csv", tables.as_csv(table)),
            ("report.json", tables.as_json(table)),
        ):
            (args.out / name).write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise ConfigError(f"cannot write {args.out}: {error}") from None
    print(tables.markdown(table).split("\n\n")[0])
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(runs)} runs, {len(drawn)} plots; the site is {args.out / 'index.html'}")
    return 0


def _draw(
    table: list[dict[str, object]], summaries: tables.Summaries, trainings: list[Training], out: Path
) -> tuple[list[dict[str, str]], list[str]]:
    try:
        return plots.write(table, summaries, trainings, out), []
    except ModuleNotFoundError as error:
        return [], [f"no plots, because {error.name} is missing: pip install 'codethinker-eval[report]'"]
