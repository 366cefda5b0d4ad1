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

    In 29 rows (9 of D, 20 of Julia) the data's two texts were written apart and differ in a type; no gold text can be read
    off them, so they are left out and listed.
    """
    before, gap, after = check.partition(GAP)
    body, after = code.rstrip(), after.rstrip()
    if not gap or not body.endswith(after):
        return None
    body = body[: len(body) - len(after)] if after else body
    at = body.rfind(before)
    return Parts(body[:at], check, body[at + len(before) :]) if at >= 0 else None
