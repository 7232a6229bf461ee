"""Truthfulness: whether published records are about real people."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from medveil.codes.combine import Codes
from medveil.evaluation.flow import most_matched
from medveil.evaluation.matching import match
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
        if not len(comparison.tuples):
            return Skipped("nothing was published")
        return Score(float(real_records(comparison).sum() / comparison.tuples.records.sum()))


def real_records(comparison: Comparison) -> Codes:
    """How many records of each published combination can stand for real ones, all combinations together; counted once
    for all who ask.
    """
    if "real" not in comparison.memory:
        tuples, cells = comparison.tuples, comparison.problem.cells
        codes = np.array([*cells.codes, *(cells.sensitive[name] for name in comparison.sensitive_coverage)])
        coverage = [*comparison.coverage.values(), *comparison.sensitive_coverage.values()]
        offsets, groups = match(codes.reshape(len(coverage), -1), tuples.labels, coverage)
        cell = np.repeat(np.arange(len(cells)), np.diff(offsets))
        order = np.argsort(groups, kind="stable")
        starts = np.searchsorted(groups[order], np.arange(len(tuples) + 1))
        comparison.memory["real"] = most_matched(tuples.records, cells.counts, starts, cell[order])
    found: Codes = comparison.memory["real"]
    return found
