"""Losses of labels, averaged over records and quasi-identifiers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from medveil.comparison.coverage import Coverage
from medveil.utility.measure import Comparison, Score, Skipped


def mean_over_records(
    comparison: Comparison, coverage: Coverage, losses: NDArray[np.float64], unpublished: float
) -> float:
    """The mean of `losses[label]` over published records, and of `unpublished` for every record that is not."""
    kept = ~comparison.suppressed
    published = int(np.count_nonzero(kept))
    missing = comparison.unpublished
    if not published + missing:
        return 0.0
    counts = np.bincount(coverage.codes[kept], minlength=len(losses))
    return float(counts @ losses + missing * unpublished) / (published + missing)


def weighted_by_attribute(comparison: Comparison, losses: Callable[[Coverage], NDArray[np.float64]]) -> Score | Skipped:
    """The weighted mean over quasi-identifiers of a loss per label, 1 for a record that is not published."""
    if not comparison.coverage:
        return Skipped("there is no quasi-identifier")
    parts = {
        name: mean_over_records(comparison, coverage, losses(coverage), 1.0)
        for name, coverage in comparison.coverage.items()
    }
    weights = np.array([comparison.problem.weight(name) for name in parts])
    return Score(float(np.average(list(parts.values()), weights=weights)), parts=parts)
