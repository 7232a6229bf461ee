"""Noise and selection on integers, from OpenDP.

Every function of this file is a mechanism of OpenDP with the scale that spends at most a given epsilon, by OpenDP's
own account (`map`). The scales are floats, which are rationals: `rate` is the exact one behind the noise, so that
what is sampled elsewhere for empty cells has the very same distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medveil.errors import InputError
from medveil.privacy.exact_sampling import tail

Integers = NDArray[np.int64]


def _opendp() -> Any:
    try:
        import opendp.prelude as dp  # noqa: PLC0415
    except ImportError:
        raise InputError("Differential privacy needs OpenDP.", "pip install 'medveil[dp]'") from None
    dp.enable_features("contrib")
    return dp


class GeometricNoise:
    """Two-sided geometric noise, P[X = x] = (1 - a) / (1 + a) * a^|x| with a = exp(-rate), on a vector of counts.

    It spends at most `epsilon` where one person changes the counts by at most `sensitivity` in all (L1).
    Ghosh, Roughgarden and Sundararajan 2012, Universally utility-maximizing privacy mechanisms.
    """

    def __init__(self, sensitivity: int, epsilon: float) -> None:
        self._measurement = _spending(_laplace, sensitivity, epsilon, sensitivity / epsilon)
        self.scale = float(self._measurement[1])
        self.rate = 1 / Fraction(self.scale)
        self._thresholds: dict[tuple[int, float], int] = {}

    def add(self, counts: Integers) -> Integers:
        """The counts with noise, each with its own."""
        if not len(counts):
            return np.zeros(0, dtype=np.int64)
        return np.array(self._measurement[0](counts.tolist()), dtype=np.int64)

    def threshold(self, places: int, expected: float) -> int:
        """The least T >= 1 which fewer than `expected` of so many counts of 0 are expected to reach."""
        if (places, expected) not in self._thresholds:
            self._thresholds[places, expected] = self._least(
                lambda t: places * Fraction(tail(self.rate, t).enclose(40)[1]) <= Fraction(expected)
            )
        return self._thresholds[places, expected]

    def stable_threshold(self, records: int, delta: float) -> int:
        """The least T that a person's values, where nobody else has them, reach with probability at most `delta`.

            records * P[X >= T - records] <= delta

        A person has at most `records` values, none with more than `records` records.
        """
        return records + self._least(lambda t: records * Fraction(tail(self.rate, t).enclose(40)[1]) <= Fraction(delta))

    @staticmethod
    def _least(fits: Callable[[int], bool]) -> int:
        high = 1
        while not fits(high):
            high *= 2
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if fits(middle) else (middle, high)
        return high


class Selection:
    """The index of a high score, by permute-and-flip (exponential noise and the largest).

    It spends at most `epsilon` where one person changes each score by at most `sensitivity`.
    McKenna and Sheldon 2020, Permute-and-flip: a new mechanism for differentially private selection.
    """

    def __init__(self, sensitivity: int, epsilon: float) -> None:
        self._measurement = _spending(_noisy_max, sensitivity, epsilon, 2 * sensitivity / epsilon)
        self.scale = float(self._measurement[1])

    def index(self, scores: Integers) -> int:
        return int(self._measurement[0](scores.tolist()))


@lru_cache(maxsize=64)
def _spending(make: Callable[[float], Any], sensitivity: int, epsilon: float, scale: float) -> tuple[Any, float]:
    """The measurement of least scale, from `scale` on, that spends at most epsilon; a float or two further up."""
    while True:
        measurement = make(scale)
        if measurement.map(sensitivity) <= epsilon:
            return measurement, scale
        scale = math.nextafter(scale, math.inf)


def _laplace(scale: float) -> Any:
    dp = _opendp()
    return dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale=scale)


def _noisy_max(scale: float) -> Any:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    return dp.m.make_noisy_max(*space, dp.max_divergence(), scale=scale)
