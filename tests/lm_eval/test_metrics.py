"""Metrics of a document and over repeats."""

import math

import pytest

from ct_tasks.lm_eval import metrics


def row(acc, status=None, official=None, **values):
    return {"acc": acc, "status": status or ("right" if acc else "wrong"), "acc_official": official, "answer": None, "reason": "", **values}


def test_every_generation_counts():
    found = metrics.of_document([row(True, official=True, rcs=1.0), row(False, "no_answer", rcs=0.5), row(False, rcs=None)], 3)
    assert found["acc"] == pytest.approx(1 / 3)
    assert found["acc_official"] == 1
    assert found["no_answer"] == pytest.approx(1 / 3)
    assert found["rcs"] == 0.75
    assert found["pass@1"] == pytest.approx(1 / 3)
    assert found["pass@2"] == pytest.approx(2 / 3)


def test_harness_errors_are_no_verdict():
    found = metrics.of_document([row(False, "harness_error"), row(True)], 2)
    assert found["acc"] == 1
    assert found["harness_error"] == 0.5
    assert "acc" not in metrics.of_document([row(False, "harness_error")], 1)


@pytest.mark.parametrize(("n", "c", "k", "expected"), [(10, 0, 1, 0.0), (10, 10, 5, 1.0), (10, 3, 1, 0.3), (5, 2, 2, 0.7), (1, 1, 1, 1.0), (10, 1, 10, 1.0)])
def test_pass_at_k(n, c, k, expected):
    assert metrics.pass_at_k(n, c, k) == pytest.approx(expected)


def test_std_over_repeats_is_between_runs_not_within():
    assert metrics.std_over_repeats([[1.0, 0.0], [1.0, 0.0]]) == pytest.approx(math.sqrt(0.5))
    assert metrics.std_over_repeats([[1.0, 0.0], [0.0, 1.0]]) == 0
    assert math.isnan(metrics.std_over_repeats([[1.0]]))
