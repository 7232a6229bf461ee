"""Strata of informative values, and the thresholds of their cells: functions of noisy numbers and the policy alone.

Step B of docs/proofs/ipa.md. Common values bear fine classes, rare ones coarse classes; so values whose noisy totals
are alike share a node.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from medveil.privacy.integer_noise import GeometricNoise

Integers = NDArray[np.int64]

FIRST_EDGE = 2.0
"""The first stratum ends at so many times the scale of the totals' noise: below it totals are mostly noise."""
WIDTH = 2.0
"""Each further stratum ends at so many times the end of the one before."""
FALSE_ROW = 7.0
"""What a row that nobody stands behind costs, in suppressed records, is the root of the stratum's records divided by
this: the paper's Rate is a mean over classes, of which there are more where there are more records, so that a row in a
small class costs n / (number of classes)."""
CLASS_THRESHOLDS = 5
"""A class is published where it has rows for so many cells at their threshold."""
LEAST_RECORDS = 8.0


def cut(noisy_totals: NDArray[np.float64], scale: float) -> list[Integers]:
    """The strata, as ascending positions of values: those below 2 scales, up to 4 scales, up to 8 scales, ...

    >>> [stratum.tolist() for stratum in cut(np.array([5.0, 3000.0, 19.0, 45.0, 40.0]), 10.0)]
    [[0, 2], [3, 4], [1]]
    """
    first = FIRST_EDGE * scale
    above = np.maximum(noisy_totals, 1) / first
    band = np.where(above < 1, -1, np.floor(np.log(np.maximum(above, 1)) / math.log(WIDTH))).astype(np.int64)
    return [np.flatnonzero(band == one) for one in np.unique(band)]


def expected_threshold(noise: GeometricNoise, cells: int, records: float) -> int:
    """The threshold at which a stratum is expected to lose least.

        E(T) = n ln T / ln n + w M P[X >= T] (T + b),   w = sqrt(n) / 7

    n: the stratum's noisy number of records, whose cells are taken to be as even over orders of magnitude (Zipf), so
    that ln T / ln n of them lie in cells below T. M: its cells; X: their noise, of scale b. A cell without records that
    passes is published as about T + b rows, each of which costs w suppressed records. E falls while

        n / (T ln n) < w M a^T T / (b (1 + a)),   a = exp(-1 / b),

    and rises from then on; where it never falls beyond T = 2b, everything is published (T = 1).
    """
    scale, held = noise.scale, max(records, LEAST_RECORDS)
    gain = math.log(held) - math.log(math.log(held))
    cost = (
        math.log(cells) + math.log(held) / 2 - math.log(FALSE_ROW) - math.log(scale) - math.log1p(math.exp(-1 / scale))
    )

    def falls(threshold: float) -> bool:
        return gain < cost - threshold / scale + 2 * math.log(threshold)

    low = max(1.0, 2 * scale)
    if not falls(low):
        return 1
    high = 2 * low
    while falls(high):
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if falls(middle) else (low, middle)
    return math.ceil(high)
