"""Which programs may share a child: for now none, so every program has its own."""

from __future__ import annotations

from typing import Any


def inert(job: dict[str, Any]) -> bool:
    """Whether the program cannot change the interpreter for those that run after it."""
    return False


class Watch:
    """Notices a changed interpreter."""

    def unchanged(self) -> bool:
        return True
