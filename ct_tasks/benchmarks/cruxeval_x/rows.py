"""One row of CRUXEval-X taken apart: the function, the check with its gap, and the gold text that fills the gap.

The data has the whole program and, apart from it, the check with ``????``. The program is the function followed by the
check with the gold text in place of the gap, so the gold text is what stands between the check's two halves.
"""

from __future__ import annotations

from dataclasses import dataclass

GAP = "????"


@dataclass(frozen=True, slots=True)
class Parts:
    """``head`` + ``check`` with the gap filled is a program; ``gold`` fills it as the benchmark does."""

    head: str
    check: str
    gold: str

    def program(self, filling: str) -> str:
        """The whole program with ``filling`` in the gap."""
        return self.head + self.check.replace(GAP, filling, 1)


def take_apart(code: str, check: str) -> Parts | None:
    """Cut ``code`` where ``check`` begins; None where the two do not belong together.

    In 29 rows (D and Julia) the two were written apart and differ in a type; then the longest ends that agree decide.
    """
    before, gap, after = check.partition(GAP)
    if not gap:
        return None
    body, after = code.rstrip(), after.rstrip()
    if not body.endswith(after):
        after = _common_tail(body, after)
        if not after:
            return None
    body = body[: len(body) - len(after)] if after else body
    at = body.rfind(before)
    if at >= 0:
        return Parts(body[:at], check, body[at + len(before) :])
    end = _latest_end(body, before)
    start = _start_of_check(body, before)
    if end is None or start is None or start > end:
        return None
    return Parts(body[:start], check, body[end:])


def _common_tail(body: str, after: str) -> str:
    size = 0
    while size < min(len(body), len(after)) and body[-1 - size] == after[-1 - size]:
        size += 1
    return after[len(after) - size :] if size >= 3 else ""


def _latest_end(body: str, before: str) -> int | None:
    """Where the gold text begins: behind the longest end of ``before`` that occurs in ``body``."""
    for size in range(len(before), 2, -1):
        at = body.rfind(before[len(before) - size :])
        if at >= 0:
            return at + size
    return None


def _start_of_check(body: str, before: str) -> int | None:
    """Where the check begins: at the longest start of ``before`` that occurs in ``body``."""
    for size in range(len(before), 2, -1):
        at = body.rfind(before[:size])
        if at >= 0:
            return at
    return None
