"""Whether pairs of columns go together in the release as they do in the original."""

from __future__ import annotations

import itertools
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from medveil.evaluation.spreading import Values, drawn, original
from medveil.utility.measure import Comparison, Measure, Score, Skipped
from medveil.utility.original import cell_codes

Floats = NDArray[np.float64]
LARGEST_TABLE = 1 << 22
"""Pairs of columns with more combinations of values than this are left out."""
DRAWN = 200_000
"""How many values are drawn for a column: the same number for every distinct combination of labels, one at least."""


class CorrelationDistance(Measure):
    """How far the association of two columns is from what it is in the original, on average over all pairs.

        D = mean over pairs of columns of |a(original) - a(release)|

    a: Pearson's correlation of two numbers (dates count as days), the correlation ratio of a number and a category,
    Cramer's V of two categories, corrected for bias. Every label of the release is replaced by a value drawn evenly
    from what it covers; missing values take no part with numbers.

    Cramer's V corrected: Bergsma 2013, A bias-correction for Cramer's V and Tschuprow's T.
    """

    name: ClassVar[str] = "correlation-distance"
    title: ClassVar[str] = "Distance of correlations"

    def compute(self, comparison: Comparison) -> Score | Skipped:
        columns = {**comparison.coverage, **comparison.sensitive_coverage}
        if len(columns) < 2:
            return Skipped("there are fewer than two columns to compare")
        if not len(comparison.classes):
            return Skipped("nothing was published")
        random = comparison.random(self.name)
        domains = comparison.problem.cells.domains
        before = {name: original(domains[name], cell_codes(comparison, name)) for name in columns}
        tuples = comparison.tuples
        draws = max(DRAWN // len(tuples), 1)
        after = {
            name: drawn(coverage, random, np.repeat(labels, draws))
            for (name, coverage), labels in zip(columns.items(), tuples.labels, strict=True)
        }
        weights = comparison.problem.cells.counts.astype(np.float64)
        published = np.repeat(tuples.records.astype(np.float64), draws) / draws
        parts, skipped = {}, {}
        for a, b in itertools.combinations(columns, 2):
            size = len(domains[a]) * len(domains[b])
            if before[a].numbers is None and before[b].numbers is None and size > LARGEST_TABLE:
                skipped[f"{a}, {b}"] = "they have too many values"
                continue
            then, now = association(before[a], before[b], weights), association(after[a], after[b], published)
            if then is None:
                skipped[f"{a}, {b}"] = "one of them does not vary"
            else:
                parts[f"{a}, {b}"] = abs(then - (now or 0.0))
        if not parts:
            return Skipped("no pair of columns has an association that could be compared")
        return Score(float(np.mean(list(parts.values()))), parts=parts, skipped=skipped)


def association(a: Values, b: Values, weights: Floats) -> float | None:
    """How closely two columns go together; None where one of them does not vary."""
    if a.numbers is not None and b.numbers is not None:
        known = ~np.isnan(a.numbers) & ~np.isnan(b.numbers) & (weights > 0)
        return _pearson(_scaled(a.numbers[known]), _scaled(b.numbers[known]), weights[known])
    if a.numbers is not None:
        a, b = b, a
    assert a.codes is not None
    if b.numbers is not None:
        known = ~np.isnan(b.numbers) & (a.codes >= 0) & (weights > 0)
        return _correlation_ratio(a.codes[known], _scaled(b.numbers[known]), weights[known])
    assert b.codes is not None
    known = (a.codes >= 0) & (b.codes >= 0) & (weights > 0)
    shape = (len(a.domain), len(b.domain))
    keys = a.codes[known] * shape[1] + b.codes[known]
    table = np.bincount(keys, weights[known], minlength=shape[0] * shape[1]).astype(np.float64)
    return _cramer(table.reshape(shape))


def _scaled(numbers: Floats) -> Floats:
    """Numbers by the largest of them: squares of very large ones would overflow."""
    largest = float(np.abs(numbers).max(initial=0.0))
    return numbers / largest if largest > 0 else numbers


def _pearson(a: Floats, b: Floats, weights: Floats) -> float | None:
    """Pearson: r = cov(a, b) / (sd(a) sd(b)), weighted."""
    if not len(a):
        return None
    da, db = a - np.average(a, weights=weights), b - np.average(b, weights=weights)
    spread = float(weights @ np.square(da)) * float(weights @ np.square(db))
    return float(weights @ (da * db)) / spread**0.5 if spread > 0 else None


def _correlation_ratio(codes: NDArray[np.int64], numbers: Floats, weights: Floats) -> float | None:
    """Correlation ratio: eta = sqrt(variance of the groups' means / variance), weighted."""
    if not len(codes):
        return None
    centred = numbers - np.average(numbers, weights=weights)
    total = float(weights @ np.square(centred))
    if total <= 0 or codes.min() == codes.max():
        return None
    size = np.bincount(codes, weights)
    sums = np.bincount(codes, weights * centred)
    between = float((np.square(sums[size > 0]) / size[size > 0]).sum())
    return float(min(between / total, 1.0) ** 0.5)


def _cramer(table: Floats) -> float | None:
    """V = sqrt(phi^2 / min(r - 1, c - 1)), each corrected for what chance alone would give."""
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    rows, columns = table.shape
    number = float(table.sum())
    if rows < 2 or columns < 2 or number < 2:
        return None
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / number
    phi = float((np.square(table - expected) / expected).sum()) / number
    phi = max(phi - (rows - 1) * (columns - 1) / (number - 1), 0.0)
    r, c = rows - (rows - 1) ** 2 / (number - 1), columns - (columns - 1) ** 2 / (number - 1)
    least = min(r, c) - 1
    return min((phi / least) ** 0.5, 1.0) if least > 0 else None
