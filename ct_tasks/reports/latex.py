"""Tables as LaTeX (booktabs), as the paper sets them: best bold, second best underlined."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

from ct_tasks.reports.tables import grid, ranks

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "·": r"$\cdot$",
    "–": "--",
}


def escape(text: str) -> str:
    """Text that compiles with pdflatex: letters lose their marks, what is not ASCII then is a question mark."""
    kept = "".join(c if c.isprintable() else " " for c in text)
    ascii_only = "".join(c for c in unicodedata.normalize("NFKD", kept) if not unicodedata.combining(c))
    return "".join(_LATEX.get(c, c if ord(c) < 128 else "?") for c in ascii_only)


def latex(table: Sequence[dict[str, Any]]) -> str:
    """A booktabs table: best bold, second best underlined, as in the paper. Needs ``\\usepackage{booktabs}``."""
    names, tasks, cells = grid(table)
    marked = ranks(table)
    lines = [
        "% \\usepackage{booktabs}",
        "\\begin{tabular}{l" + "r" * len(tasks) + "}",
        "\\toprule",
        " & ".join(["Model", *map(escape, tasks)]) + r" \\",
        "\\midrule",
    ]
    for name in names:
        shown = [escape(name)]
        for task in tasks:
            cell = cells.get((name, task))
            if cell is None or cell["value"] is None:
                shown.append("--")
                continue
            text = f"{100 * cell['value']:.2f}" if 0 <= cell["value"] <= 1 else f"{cell['value']:.2f}"
            shown.append({1: rf"\textbf{{{text}}}", 2: rf"\underline{{{text}}}"}.get(marked.get((name, task), 0), text))
        lines.append(" & ".join(shown) + r" \\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])
