"""Measures that read the sizes of the published classes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.utility.measure import Comparison, Measure, Score, Skipped


def class_sizes(comparison: Comparison) -> NDArray[np.int64]:
    """How many published records share each published combination of quasi-identifiers."""
    quasi = list(comparison.problem.schema.quasi)
    table = comparison.published.filter(pa.array(~comparison.suppressed)).select(quasi)
    counted = table.append_column("one", pa.array(np.ones(len(table), dtype=np.int64)))
    return np.asarray(counted.group_by(quasi).aggregate([("one", "sum")])["one_sum"])


class Discernibility(Measure):
    """How many records each record cannot be told from.

        DM = (sum over classes of |E|^2 + suppressed * n) / n^2

    |E|: a class's records; n: the records of the input. Bayardo and Agrawal 2005, Data privacy through optimal
    k-anonymization; divided by n^2, so that 1 is one class of all.
    """

    name: ClassVar[str] = "discernibility"
    title: ClassVar[str] = "Discernibility"

    def compute(self, comparison: Comparison) -> Score | Skipped:
        sizes = class_sizes(comparison).astype(np.float64)
        total = float(comparison.problem.cells.records)
        suppressed = max(total - float(sizes.sum()), 0.0)
        return Score((float(np.square(sizes).sum()) + suppressed * total) / total**2)


class AverageClassSize(Measure):
    """The mean number of records in a class, over the k that is asked for: 1 is best.

    C_avg = (published records / classes) / k. LeFevre, DeWitt and Ramakrishnan 2006, Mondrian.
    """

    name: ClassVar[str] = "average-class-size"
    title: ClassVar[str] = "Average class size over k"

    def compute(self, comparison: Comparison) -> Score | Skipped:
        sizes = class_sizes(comparison)
        if not len(sizes):
            return Skipped("nothing was published")
        return Score(float(sizes.mean()) / comparison.problem.k)
