"""Texts that must not score: what models and attackers write where an answer is expected, for every paradigm."""

from __future__ import annotations

from collections.abc import Mapping

from ct_tasks.paradigms.base import Problem


def texts(problem: Problem, paradigm: str) -> Mapping[str, str]:
    """Hostile replies by kind."""
    return {"empty": "", "prose": "I cannot tell.", "echoed call": f"[ANSWER]\nassert {problem.call} == {problem.call}\n[/ANSWER]"}
