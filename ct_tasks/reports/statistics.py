"""Intervals and paired tests, each with the formula it uses. No number is made up: with no samples there is no interval."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from statistics import NormalDist

Z95 = NormalDist().inv_cdf(0.975)


def wilson(right: float, n: float, z: float = Z95) -> tuple[float, float] | None:
    """Wilson's score interval for a proportion (Wilson 1927); sensible at 0 and at 1, where the Wald interval is empty.

    ``right`` may be fractional (a mean over repeats). ``None`` for no samples.
    """
    if n <= 0:
        return None
    p = right / n
    centre = p + z * z / (2 * n)
    spread = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def clustered_error(values: Sequence[float], clusters: Sequence[str]) -> float | None:
    """Standard error of the mean when items of one cluster (a program with several inputs) go together.

    sqrt(sum over clusters of (sum of deviations)^2) / n, with the factor g / (g - 1) for g clusters; ``None`` for fewer
    than two clusters.
    """
    n = len(values)
    sums: dict[str, float] = {}
    mean = math.fsum(values) / n if n else 0.0
    for value, cluster in zip(values, clusters, strict=True):
        sums[cluster] = sums.get(cluster, 0.0) + value - mean
    g = len(sums)
    if g < 2:
        return None
    return math.sqrt(math.fsum(s * s for s in sums.values()) * g / (g - 1)) / n


def clustered_interval(values: Sequence[float], clusters: Sequence[str]) -> tuple[float, float] | None:
    """Wilson's interval with the number of samples that the clustered error leaves: n_eff = p (1 - p) / error^2.

    So it stays inside [0, 1] and has a width at 0 and at 1, where it counts clusters. With every sample its own cluster it is
    Wilson's own interval. ``None`` for no samples; values lie in [0, 1] (a mean over repeats each).
    """
    n, g = len(values), len(set(clusters))
    if not n:
        return None
    p = math.fsum(values) / n
    error = clustered_error(values, clusters)
    if g == n or error is None:
        return wilson(p * g, g)
    return wilson(p * (size := min(float(n), p * (1 - p) / error**2) if error else float(g)), size)


def mcnemar(only_a: int, only_b: int) -> float:
    """Exact two-sided McNemar test: the chance of a split at least as uneven if each discordant item were a coin toss."""
    n = only_a + only_b
    if n == 0:
        return 1.0
    tail, ways = 0, 1  # whole numbers: floats overflow from 1,030 discordant items on
    for k in range(min(only_a, only_b) + 1):
        tail += ways
        ways = ways * (n - k) // (k + 1)
    return float(min(1.0, 2 * tail / 2**n))


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean difference B - A with a 95 % percentile interval from a paired bootstrap over clusters."""

    mean: float
    low: float
    high: float


def paired_bootstrap(
    a: Sequence[float], b: Sequence[float], clusters: Sequence[str], *, draws: int = 4000, seed: int = 0
) -> Difference | None:
    """Resample whole clusters with replacement; ``None`` for no pairs. The seed makes the interval repeatable."""
    if not a:
        return None
    grouped: dict[str, list[float]] = {}
    for x, y, cluster in zip(a, b, clusters, strict=True):
        grouped.setdefault(cluster, []).append(y - x)
    groups = [(math.fsum(g), len(g)) for g in grouped.values()]
    mean = math.fsum(s for s, _ in groups) / sum(n for _, n in groups)
    draw = random.Random(seed)
    means = []
    for _ in range(draws):
        picked = draw.choices(groups, k=len(groups))
        means.append(math.fsum(s for s, _ in picked) / sum(n for _, n in picked))
    means.sort()
    return Difference(mean, means[int(0.025 * draws)], means[min(draws - 1, int(0.975 * draws))])


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's step-down correction: adjusted p-values, monotone, at most 1."""
    ordered = sorted(p_values.items(), key=lambda row: row[1])
    adjusted: dict[str, float] = {}
    running = 0.0
    for rank, (name, p) in enumerate(ordered):
        running = max(running, min(1.0, (len(ordered) - rank) * p))
        adjusted[name] = running
    return adjusted


def two_digits(p: float) -> str:
    """A p-value with two significant digits, halves rounded up as the site's page does; never zero: one so small that it
    underflowed is below 1e-300."""
    if p < 1e-300:
        return "< 1e-300"
    rounded = float(Context(prec=2, rounding=ROUND_HALF_UP).plus(Decimal(p)))
    return f"{rounded:#.2g}" if p >= 1e-4 else f"{rounded:.1e}".replace("e-0", "e-")
