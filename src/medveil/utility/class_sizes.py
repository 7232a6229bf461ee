"""Measures that read the sizes of the published classes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from medveil.loss.class_sizes import average_class_size, discernibility
from medveil.utility.measure import Comparison, Measure, Score, Skipped


class Discernibility(Measure):
    """How many records each record cannot be told from.

        DM = (sum over classes of |E|^2 + suppressed * n) / n^2

    |E|: a class's records; n: the records of the input. Bayardo and Agrawal 2005, Data privacy through optimal
    k-anonymization; divided by n^2, so that 1 is one class of all.
    """

    name: ClassVar[str] = "discernibility"
    title: ClassVar[str] = "Discernibility"
    needs_original: ClassVar[bool] = False

    def compute(self, comparison: Comparison) -> Score | Skipped:
        sizes = comparison.classes.records.astype(np.float64)
        total = float(comparison.problem.cells.records)
        if not total:
            return Skipped("there are no records")
        return Score(discernibility(float(np.square(sizes).sum()), comparison.unpublished, total))


class AverageClassSize(Measure):
    """The mean number of records in a class, over the k that is asked for: 1 is best.

    C_avg = (published records / classes) / k. LeFevre, DeWitt and Ramakrishnan 2006, Mondrian.
    """

    name: ClassVar[str] = "average-class-size"
    title: ClassVar[str] = "Average class size over k"
    needs_original: ClassVar[bool] = False

    def compute(self, comparison: Comparison) -> Score | Skipped:
        sizes = comparison.classes.records
        if not len(sizes):
            return Skipped("nothing was published")
        return Score(average_class_size(float(sizes.sum()), len(sizes), comparison.problem.k))
