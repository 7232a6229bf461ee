"""Reconstruction error RCE: how far what a recipient believes of a record is from what the record was.

A record's original value of an attribute is one point of its domain. A recipient who sees a generalized value of v
points, and holds the record for real with probability p, spreads p evenly over the v points:

    RCE = (1 - p/v)^2 + (v - 1) (p/v)^2 = e + (1 - p)^2 (1 - e)        e = 1 - 1/v

e is what generalization costs alone. For a category any wrong value is as wrong as the next; in an ordered column a
near one is less so, and e is the Cramer distance between the value and the evenly spread label, as a share of that
of the whole domain of N points:

    e = (v - 1/v) / (N - 1/N)        the mean of sum over t of (F(t) - [value <= t])^2, divided by its value at v = N

Of a record: the mean over attributes, quasi-identifiers and sensitive ones; of a release: the mean over the original
records. Xiao and Tao 2006, Anatomy; Lee, Kim, Kim and Chung 2017, Utility-preserving anonymization for health data
publishing, figures 2 to 4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]


def reconstruction_error(points: ArrayLike, real: ArrayLike = 1.0) -> Numbers:
    """RCE of one attribute: `points` is how many values of the domain stand for the original one, `real` the
    probability that the record is not a counterfeit.

    >>> [float(e) for e in reconstruction_error([1, 3, 3], [1.0, 1.0, 0.75])]
    [0.0, 0.6666666666666667, 0.6875]
    """
    v, p = np.asarray(points, dtype=np.float64), np.asarray(real, dtype=np.float64)
    return np.asarray(1.0 - 2.0 * p / v + p * p / v, dtype=np.float64)


ROOM = 1e-12
"""A domain of one value leaves nothing to get wrong."""


def ordered_error(points: ArrayLike, size: float) -> Numbers:
    """The cost e of labels of so many `points` in an ordered column of `size`.

    >>> [round(float(e), 3) for e in ordered_error([1, 10, 400], 400)]
    [0.0, 0.025, 1.0]
    """
    v = np.asarray(points, dtype=np.float64)
    return np.asarray((v - 1.0 / v) / max(size - 1.0 / size, ROOM), dtype=np.float64)
