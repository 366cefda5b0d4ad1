"""Tables as LaTeX (booktabs), as the paper sets them: best bold, second best underlined."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

from ct_tasks.reports.tables import wide

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
    """A booktabs table: best bold, second best underlined, ± the 95 % interval, n. Needs ``\\usepackage{booktabs}``."""
    found = wide(table)
    lines = [
        "% \\usepackage{booktabs}",
        "\\begin{tabular}{l" + "r" * len(found.heads) + "}",
        "\\toprule",
        " & ".join(["Model", *map(escape, found.heads)]) + r" \\",
        "\\midrule",
    ]
    for (name, row), marks in zip(found.rows, found.rank, strict=True):
        shown = [escape(name)]
        for entry, mark in zip(row, marks, strict=True):
            if entry is None:
                shown.append("--")
                continue
            number, spread, n = entry
            text = {1: rf"\textbf{{{number}}}", 2: rf"\underline{{{number}}}"}.get(mark, number)
            small = (rf"$\pm${spread}" if spread else "") + (f" ({n})" if n else "")
            shown.append(text + (rf"{{\scriptsize {small}}}" if small else ""))
        lines.append(" & ".join(shown) + r" \\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])
