"""The earth mover's distance of each attribute."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from medveil.evaluation.coverage import Coverage
from medveil.loss.earth_movers import ordered_distance, unordered_distance
from medveil.table.schema import Kind
from medveil.utility.per_attribute import DistanceOfColumns


class EarthMoversDistance(DistanceOfColumns):
    """How much of each attribute's distribution must be moved, and how far, to get back to the original's.

        numbers and dates:  EMD = 1/(m - 1) sum over i < m of |P(1..i) - Q(1..i)|
        other values:       EMD = 1/2 sum over values of |p - q|

    p, q: the shares of the m values in the original and in the release, each label spread evenly over what it covers;
    a number that is nobody's, such as a mean, counts for the nearest value, a missing one lies beyond the
    largest. The mean over quasi-identifiers and sensitive attributes.

    Li, Li and Venkatasubramanian 2007, t-closeness; for other values it is equation 7 of Lee and Chung 2020,
    Differentially private release of medical microdata.
    """

    name: ClassVar[str] = "emd"
    title: ClassVar[str] = "Earth mover's distance of columns"

    def distance(self, coverage: Coverage, counts: NDArray[np.int64], published: NDArray[np.float64]) -> float:
        shares = _over_values(coverage, published) / published.sum()
        apart = counts / counts.sum() - shares
        if coverage.domain.kind in {Kind.NUMBER, Kind.DATE} and len(apart) > 1:
            return ordered_distance(apart)
        nowhere = max(
            1.0 - float(shares.sum()), 0.0
        )  # what the release holds of values that the original does not have
        return unordered_distance(np.append(apart, nowhere))


def _over_values(coverage: Coverage, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weight on each value; points on the line that are no value go to the nearest one."""
    spread = coverage.over_leaves(weights)
    if coverage.line is None or not coverage.foreign.any():
        return spread
    numbers = coverage.domain.numbers[: len(coverage.domain.present)]
    runs = np.flatnonzero(coverage.foreign[coverage.line.label])
    middle = (coverage.line.starts[runs] + coverage.line.ends[runs]) / 2
    above = np.clip(np.searchsorted(numbers, middle), 1, max(len(numbers) - 1, 1))
    nearest = np.where(
        middle - numbers[above - 1] <= numbers[np.minimum(above, len(numbers) - 1)] - middle, above - 1, above
    )
    own = weights[coverage.line.label[runs]] * coverage.line.weights[runs]
    np.add.at(spread, np.minimum(nearest, len(numbers) - 1), own)
    return spread
