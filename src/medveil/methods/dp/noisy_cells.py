"""Every cell of a declared domain with noise and a threshold, at the cost of those that pass it.

A cell with c records is published as c + X where that is at least T, X two-sided geometric and T >= 1 fixed before the
data are seen. A cell without records passes with probability a^T / (1 + a), and is then published as T plus a
geometric variable; cells pass independently, so those without records are found by geometric skips over the whole
range, in which hits on cells that have records (and their own noise) are dropped.

Cormode, Procopiuc, Srivastava and Tran 2012, Differentially private summaries for sparse data.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from medveil.privacy.exact_sampling import SYSTEM, Geometric, Hits, Randomness, exponential, tail
from medveil.privacy.integer_noise import GeometricNoise

Integers = NDArray[np.int64]


class NoisyCells:
    """The cells 0, 1, ..., size - 1 of a domain under one noise and one threshold."""

    def __init__(self, noise: GeometricNoise, size: int, threshold: int) -> None:
        self.noise = noise
        self.size = size
        self.threshold = threshold
        self._hits = Hits(tail(noise.rate, threshold), size)
        self._surplus = Geometric.unlimited(exponential(noise.rate))

    def publish(self, keys: Integers, counts: Integers, randomness: Randomness = SYSTEM) -> tuple[Integers, Integers]:
        """The cells that pass, ascending, with their noisy counts; `keys` are the cells that have records."""
        noisy = self.noise.add(counts)
        passed = noisy >= self.threshold
        empty, surplus = self.empty(keys, randomness)
        every_key = np.concatenate([keys[passed], empty])
        every_count = np.concatenate([noisy[passed], self.threshold + surplus])
        # Sorted by what is published: cells that have records do not come first.
        order = np.argsort(every_key, kind="stable")
        return every_key[order], every_count[order]

    def empty(self, keys: Integers, randomness: Randomness = SYSTEM) -> tuple[Integers, Integers]:
        """Which cells without records pass, and by how much."""
        hit = self._hits.draw(randomness)
        empty = hit[~np.isin(hit, keys)]
        return empty, self._surplus.draw(len(empty), randomness)


@lru_cache(maxsize=512)
def noisy_cells(noise: GeometricNoise, size: int, threshold: int) -> NoisyCells:
    """The same, made once: the bits of its probabilities take a moment."""
    return NoisyCells(noise, size, threshold)


Publish = Callable[[Integers, Integers], tuple[Integers, Integers]]
