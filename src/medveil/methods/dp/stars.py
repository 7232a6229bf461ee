"""Rows of `*`: what the cells lack of the noisy totals. Post-processing, and so free."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from medveil.privacy.exact_sampling import SYSTEM, Randomness

Integers = NDArray[np.int64]


def shrunk(differences: Integers, variance: float) -> Integers:
    """Differences drawn together to their mean by as much as noise of this variance drives them apart.

        d' = mean + max(0, 1 - variance / variance of the d) (d - mean)

    James and Stein 1961, Estimation with quadratic loss.

    >>> shrunk(np.array([10, -10, 30, 10]), 100.0).tolist(), shrunk(np.array([1, 3]), 50.0).tolist()
    ([10, 0, 20, 10], [2, 2])
    """
    if not len(differences):
        return differences
    mean, spread = float(differences.mean()), float(differences.var())
    kept = max(0.0, 1.0 - variance / spread) if spread > 0 else 0.0
    drawn: Integers = np.rint(mean + kept * (differences - mean)).astype(np.int64)
    return drawn


def without_surplus(differences: Integers, total: int | None = None) -> Integers:
    """Numbers of rows that add up to `total` (the sum of the differences; 0 where that is negative), near each of them.

    Cutting negative noise off would leave all the positive noise in, a surplus of rows; so the same amount t is taken
    from every difference first: max(0, d - t), with the t that gives the right sum.

    >>> without_surplus(np.array([5, -3, 4, 0])).tolist(), without_surplus(np.array([1, -4])).tolist()
    ([4, 0, 2, 0], [0, 0])
    >>> without_surplus(np.array([1, 1]), 5).tolist()
    [3, 2]
    """
    total = int(differences.sum()) if total is None else total
    if total <= 0 or not len(differences):
        return np.zeros(len(differences), dtype=np.int64)
    order = np.argsort(-differences, kind="stable")
    falling = differences[order]
    # With the first i kept, t = (their sum - total) / i; the largest i whose last one stays above t is the one.
    excess = np.cumsum(falling) - total
    kept = int(np.flatnonzero(falling * np.arange(1, len(falling) + 1) > excess)[-1]) + 1
    whole, rest = divmod(int(excess[kept - 1]), kept)
    rows = np.zeros(len(differences), dtype=np.int64)
    rows[order[:kept]] = falling[:kept] - whole
    # What t is more than a whole number is one row less for the smallest of those kept.
    rows[order[kept - rest : kept]] -= 1
    return rows


def paired(each: Sequence[Integers], sizes: Sequence[int], randomness: Randomness = SYSTEM) -> Integers:
    """Rows that need a value of each of several attributes: the values of each, in random order, side by side.

    each: for each attribute, how many rows have each of its values; the sums are equal. What comes out counts rows by
    combination, numbered with the last attribute running fastest.
    """
    rows = int(each[0].sum())
    numbers = np.zeros(rows, dtype=np.int64)
    for counts, size in zip(each, sizes, strict=True):
        order = np.argsort(randomness.words(rows))
        numbers = numbers * size + np.repeat(np.arange(size), counts)[order]
    return np.bincount(numbers, minlength=int(np.prod(sizes))).astype(np.int64)
