"""Losses of labels, averaged over records and quasi-identifiers, and distances of columns, averaged over them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from medveil.evaluation.coverage import Coverage
from medveil.utility.measure import Comparison, Measure, Score, Skipped
from medveil.utility.original import leaf_counts


def mean_over_records(comparison: Comparison, name: str, losses: NDArray[np.float64], unpublished: float) -> float:
    """The mean of `losses[label]` over published records, each as likely as it is real, and of `unpublished` for every
    record of the original that is not published.
    """
    counts = comparison.label_weights(name)
    total = float(counts.sum()) + comparison.unpublished
    if not total:
        return 0.0
    return float(counts @ losses + comparison.unpublished * unpublished) / total


def weighted_by_attribute(comparison: Comparison, losses: Callable[[Coverage], NDArray[np.float64]]) -> Score | Skipped:
    """The weighted mean over quasi-identifiers of a loss per label, 1 for a record that is not published."""
    if not comparison.coverage:
        return Skipped("there is no quasi-identifier")
    parts = {
        name: mean_over_records(comparison, name, losses(coverage), 1.0)
        for name, coverage in comparison.coverage.items()
    }
    weights = np.array([comparison.problem.weight(name) for name in parts])
    return Score(float(np.average(list(parts.values()), weights=weights)), parts=parts)


class DistanceOfColumns(Measure):
    """The mean over quasi-identifiers and sensitive attributes of how far a column is from the original's."""

    def compute(self, comparison: Comparison) -> Score | Skipped:
        columns = {**comparison.coverage, **comparison.sensitive_coverage}
        if not columns:
            return Skipped("there is no column to compare")
        if not len(comparison.classes):
            return Skipped("nothing was published")
        parts = {}
        for name, coverage in columns.items():
            parts[name] = self.distance(coverage, leaf_counts(comparison, name), comparison.label_weights(name))
        return Score(float(np.mean(list(parts.values()))), parts=parts)

    @abstractmethod
    def distance(self, coverage: Coverage, counts: NDArray[np.int64], published: NDArray[np.float64]) -> float:
        """How far apart `counts` of values in the original and `published` records by label are, from 0 to 1."""
