"""How far the distribution of each column is from the original's."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from medveil.comparison.coverage import Coverage
from medveil.utility.measure import Comparison, Measure, Score, Skipped
from medveil.utility.original import leaf_counts


class MarginalDistance(Measure):
    """The distance between each column's distribution in the original and in the release.

        TV = 1/2 sum over values of |p(value) - q(value)|, plus half of what q puts on no value of the original

    p: the original's shares; q: those of the published records, each label spread evenly over the values that it
    covers. The total variation distance: the largest error of any count of values of one column, as a share. The mean
    over quasi-identifiers and sensitive attributes.
    """

    name: ClassVar[str] = "marginal-distance"
    title: ClassVar[str] = "Distance of single columns"

    def compute(self, comparison: Comparison) -> Score | Skipped:
        columns = {**comparison.coverage, **comparison.sensitive_coverage}
        if not columns:
            return Skipped("there is no column to compare")
        if not len(comparison.classes):
            return Skipped("nothing was published")
        parts = {name: self._distance(comparison, name, coverage) for name, coverage in columns.items()}
        return Score(float(np.mean(list(parts.values()))), parts=parts)

    def _distance(self, comparison: Comparison, name: str, coverage: Coverage) -> float:
        counts = leaf_counts(comparison, name)
        published = np.bincount(coverage.codes[~comparison.suppressed], minlength=len(coverage.labels))
        shares = coverage.over_leaves(published.astype(np.float64)) / published.sum()
        outside = max(1.0 - float(shares.sum()), 0.0)
        return float(np.abs(counts / counts.sum() - shares).sum() + outside) / 2
