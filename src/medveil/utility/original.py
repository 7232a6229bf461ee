"""What measures read off the original: counts of values, and columns record by record."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medveil.utility.measure import Comparison


def cell_codes(comparison: Comparison, name: str) -> NDArray[np.int32]:
    """The leaf code of each cell in a quasi-identifier or a sensitive attribute."""
    return comparison.problem.cells.codes_of(name)


def leaf_counts(comparison: Comparison, name: str) -> NDArray[np.int64]:
    """How many records of the original have each value of a column."""
    return comparison.problem.cells.records_of(name)
