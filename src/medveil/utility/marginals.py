"""How far the distribution of each column is from the original's."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from medveil.evaluation.coverage import Coverage
from medveil.utility.per_attribute import DistanceOfColumns


class MarginalDistance(DistanceOfColumns):
    """The distance between each column's distribution in the original and in the release.

        TV = 1/2 sum over values of |p(value) - q(value)|, plus half of what q puts on no value of the original

    p: the original's shares; q: those of the published records, each label spread evenly over the values that it
    covers. The total variation distance: the largest error of any count of values of one column, as a share. The mean
    over quasi-identifiers and sensitive attributes.
    """

    name: ClassVar[str] = "marginal-distance"
    title: ClassVar[str] = "Distance of single columns"

    def distance(self, coverage: Coverage, counts: NDArray[np.int64], published: NDArray[np.float64]) -> float:
        shares = coverage.over_leaves(published) / published.sum()
        outside = max(1.0 - float(shares.sum()), 0.0)
        return float(np.abs(counts / counts.sum() - shares).sum() + outside) / 2
