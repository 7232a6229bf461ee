"""Truthfulness: whether published records are about real people."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from medveil.comparison.flow import most_matched
from medveil.comparison.matching import match
from medveil.utility.measure import Comparison, Measure, Score, Skipped


class Truthfulness(Measure):
    """The share of published records that correspond to a real one.

        T = (largest number of published records that can stand for different original ones) / published records

    A published record can stand for an original one if its labels cover the original's quasi-identifiers and sensitive
    values. Counterfeits, noise and means lower it; generalization and suppression do not.
    """

    name: ClassVar[str] = "truthfulness"
    title: ClassVar[str] = "Truthfulness"
    lower_is_better: ClassVar[bool] = False

    def compute(self, comparison: Comparison) -> Score | Skipped:
        tuples = comparison.tuples
        if not len(tuples):
            return Skipped("nothing was published")
        cells = comparison.problem.cells
        codes = np.array([*cells.codes, *(cells.sensitive[name] for name in comparison.sensitive_coverage)])
        coverage = [*comparison.coverage.values(), *comparison.sensitive_coverage.values()]
        offsets, groups = match(codes.reshape(len(coverage), -1), tuples.labels, coverage)
        placed = most_matched(cells.counts, tuples.records, offsets, groups)
        return Score(float(placed.sum() / tuples.records.sum()))
