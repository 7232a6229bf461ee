"""The earth mover's distance of two distributions: how much must be moved, and how far."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def unordered_distance(apart: Numbers) -> float:
    """Every two values are equally far apart: EMD = 1/2 sum of |p - q|, where `apart` holds p - q.

    Lee and Chung 2020, Differentially private release of medical microdata, equation 7.

    >>> unordered_distance(np.array([0.5, -0.5]))
    0.5
    """
    return float(np.abs(apart).sum() / 2)


def ordered_distance(apart: Numbers) -> float:
    """Values on a line, neighbours equally far apart: EMD = 1/(m - 1) sum over i < m of |P(1..i) - Q(1..i)|.

    Li, Li and Venkatasubramanian 2007, t-closeness.

    >>> ordered_distance(np.array([0.5, 0.0, -0.5])), ordered_distance(np.array([0.0]))
    (0.5, 0.0)
    """
    return float(np.abs(np.cumsum(apart)[:-1]).sum() / (len(apart) - 1)) if len(apart) > 1 else 0.0


def earth_movers_distance(original: Numbers, published: Numbers) -> float:
    """The unordered distance between two tables, given the records of each cell; 1 where one of them is empty."""
    if not original.sum() or not published.sum():
        return float(original.sum() != published.sum())
    return unordered_distance(original / original.sum() - published / published.sum())
