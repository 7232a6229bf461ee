"""Confidence intervals of means, by drawing the sample again and again from itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1000


def mean_interval(figures: NDArray[np.float64], random: np.random.Generator) -> tuple[float, float]:
    """The middle 95 % of the means of samples drawn with replacement (Efron 1979; the percentile interval)."""
    if not len(figures):
        return float("nan"), float("nan")
    means = np.array([figures[random.integers(0, len(figures), len(figures))].mean() for _ in range(RESAMPLES)])
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
