"""The documents say what is there: links lead somewhere, tests that they name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    assert [t for t in targets if not (page.parent / t).exists()] == []


def test_the_tests_that_the_fault_list_names_exist() -> None:
    known = set(re.findall(r"def test_(\w+)", "".join(p.read_text() for p in (ROOT / "tests").rglob("test_*.py"))))
    named: set[str] = set()
    for text in re.findall(r"`([^`]+)`", (ROOT / "docs" / "faults.md").read_text()):
        names = text.rpartition(": ")[2].split(", ")
        if ": " in text or (len(names) > 1 and all(re.fullmatch(r"[a-z0-9_]{12,}", n) for n in names)):
            named.update(names)
    assert len(named) > 40
    assert sorted(n for n in named if n not in known) == []
