"""Estimates of how many people are unique in a population of which a sample is known."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, lgamma, log

import numpy as np
from numpy.typing import NDArray

GOLDEN = (5**0.5 - 1) / 2
STEPS = 60


def zayatz_share(sizes: NDArray[np.int64], population: int) -> float:
    """The probability that one who is unique in the sample is unique in the population.

        P(F = 1 | f = 1) = p(1) h(1) / sum over j of p(j) h(j),  h(j) = j C(N - j, n - 1) / C(N, n)

    p(j): the share of classes of size j in the sample, taken for that of the population; h(j): the probability that
    a class of j people has exactly one in a sample of n out of N.
    """
    number = int(sizes.sum())
    values, counts = np.unique(sizes, return_counts=True)
    if values[0] != 1:
        return 0.0
    logs = np.array([_log_one(int(size), population, number) for size in values])
    weights = counts * np.exp(logs - logs.max())
    return float(weights[0] / weights.sum())


def _log_one(size: int, population: int, number: int) -> float:
    """The logarithm of h(size), minus infinity where it cannot be."""
    if population - size < number - 1:
        return -np.inf
    return log(size) + _log_choose(population - size, number - 1) - _log_choose(population, number)


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def pitman_uniques(sizes: NDArray[np.int64], population: int) -> float | None:
    """The expected number of people who are unique in the population; None where the likelihood has no maximum inside.

    The likelihood of u classes, s_j of them of size j, of n people in all:

        L = prod_{0<i<u} (theta + i alpha) / prod_{0<i<n} (theta + i) * prod_j (prod_{0<i<j} (i - alpha))^s_j

    with 0 < alpha < 1 and theta > -alpha, maximized over theta for each alpha, then over alpha.
    """
    number, classes = int(sizes.sum()), len(sizes)
    values, counts = np.unique(sizes, return_counts=True)
    if classes < 2 or classes == number:
        return None
    pairs = [(int(value), int(count)) for value, count in zip(values, counts, strict=True) if value > 1]

    def likelihood(alpha: float, theta: float) -> float:
        start = theta / alpha
        found = (classes - 1) * log(alpha) + lgamma(start + classes) - lgamma(start + 1)
        return found - lgamma(theta + number) + lgamma(theta + 1)

    def inner(alpha: float) -> tuple[float, float]:
        """The best theta + alpha, on a logarithmic scale, and the likelihood there."""
        low, high = log(1e-9), log(1e3 * number)
        place, best = _maximum(lambda t: likelihood(alpha, exp(t) - alpha), low, high)
        constant = sum(count * (lgamma(value - alpha) - lgamma(1 - alpha)) for value, count in pairs)
        return place, best + constant

    alpha, _ = _maximum(lambda a: inner(a)[1], 1e-6, 1 - 1e-6)
    theta = exp(inner(alpha)[0]) - alpha
    if alpha < 1e-4 or theta >= 5e2 * number:
        return None
    return float(exp(lgamma(theta + 1) - lgamma(theta + alpha) + alpha * log(population)))


def _maximum(function: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Where a function with one peak is highest, by golden sections, and how high."""
    a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_a, at_b = function(a), function(b)
    for _ in range(STEPS):
        if at_a < at_b:
            low, a, at_a = a, b, at_b
            b = low + GOLDEN * (high - low)
            at_b = function(b)
        else:
            high, b, at_b = b, a, at_a
            a = high - GOLDEN * (high - low)
            at_a = function(a)
    return (low + high) / 2, max(at_a, at_b)
