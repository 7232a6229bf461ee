"""Reconstruction error: how far what a recipient believes of a record is from what it was."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from medveil.evaluation.coverage import Coverage
from medveil.loss.reconstruction import reconstruction_error
from medveil.utility.measure import Comparison, Measure, Score, Skipped

Numbers = NDArray[np.float64]


class ReconstructionError(Measure):
    """How far the published values of a record are from its own, one attribute at a time.

        RCE = mean over records and attributes of 1 - 2p/v + p^2/v

    v: the values of the domain that the published one covers; p: the probability that the record is not a counterfeit,
    by the catalog r_i/|R|, or 1 - count / records of its row where it tells no people; 1 where there is none. A record
    that is not published is spread over the whole domain. Where there are counterfeits each published record counts
    with its p.

    Xiao and Tao 2006, Anatomy; Lee, Kim, Kim and Chung 2017, Utility-preserving anonymization for health data.
    """

    name: ClassVar[str] = "rce"
    title: ClassVar[str] = "Reconstruction error (RCE)"

    def compute(self, comparison: Comparison) -> Score | Skipped:
        coverage = _coverage(comparison)
        if not coverage:
            return Skipped("there is no quasi-identifier")
        kept = ~comparison.suppressed
        real, rows = comparison.reality[kept], comparison.real_rows[kept]
        parts = {
            name: mean_error(one.covered[one.codes][kept], real, rows, one.size, comparison.problem.cells.records)
            for name, one in coverage.items()
        }
        return Score(float(np.mean(list(parts.values()))), parts=parts)


class JointReconstructionError(Measure):
    """The same over the product of all domains: v is the product of what the attributes' values cover.

    It is near 1 for nearly every release, and tells few of them apart.
    """

    name: ClassVar[str] = "rce-joint"
    title: ClassVar[str] = "Reconstruction error over all attributes together"

    def compute(self, comparison: Comparison) -> Score | Skipped:
        coverage = _coverage(comparison)
        if not coverage:
            return Skipped("there is no quasi-identifier")
        kept = ~comparison.suppressed
        points = np.ones(int(np.count_nonzero(kept)))
        size = 1.0
        for one in coverage.values():
            points = points * one.covered[one.codes][kept]
            size *= one.size
        real, rows = comparison.reality[kept], comparison.real_rows[kept]
        return Score(mean_error(points, real, rows, size, comparison.problem.cells.records))


def mean_error(points: Numbers, real: Numbers, rows: Numbers, size: float, records: int) -> float:
    """The mean over the original records: published ones as likely as they are real, the others spread over all.
    `rows`: how many real records are expected behind each line of the published table.
    """
    missing = max(records - float(rows.sum()), 0.0)
    lost = missing * float(reconstruction_error(max(size, 1.0)))
    found = float((rows * reconstruction_error(points, real)).sum())
    return (found + lost) / (float(rows.sum()) + missing)


def _coverage(comparison: Comparison) -> dict[str, Coverage]:
    """What labels stand for, of quasi-identifiers and sensitive attributes; nothing without a quasi-identifier."""
    if not comparison.coverage:
        return {}
    return {**comparison.coverage, **comparison.sensitive_coverage}
