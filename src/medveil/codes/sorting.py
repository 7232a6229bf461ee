"""A sort for kernels. Numba compiles its own anew in every kernel that sorts, which takes seconds each; this once."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

RUN = 16
"""Runs of so many keys are sorted by insertion, then merged."""


@njit(cache=True, nogil=True)
def ascending(keys: NDArray[np.float64]) -> NDArray[np.int64]:
    """The positions of the keys from the least to the largest, equal ones in their order: a merge sort."""
    size = len(keys)
    order = np.empty(size, dtype=np.int64)
    for start in range(0, size, RUN):
        for place in range(start, min(start + RUN, size)):
            free = place
            while free > start and keys[order[free - 1]] > keys[place]:
                order[free] = order[free - 1]
                free -= 1
            order[free] = place
    merged = np.empty(size, dtype=np.int64)
    width = RUN
    while width < size:
        for start in range(0, size, 2 * width):
            middle, end = min(start + width, size), min(start + 2 * width, size)
            left, right = start, middle
            for place in range(start, end):
                if right >= end or (left < middle and keys[order[left]] <= keys[order[right]]):
                    merged[place] = order[left]
                    left += 1
                else:
                    merged[place] = order[right]
                    right += 1
        order, merged = merged, order
        width *= 2
    return order
