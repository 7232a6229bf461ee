"""The distinct tuples with their counts: what every search works on instead of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.table.domain import Domain


@dataclass(frozen=True)
class Subjects:
    """Who the records of each cell belong to: cell i has `codes[offsets[i]:offsets[i + 1]]`, each once."""

    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    count: int


@dataclass(frozen=True)
class Cells:
    """Distinct (quasi codes, sensitive codes) with the number of records.

    `codes[j, i]` is the leaf code of cell i in quasi-identifier `quasi[j]`; `sensitive[name][i]` its sensitive code;
    `counts[i]` its records (0 for a tuple that is only in the population). Splitting a cell in two changes nothing.
    """

    quasi: tuple[str, ...]
    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    sensitive: dict[str, NDArray[np.int32]]
    domains: dict[str, Domain]
    subjects: Subjects | None = None
    population: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def records(self) -> int:
        return int(self.counts.sum())
