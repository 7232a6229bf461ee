"""Tails of the binomial distribution, for bounds that are then rounded to the safe side."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray


def binomial_tail(events: int, runs: int, p: float) -> float:
    """P[B >= events] for B the number of events of probability p in so many runs, to about ten digits.

    >>> round(binomial_tail(2, 3, 0.5), 9), binomial_tail(0, 5, 0.1), binomial_tail(6, 5, 0.1)
    (0.5, 1.0, 0.0)
    """
    if events <= 0 or p >= 1:
        return float(events <= runs)
    if events > runs or p <= 0:
        return 0.0
    k = np.arange(events, runs + 1)
    logs = _log_factorials(runs)
    terms = logs[runs] - logs[k] - logs[runs - k] + k * math.log(p) + (runs - k) * math.log1p(-p)
    return min(float(np.exp(terms).sum()), 1.0)


@lru_cache(maxsize=32)
def _log_factorials(number: int) -> NDArray[np.float64]:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, number + 1)))])
