"""The equivalence classes of one generalization: sizes and sensitive histograms as flat arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Histogram:
    """How often each class holds each sensitive value: class i has the pairs `offsets[i]:offsets[i + 1]` of
    `values` (codes, ascending within the class) and `counts` (positive; of people where a subject is declared).
    """

    offsets: NDArray[np.int64]
    values: NDArray[np.int32]
    counts: NDArray[np.int64]

    @cached_property
    def classes(self) -> NDArray[np.int64]:
        """The class of each pair."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        """The sum of each class's counts: its records, or its distinct (person, value) pairs."""
        running = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(self.counts)))
        return np.diff(running[self.offsets])

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The share of each pair in its class: p = count / total."""
        return np.asarray(self.counts / self.totals[self.classes], dtype=np.float64)


@dataclass(frozen=True)
class Classes:
    """Equivalence classes: `sizes` in people (in records where no subject is declared), `records` in records.

    Every class has at least one record, except with a population, where a class may hold none.
    """

    sizes: NDArray[np.int64]
    records: NDArray[np.int64]
    histograms: Mapping[str, Histogram]
    population: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.sizes)
