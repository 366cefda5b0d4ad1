"""A paired comparison as a table: in the terminal, as Markdown, LaTeX and one HTML page that asks nobody for anything."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ct_tasks.reports.latex import escape
from ct_tasks.reports.statistics import two_digits
from ct_tasks.reports.tables import cell

HEADS = ("task", "n", "A", "B", "B - A", "95 % interval", "only B right", "only A right", "p", "p (Holm)")
NOTE = (
    "Samples that both runs have, accuracy in percent. Interval: bootstrap over programs. p: exact McNemar; "
    "Holm: corrected over the tasks."
)
KINDS = (".md", ".tex", ".html")
POOLED = "all tasks"
_LOST = 8  # lost samples named in the terminal


@dataclass(frozen=True)
class Comparison:
    """``a`` and ``b`` say what was compared; ``rows``: task to the numbers that ``compare --json`` prints."""

    a: str
    b: str
    rows: Mapping[str, Mapping[str, Any]]

    def cells(self) -> list[list[str]]:
        """The table's body, a row a task; one without a sample in common has only its name and n."""
        return [_cells(task, row) for task, row in self.rows.items()]


def _cells(task: str, row: Mapping[str, Any]) -> list[str]:
    if not row["n"]:
        return [task, "0", *["–"] * (len(HEADS) - 2)]
    interval = "one program" if row["low"] is None else f"{100 * row['low']:+.2f} to {100 * row['high']:+.2f}"
    corrected = "" if row.get("p_holm") is None else two_digits(row["p_holm"])
    return [
        task, str(row["n"]), f"{100 * row['acc_a']:.2f}", f"{100 * row['acc_b']:.2f}", f"{100 * row['difference']:+.2f}", interval,
        str(len(row["won"])), str(len(row["lost"])), two_digits(row["p"]), corrected,
    ]  # fmt: skip


def terminal(found: Comparison) -> str:
    """Columns under their heads, then what changed and what was lost, task by task."""
    table = [list(HEADS), *found.cells()]
    widths = [max(len(row[c]) for row in table) for c in range(len(HEADS))]
    lines = [f"A: {found.a}", f"B: {found.b}", ""]
    for shown in table:
        aligned = (t.rjust(w) if c else t.ljust(w) for c, (t, w) in enumerate(zip(shown, widths, strict=True)))
        lines.append("  ".join(aligned).rstrip())
    for task, row in found.rows.items():
        lines += _told(task, row) if task != POOLED else []
    return "\n".join([*lines, "", NOTE])


def _told(task: str, row: Mapping[str, Any]) -> list[str]:
    lines = []
    if row["only_in_a"] or row["only_in_b"]:
        lines.append(f"{row['only_in_a']} samples only in A and {row['only_in_b']} only in B are left out")
    if not row["n"]:
        lines.append("no sample has a verdict in both runs")
    elif not row["won"] and not row["lost"]:
        lines.append("not one sample differs")
    if row["low"] is None and row["n"]:
        lines.append("one program only: no interval")
    lines += [f"{kind}: {count}" for kind, count in row["changes"].items()]
    links = row.get("links") or {}
    shown = [f"{key} {links[key]}" if key in links else key for key in row["lost"][:_LOST]]
    more = f" and {len(row['lost']) - _LOST} more" if len(row["lost"]) > _LOST else ""
    if shown:
        lines.append("lost: " + ("\n        " if links else ", ").join(shown) + more)
    return ["", f"{task}:", *(f"    {line}" for line in lines)] if lines else []


def markdown(found: Comparison) -> str:
    lines = [f"A: {cell(found.a)}  ", f"B: {cell(found.b)}", "", f"| {' | '.join(HEADS)} |", "|---" + "|---:" * (len(HEADS) - 1) + "|"]
    lines += ["| " + " | ".join(map(cell, row)) + " |" for row in found.cells()]
    changes = [f"- {cell(task)}: {cell(kind)}: {count}" for task, row in found.rows.items() if task != POOLED for kind, count in row["changes"].items()]
    return "\n".join([*lines, "", NOTE, *(["", "What changed:", "", *changes] if changes else [])]) + "\n"


def latex(found: Comparison) -> str:
    """booktabs. Needs ``\\usepackage{booktabs}``."""
    body = [" & ".join(_signs(escape(c.replace("–", "--"))) for c in row) + r" \\" for row in found.cells()]
    return "\n".join([
        f"% A: {escape(found.a)}", f"% B: {escape(found.b)}", f"% {NOTE}", "% \\usepackage{booktabs}", r"\begin{tabular}{l" + "r" * (len(HEADS) - 1) + "}",
        r"\toprule", " & ".join(map(escape, HEADS)) + r" \\", r"\midrule", *body, r"\bottomrule", r"\end{tabular}", "",
    ])  # fmt: skip


def _signs(text: str) -> str:
    """Minus signs and "less than" as mathematics."""
    text = text.replace("< ", "$<$ ")
    return " ".join(f"$-${word[1:]}" if word[:1] == "-" and word[1:2].isdigit() else word for word in text.split(" "))


STYLE = """:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:1rem;max-width:70rem}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{padding:.35rem .7rem;border-bottom:1px solid #8886;text-align:right}
th:first-child{text-align:left}.scroll{overflow-x:auto}"""


def page(found: Comparison) -> str:
    """One HTML file; every text is escaped."""
    heads = "".join(f'<th scope="col">{html.escape(h)}</th>' for h in HEADS)
    body = "".join(_html_row(row) for row in found.cells())
    changes = "".join(
        f"<li>{html.escape(f'{task}: {kind}: {count}')}</li>" for task, row in found.rows.items() if task != POOLED for kind, count in row["changes"].items()
    )
    links = "".join(
        f'<li><a href="{html.escape(link, quote=True)}">{html.escape(f"{task} / {key}")}</a></li>'
        for task, row in found.rows.items()
        for key, link in (row.get("links") or {}).items()
    )
    parts = [
        f"<p>A: {html.escape(found.a)}<br>B: {html.escape(found.b)}</p>",
        f'<div class="scroll" tabindex="0" role="region" aria-label="Comparison"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>',
        f"<p>{html.escape(NOTE)}</p>",
        f"<h2>What changed</h2><ul>{changes}</ul>" if changes else "",
        f"<h2>Right in A, wrong in B</h2><ul>{links}</ul>" if links else "",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">'
        f"<title>Comparison of two runs</title><style>{STYLE}</style></head>\n<body><main><h1>Comparison of two runs</h1>{''.join(parts)}</main></body></html>\n"
    )


def _html_row(row: Sequence[str]) -> str:
    return f'<tr><th scope="row">{html.escape(row[0])}</th>' + "".join(f"<td>{html.escape(c)}</td>" for c in row[1:]) + "</tr>"


def written(found: Comparison, kind: str) -> str:
    """As ``.md``, ``.tex`` or ``.html``."""
    return {".md": markdown, ".tex": latex, ".html": page}[kind](found)
