"""How closely two columns go together, where each is labels that are spread evenly over what they cover."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from medveil.evaluation.coverage import Coverage
from medveil.evaluation.runs import Runs, are_whole
from medveil.table.domain import Domain
from medveil.table.schema import Kind

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Numbers:
    """A column of numbers: the label of each item; for each label which share of it is a number at all, and the mean
    and the variance of these numbers, on a scale of its own.
    """

    labels: Codes
    known: Floats
    mean: Floats
    variance: Floats


@dataclass(frozen=True)
class Categories:
    """A column of categories: the label of each item, and the leaves, `size` of them, that each label covers."""

    labels: Codes
    held: Runs
    size: int
    weights: Floats | None = None
    """How common each leaf is where marginals say so; labels are then spread by them."""

    @property
    def known(self) -> Floats:
        """1 for each label that covers a leaf."""
        return (np.diff(self.held.offsets) > 0).astype(np.float64)

    def over_leaves(self, rows: Floats) -> Floats:
        """Rows by leaf, where row i of `rows` is spread evenly over the leaves of label i."""
        found = np.zeros((self.size, rows.shape[1]))
        if self.weights is not None:
            return self._by_weights(rows, self.weights)
        starts, ends = self.held.starts.astype(np.int64), self.held.ends.astype(np.int64)
        shares = self.held.weights / (ends - starts)
        single = ends - starts == 1
        np.add.at(found, starts[single], rows[self.held.label[single]] * shares[single, None])
        for run in np.flatnonzero(~single):
            found[starts[run] : ends[run]] += rows[self.held.label[run]] * shares[run]
        return found

    def _by_weights(self, rows: Floats, weights: Floats) -> Floats:
        found = np.zeros((self.size, rows.shape[1]))
        for label in range(len(self.held)):
            runs = range(self.held.offsets[label], self.held.offsets[label + 1])
            leaves = [np.arange(int(self.held.starts[run]), int(self.held.ends[run])) for run in runs]
            if leaves:
                covered = np.concatenate(leaves)
                found[covered] += np.outer(weights[covered] / weights[covered].sum(), rows[label])
        return found


Column = Numbers | Categories


def published_column(coverage: Coverage, labels: NDArray[np.int32 | np.int64]) -> Column:
    """A column of a release, from the label of each item."""
    codes = labels.astype(np.int64)
    if coverage.line is None:
        return Categories(codes, coverage.held, len(coverage.domain), coverage.weights)
    if coverage.weights is not None:
        return _weighted_numbers(coverage, coverage.weights, codes)
    mean, variance = coverage.line.moments(whole=are_whole(coverage.domain.numbers))
    known = np.where(np.isnan(mean), 0.0, 1.0 - coverage.missing)
    return Numbers(codes, known, np.nan_to_num(mean), np.nan_to_num(variance))


def _weighted_numbers(coverage: Coverage, weights: Floats, codes: Codes) -> Numbers:
    """A column of numbers whose labels are spread over their leaves as marginals say."""
    numbers = coverage.domain.numbers
    present = ~np.isnan(numbers)
    largest = float(np.abs(np.nan_to_num(numbers)).max(initial=0.0)) or 1.0
    scaled = np.nan_to_num(numbers / largest)
    known = coverage.shares(present)
    mass, sums, squares = (coverage.sums(np.where(present, weights * scaled**power, 0.0)) for power in (0, 1, 2))
    mean = np.divide(sums, mass, out=np.zeros(len(mass)), where=mass > 0)
    square = np.divide(squares, mass, out=np.zeros(len(mass)), where=mass > 0)
    return Numbers(codes, known, mean, np.maximum(square - mean**2, 0.0))


def original_column(domain: Domain, codes: NDArray[np.int32 | np.int64]) -> Column:
    """A column of the original, from the leaf of each item: a leaf is a label that covers itself alone."""
    labels = codes.astype(np.int64)
    if domain.kind in {Kind.NUMBER, Kind.DATE} and domain.present:
        numbers = domain.numbers
        largest = float(np.abs(np.nan_to_num(numbers)).max(initial=0.0)) or 1.0
        mean = np.nan_to_num(numbers / largest)
        return Numbers(labels, (~np.isnan(numbers)).astype(np.float64), mean, np.zeros(len(mean)))
    leaves = np.arange(len(domain), dtype=np.float64)
    return Categories(labels, Runs(np.arange(len(domain) + 1), leaves, leaves + 1), len(domain))


def association(a: Column, b: Column, weights: Floats) -> float | None:
    """Pearson's correlation of two numbers, the correlation ratio of a number and a category, Cramer's V of two
    categories, of items with these weights; None where one of them does not vary.
    """
    a, b, weights = _paired(a, b, weights)
    weights = weights * a.known[a.labels] * b.known[b.labels]
    if not weights.any():
        return None
    if isinstance(a, Categories):
        return _cramer(_table(a, b, weights)) if isinstance(b, Categories) else _correlation_ratio(a, b, weights)
    return _correlation_ratio(b, a, weights) if isinstance(b, Categories) else _pearson(a, b, weights)


def _paired(a: Column, b: Column, weights: Floats) -> tuple[Column, Column, Floats]:
    """The same items, those of one pair of labels together where there are fewer pairs than items."""
    width = len(b.known)
    number = len(a.known) * width
    if number > len(weights):
        return a, b, weights
    mass = np.bincount(a.labels * width + b.labels, weights, minlength=number).astype(np.float64)
    pairs = np.flatnonzero(mass)
    of_a, of_b = np.divmod(pairs, width)
    return replace(a, labels=of_a), replace(b, labels=of_b), mass[pairs]


def _centred(column: Numbers, weights: Floats) -> tuple[Floats, float]:
    """How far the mean of each item is from that of all, and the sum of all squared distances from it.

    sum of w ((m - M)^2 + v): items spread over a label add the label's own variance v.
    """
    mean = column.mean[column.labels]
    apart = mean - np.average(mean, weights=weights)
    return apart, float(weights @ (np.square(apart) + column.variance[column.labels]))


def _pearson(a: Numbers, b: Numbers, weights: Floats) -> float | None:
    """Pearson: r = cov(a, b) / (sd(a) sd(b)), weighted."""
    (one, own), (other, its) = _centred(a, weights), _centred(b, weights)
    spread = own * its
    return float(weights @ (one * other)) / spread**0.5 if spread > 0 else None


def _correlation_ratio(a: Categories, b: Numbers, weights: Floats) -> float | None:
    """Correlation ratio: eta = sqrt(variance of the groups' means / variance), weighted."""
    apart, total = _centred(b, weights)
    number = len(a.held)
    of_label = [np.bincount(a.labels, weights * part, minlength=number) for part in (1.0, apart)]
    size, sums = a.over_leaves(np.array(of_label, dtype=np.float64).T).T
    filled = size > 0
    if total <= 0 or np.count_nonzero(filled) < 2:
        return None
    between = float((np.square(sums[filled]) / size[filled]).sum())
    return float(min(between / total, 1.0) ** 0.5)


def _table(a: Categories, b: Categories, weights: Floats) -> Floats:
    """How much falls on each pair of leaves."""
    shape = (len(a.held), len(b.held))
    pairs = np.bincount(a.labels * shape[1] + b.labels, weights, minlength=shape[0] * shape[1]).astype(np.float64)
    return b.over_leaves(a.over_leaves(pairs.reshape(shape)).T).T


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
