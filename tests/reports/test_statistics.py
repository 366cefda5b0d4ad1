"""Intervals and tests against scipy and statsmodels, and the edges."""

import math
import random

import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from ct_tasks.reports.statistics import (
    clustered_error,
    clustered_interval,
    holm,
    mcnemar,
    paired_bootstrap,
    two_digits,
    wilson,
)


@pytest.mark.parametrize(("right", "n"), [(0, 25), (25, 25), (1, 1), (0, 1), (13, 25), (400, 800), (1, 10_000)])
def test_wilson(right, n):
    assert wilson(right, n) == pytest.approx(proportion_confint(right, n, method="wilson"), abs=1e-9)


def test_wilson_of_nothing():
    assert wilson(0, 0) is None


@pytest.mark.parametrize(("b", "c"), [(0, 0), (0, 1), (5, 5), (3, 12), (0, 30), (100, 140)])
def test_mcnemar(b, c):
    expected = 1.0 if b + c == 0 else stats.binomtest(min(b, c), b + c, 0.5).pvalue
    assert mcnemar(b, c) == pytest.approx(min(1.0, expected), abs=1e-9)


def test_holm():
    p = {"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.5}
    assert [holm(p)[k] for k in p] == pytest.approx(multipletests(list(p.values()), method="holm")[1], abs=1e-12)
    assert holm({}) == {}


def test_clustered_error_is_the_plain_one_when_nothing_is_clustered():
    draw = random.Random(0)
    values = [float(draw.random() < 0.4) for _ in range(200)]
    assert clustered_error(values, list(map(str, range(200)))) == pytest.approx(stats.sem(values), abs=1e-12)
    together = clustered_error(values + values, list(map(str, range(200))) * 2)
    assert together == pytest.approx(stats.sem(values), abs=1e-12)
    assert clustered_error([1.0], ["a"]) is None
    assert clustered_error([], []) is None


def test_paired_bootstrap_is_near_the_normal_interval():
    draw = random.Random(1)
    a = [float(draw.random() < 0.5) for _ in range(400)]
    b = [float(draw.random() < 0.6) for _ in range(400)]
    found = paired_bootstrap(a, b, list(map(str, range(400))))
    differences = [y - x for x, y in zip(a, b, strict=True)]
    spread = 1.96 * stats.sem(differences)
    assert found.mean == pytest.approx(sum(differences) / 400)
    assert found.low == pytest.approx(found.mean - spread, abs=0.012)
    assert found.high == pytest.approx(found.mean + spread, abs=0.012)


def test_paired_bootstrap_edges():
    assert paired_bootstrap([], [], []) is None
    same = paired_bootstrap([1.0, 0.0], [1.0, 0.0], ["a", "b"])
    assert (same.mean, same.low, same.high) == (0, 0, 0)
    one = paired_bootstrap([0.0], [1.0], ["a"])
    assert (one.mean, one.low, one.high) == (1, 1, 1)
    assert math.isfinite(paired_bootstrap([0.0, 1.0, 1.0], [1.0, 1.0, 0.0], ["a", "a", "b"]).low)


def test_clustered_error_is_that_of_statsmodels():
    import numpy
    import statsmodels.api as sm

    draw = random.Random(2)
    clusters = [str(draw.randrange(40)) for _ in range(300)]
    level = {c: draw.random() for c in set(clusters)}
    values = [float(draw.random() < level[c]) for c in clusters]
    codes = numpy.unique(clusters, return_inverse=True)[1]
    fit = sm.OLS(values, numpy.ones(300)).fit(cov_type="cluster", cov_kwds={"groups": codes, "use_correction": False})
    g = len(set(clusters))
    assert clustered_error(values, clusters) == pytest.approx(fit.bse[0] * math.sqrt(g / (g - 1)), abs=1e-9)


def test_clustered_interval():
    draw = random.Random(3)
    values = [float(draw.random() < 0.3) for _ in range(100)]
    apart = list(map(str, range(100)))
    assert clustered_interval(values, apart) == pytest.approx(wilson(sum(values), 100), abs=1e-12)
    twice = clustered_interval(values * 2, apart * 2)  # every program asked twice with the same outcome: nothing is learnt
    assert twice == pytest.approx(wilson(sum(values), 100), abs=0.002)
    assert clustered_interval([], []) is None
    for value in (0.0, 1.0):
        assert clustered_interval([value] * 50, apart[:25] * 2) == pytest.approx(wilson(25 * value, 25), abs=1e-12)
    assert clustered_interval([1.0], ["a"]) == pytest.approx(wilson(1, 1))
    assert clustered_interval([1.0, 0.0, 1.0], ["a", "a", "a"]) == pytest.approx(wilson(2 / 3, 1))


def test_paired_bootstrap_is_that_of_scipy():
    import numpy

    draw = random.Random(4)
    a = [float(draw.random() < 0.5) for _ in range(200)]
    b = [float(draw.random() < 0.6) for _ in range(200)]
    found = paired_bootstrap(a, b, list(map(str, range(200))), draws=9999)
    reference = stats.bootstrap((numpy.array(b) - numpy.array(a),), numpy.mean, method="percentile", n_resamples=9999, random_state=0).confidence_interval
    assert found.low == pytest.approx(reference.low, abs=0.006)
    assert found.high == pytest.approx(reference.high, abs=0.006)


@pytest.mark.parametrize(("p", "text"), [(1.0, "1.0"), (0.5, "0.50"), (0.0625, "0.063"), (0.0996, "0.10"), (0.00012345, "0.00012"), (0.0001, "0.00010"), (5.44e-5, "5.4e-5"), (9.96e-5, "1.0e-4"), (1.2e-10, "1.2e-10"), (0.0, "< 1e-300"), (5e-324, "< 1e-300")])
def test_a_p_value_has_two_digits_and_is_never_zero(p, text):
    assert two_digits(p) == text


def test_mcnemar_of_very_many_pairs():
    assert mcnemar(1000, 1000) == 1.0
    assert mcnemar(3000, 2900) == pytest.approx(0.1975, abs=0.0005)  # normal approximation with continuity: 0.1975
    assert mcnemar(5000, 0) == 0.0
