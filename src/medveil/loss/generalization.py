"""What a published value loses by standing for more of its domain than one value.

LM, Iyengar 2002, Transforming data to satisfy privacy constraints; NCP, Xu, Wang, Pei, Wang, Shi and Fu 2006,
Utility-based anonymization using local recoding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]


def loss_metric(covered: ArrayLike, size: float) -> Numbers:
    """LM of values that cover so many leaves of a domain of `size`: (covered - 1) / (size - 1), from 0 to 1.

    >>> loss_metric([1, 3, 5], 5).tolist(), loss_metric([1], 1).tolist()
    ([0.0, 0.5, 1.0], [0.0])
    """
    lost = np.maximum(np.asarray(covered, dtype=np.float64) - 1.0, 0.0)
    return np.asarray(lost / max(size - 1.0, 1.0), dtype=np.float64)


def certainty_penalty(covered: ArrayLike, size: float) -> Numbers:
    """NCP of values that cover so many leaves of a domain of `size`: covered / size, 0 for a single leaf.

    >>> certainty_penalty([1, 3, 5], 5).tolist()
    [0.0, 0.6, 1.0]
    """
    leaves = np.asarray(covered, dtype=np.float64)
    return np.where(leaves > 1.0, leaves / max(size, 1.0), 0.0)
