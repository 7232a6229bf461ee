"""The share of records that were inserted."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from medveil.codes.combine import combine
from medveil.loss.information_loss import counterfeit_rate
from medveil.utility.measure import Comparison, Measure, Score, Skipped
from medveil.utility.truthfulness import real_records


class Rate(Measure):
    """The mean over classes of the share of their records that are nobody's.

        Rate = mean over classes E of counterfeit(E) / |E|

    counterfeit(E): the records of E that are left over where as many published records as possible stand for different
    real ones, quasi-identifiers and sensitive values taken together.

    Lee and Chung 2020, Differentially private release of medical microdata, equations 8 and 9.
    """

    name: ClassVar[str] = "rate"
    title: ClassVar[str] = "Rate of counterfeits"

    def compute(self, comparison: Comparison) -> Score | Skipped:
        tuples = comparison.tuples
        if not len(tuples):
            return Skipped("nothing was published")
        false = tuples.records - real_records(comparison)
        quasi = list(tuples.labels[: len(comparison.coverage)])
        sizes = [len(coverage.labels) for coverage in comparison.coverage.values()]
        first, numbers = combine(quasi, sizes, len(tuples))
        rows, counterfeit = (
            np.bincount(numbers, given, minlength=len(first)).astype(np.int64) for given in (tuples.records, false)
        )
        return Score(counterfeit_rate(rows, counterfeit))
