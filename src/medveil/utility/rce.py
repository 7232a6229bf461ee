"""Reconstruction error: how far what a recipient believes of a record is from what it was."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.evaluation.coverage import Coverage
from medveil.loss.reconstruction import reconstruction_error
from medveil.release.catalog import CATALOG, CLASS_ID, Entry, entries_of
from medveil.utility.measure import Comparison, Measure, Score, Skipped

Numbers = NDArray[np.float64]


class ReconstructionError(Measure):
    """How far the published values of a record are from its own, one attribute at a time.

        RCE = mean over records and attributes of 1 - 2p/v + p^2/v

    v: the values of the domain that the published one covers; p: the probability that the record is no counterfeit,
    by the catalog 1 - count / records of its row, 1 where there is none. A record that is not published is spread over
    the whole domain. Where there are counterfeits each published record counts with its p.

    Xiao and Tao 2006, Anatomy; Lee, Kim, Kim and Chung 2017, Utility-preserving anonymization for health data.
    """

    name: ClassVar[str] = "rce"
    title: ClassVar[str] = "Reconstruction error (RCE)"

    def compute(self, comparison: Comparison) -> Score | Skipped:
        coverage = _coverage(comparison)
        if not coverage:
            return Skipped("there is no quasi-identifier")
        kept = ~comparison.suppressed
        real = reality(comparison)[kept]
        parts = {
            name: mean_error(one.covered[one.codes][kept], real, one.size, comparison.problem.cells.records)
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
        real = reality(comparison)[kept]
        return Score(mean_error(points, real, size, comparison.problem.cells.records))


def mean_error(points: Numbers, real: Numbers, size: float, records: int) -> float:
    """The mean over the original records: published ones as likely as they are real, the others spread over all."""
    missing = max(records - float(real.sum()), 0.0)
    lost = missing * float(reconstruction_error(max(size, 1.0)))
    found = float((real * reconstruction_error(points, real)).sum())
    return (found + lost) / (float(real.sum()) + missing)


def _coverage(comparison: Comparison) -> dict[str, Coverage]:
    """What labels stand for, of quasi-identifiers and sensitive attributes; nothing without a quasi-identifier."""
    if not comparison.coverage:
        return {}
    return {**comparison.coverage, **comparison.sensitive_coverage}


def reality(comparison: Comparison) -> Numbers:
    """The probability of each published record to be real, by the catalog where there is one."""
    published = comparison.published
    real = np.ones(published.num_rows)
    catalog = comparison.companions.get(CATALOG)
    sensitive = list(comparison.problem.schema.sensitive)
    if catalog is None or CLASS_ID not in published.column_names:
        return real
    entries = entries_of(catalog, len(sensitive))
    if not entries:
        return real
    tuples, code_of = _tuples(comparison, sensitive)
    numbers = np.asarray(published[CLASS_ID].cast(pa.string()).cast(pa.int64()))
    keys = numbers * (len(code_of) + 1) + tuples
    listed, row = _listed(entries, code_of)
    order = np.argsort(listed)
    place = np.minimum(np.searchsorted(listed[order], keys), len(listed) - 1)
    met = listed[order][place] == keys
    row_of = row[order][place]
    total = np.bincount(row_of[met], minlength=len(entries))
    share = np.array([entry.count for entry in entries]) / np.maximum(total, 1)
    real[met] = 1.0 - share[row_of[met]]
    return real


def _tuples(
    comparison: Comparison, sensitive: list[str]
) -> tuple[NDArray[np.int64], dict[tuple[str | None, ...], int]]:
    """The number of each published record's tuple of sensitive values, and what the numbers mean."""
    coverage = [comparison.sensitive_coverage[name] for name in sensitive]
    codes = np.stack([one.codes for one in coverage])
    distinct, of_row = np.unique(codes, axis=1, return_inverse=True)
    values = (tuple(one.labels[code] for one, code in zip(coverage, column, strict=True)) for column in distinct.T)
    return of_row.reshape(-1).astype(np.int64), {value: number for number, value in enumerate(values)}


def _listed(
    entries: list[Entry], code_of: dict[tuple[str | None, ...], int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The key of each class that a row of the catalog lists with the row's values, and the row."""
    nowhere = len(code_of)
    keys = [
        (number * (len(code_of) + 1) + code_of.get(entry.values, nowhere), row)
        for row, entry in enumerate(entries)
        for number in entry.class_ids
    ]
    found = np.array(keys, dtype=np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]
