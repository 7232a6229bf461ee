"""Which published classes an attacker takes where numbers are published that stand for nobody's value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medveil.codes.combine import Codes
from medveil.evaluation.comparison import Comparison
from medveil.evaluation.coverage import Coverage

BLOCK = 1 << 23
"""The most pairs of targets and classes that are compared at a time."""


def nearest_classes(comparison: Comparison, codes: NDArray[np.int32]) -> tuple[Codes, Codes]:
    """For each tuple the classes that cover it in every column of ranges, sets and values, and of those the ones whose
    other numbers are nearest on the whole, each column counted by its range; of all classes where none covers it.
    """
    labels = comparison.classes.labels
    coverage = list(comparison.coverage.items())
    step = max(BLOCK // max(labels.shape[1], 1), 1)
    found, sizes = [], []
    for start in range(0, codes.shape[1], step):
        block = codes[:, start : start + step]
        fits = np.ones((block.shape[1], labels.shape[1]), dtype=np.bool_)
        apart = np.zeros(fits.shape)
        for j, (name, column) in enumerate(coverage):
            if name in comparison.approximate and column.line is not None:
                apart += distances(column, block[j])[:, labels[j]]
            else:
                fits &= column.leaves.T[block[j]][:, labels[j]]
        fits[~fits.any(axis=1)] = True
        apart[~fits] = np.inf
        best = fits & (apart <= apart.min(axis=1, keepdims=True) + 1e-12)
        sizes.append(best.sum(axis=1))
        found.append(np.nonzero(best)[1])
    return np.concatenate([[0], np.cumsum(np.concatenate(sizes))]), np.concatenate(found)


def distances(column: Coverage, codes: NDArray[np.int32] | NDArray[np.int64]) -> NDArray[np.float64]:
    """How far the middle of each label is from each value, as a share of the column's range; 0 where one is missing."""
    assert column.line is not None
    # Halves, because the range of numbers near the largest ones is beyond all numbers.
    halves = column.domain.numbers / 2
    width = float(np.nanmax(halves) - np.nanmin(halves)) or 1.0
    middle = column.line.weights * (column.line.starts / 4 + column.line.ends / 4)
    middles = np.bincount(column.line.label, middle, minlength=len(column.labels))
    middles[np.diff(column.line.offsets) == 0] = np.nan
    apart = np.abs(middles[None, :] - halves[codes][:, None]) / width
    return np.asarray(np.nan_to_num(apart, nan=0.0), dtype=np.float64)
