"""ConTra: the program block by block, with the locals at the end of each (paper section 3, D.1; our spec's grammar)."""

from __future__ import annotations

from typing import ClassVar

from ct_tasks.contra import parser
from ct_tasks.contra.program import Program, normalise
from ct_tasks.contra.trace import Truth, render
from ct_tasks.errors import TraceError, UnknownNameError
from ct_tasks.paradigms import answers, example
from ct_tasks.paradigms.base import Extraction, Layout, Missed, Paradigm, Problem, Side, visible

_BLOCKS = {
    "statement": (
        "A block is one outermost statement of the function's body. A compound statement (for, while, if, try, with, "
        "match, a nested def or class) is one block together with everything inside it."
    ),
    "coalesced": (
        "A block is a run of neighbouring simple statements on the outermost level of the function's body, or one compound "
        "statement (for, while, if, try, with, match, a nested def or class) together with everything inside it."
    ),
    "adaptive": (
        "A block is a piece of the function's body that belongs together: a short run of neighbouring simple statements, or "
        "one compound statement (for, while, if, try, with, match, a nested def or class) with everything inside it; a long "
        "and branching compound statement is split at its inner statements, its header going with the first of them."
    ),
}

_TASK = """\
Trace one call of a Python function, block by block, and give the value that it returns. The program runs exactly as \
written, even where it looks wrong. Its lines are numbered from 0.

Blocks. {blocks} The def line belongs to the first block, and an outermost return to the block before it. Write a block \
for each part that runs, in order, and stop with the block in which the function returns.

Write the trace in exactly this form, every tag alone on its line, and nothing before or after it:
[TRACE]
[CODE]
[LINENO 0]    the first line of the block, copied
[LINENO 1]    the next line, copied, and so on without gaps
[/CODE]
[THOUGHT]
your reasoning about this block, for a loop about all of its rounds
[/THOUGHT]
[LOCALS]
{{'name': value}}
[/LOCALS]
[RETURN]
{return_line}
[/RETURN]
[/TRACE]

The CODE, THOUGHT and LOCALS sections come once for each block, then one RETURN. LOCALS is one Python dict with all local \
variables of the function at the moment the block ends, parameters included, as literals. Write containers of the standard \
library as plain ones (a Counter as a dict, a deque as a list); leave out functions, modules, classes, iterators and \
other objects that have no literal. In RETURN the assertion has a literal on its right-hand side, never a call."""


class ConTra(Paradigm):
    name = "contra"
    sides: ClassVar[tuple[Side, ...]] = ("output",)
    # This line stands between problems in the prompt, and nowhere else. A closing tag as stop string would be cut off
    # from the reply, and the reply would no longer be a complete trace.
    until: ClassVar[tuple[str, ...]] = ("\n[NEXT PROGRAM]",)
    max_gen_toks = 4096

    def prompt(self, problem: Problem, layout: Layout) -> str:
        if layout.segmentation not in _BLOCKS:
            raise UnknownNameError("segmentation", layout.segmentation, _BLOCKS)
        text = _TASK.format(blocks=_BLOCKS[layout.segmentation], return_line="assert <the call> == <the value>")
        parts = [text]
        if layout.shots:
            truth = example.truth(layout.segmentation)
            parts.append(_shown(truth.program, truth.call) + "\n" + render(truth, example.THOUGHTS))
            parts.append("[NEXT PROGRAM]")
        parts.append(_shown(_program(problem), problem.call) + ("" if layout.chat else "\n"))
        return "\n\n".join(parts)

    def extract(self, text: str, problem: Problem) -> Extraction:
        shown = visible(text)
        if isinstance(shown, Missed):
            return shown
        returned = parser.parse_lenient(shown).returned
        if returned is None:
            return missing(shown)
        if returned.function != problem.entry:
            return Missed("unreadable", f"the assertion is about {returned.function}, not {problem.entry}", returned.text)
        return answers.literal(returned.text, open_end=not returned.closed)

    def gold(self, problem: Problem, truth: Truth | None = None) -> str:
        """Raises ``TraceError`` without a truth: a perfect trace cannot be made up."""
        if truth is None:
            raise TraceError("a ConTra text needs the true trace of the call")
        return render(truth)


def missing(text: str) -> Missed:
    """Why a ConTra text has no answer."""
    if "[RETURN]" in text and "[/RETURN]" in text:
        return Missed("unreadable", "RETURN holds no single `assert f(...) == <literal>`")
    if "[TRACE]" in text and "[/TRACE]" not in text:
        return Missed("unclosed", "the trace stops before its RETURN")
    return Missed("no_answer", "no [RETURN] in the text")


def _program(problem: Problem) -> Program:
    try:
        return normalise(problem.code, problem.entry)
    except TraceError:  # not a traceable program: it is shown as it is, and has no true trace
        return Program(tuple(problem.code.split("\n")), problem.entry)


def _shown(program: Program, call: str) -> str:
    lines = [f"[LINENO {i}]    {line}" for i, line in enumerate(program.lines)]
    context = [program.context] if program.context else []
    return "\n".join(["[PYTHON]", *context, *lines, "[/PYTHON]", f"The call: {call}"])


PARADIGM = ConTra()
