"""Reconstruction error RCE: how far what a recipient believes of a record is from what the record was.

A record's original value of an attribute is one point of its domain. A recipient who sees a generalized value of v
points, and holds the record for real with probability p, spreads p evenly over the v points:

    RCE = (1 - p/v)^2 + (v - 1) (p/v)^2 = 1 - 2p/v + p^2/v

Of a record: the mean over attributes, quasi-identifiers and sensitive ones; of a release: the mean over the original
records. Xiao and Tao 2006, Anatomy; Lee, Kim, Kim and Chung 2017, Utility-preserving anonymization for health data
publishing, figures 2 to 4.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medveil.hierarchy.hierarchy import Hierarchy

Numbers = NDArray[np.float64]


def reconstruction_error(points: ArrayLike, real: ArrayLike = 1.0) -> Numbers:
    """RCE of one attribute: `points` is how many values of the domain stand for the original one, `real` the
    probability that the record is no counterfeit.

    >>> [float(e) for e in reconstruction_error([1, 3, 3], [1.0, 1.0, 0.75])]
    [0.0, 0.6666666666666667, 0.6875]
    """
    v, p = np.asarray(points, dtype=np.float64), np.asarray(real, dtype=np.float64)
    return np.asarray(1.0 - 2.0 * p / v + p * p / v, dtype=np.float64)


def errors_by_level(hierarchies: Sequence[Hierarchy], columns: Sequence[NDArray[np.int64]]) -> list[Numbers]:
    """For each quasi-identifier and level, the mean of 1 - 1/v over the records: RCE where every record is real.

    `columns[j]` counts the records of each leaf of quasi-identifier j. RCE of a node is at least the sum of these
    over its levels, divided by the number of attributes: a catalog only adds (1 - p)^2 / v to some records.
    """
    tables = []
    for hierarchy, column in zip(hierarchies, columns, strict=True):
        total = float(column.sum())
        tables.append(
            np.array(
                [
                    float((column * reconstruction_error(level.covered[level.groups])).sum()) / total
                    for level in hierarchy.levels
                ]
            )
        )
    return tables
