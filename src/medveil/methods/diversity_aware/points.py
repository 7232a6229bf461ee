"""What is clustered: people where a subject is declared, records otherwise, as points. Scaled numbers and coded
categories, their Manhattan distances, and centers between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.codes.compiling import inner, outer
from medveil.codes.sorting import ascending
from medveil.engine import with_rows
from medveil.errors import PolicyError
from medveil.methods.problem import Problem
from medveil.table.domain import Domain
from medveil.table.schema import Kind

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

NOWHERE = -1
"""The category of a center where no category is held by half of its records."""

_ON_A_LINE = (Kind.NUMBER, Kind.DATE)

_TOO_LARGE = 1e200
"""A distance of which millions cannot be added up with the rest."""


@dataclass(frozen=True)
class Points:
    """`numbers[j]` is scaled already; two different categories in column e lie `scales[e]` apart.

    A category is a corner of a simplex, one-hot with half the scale on each coordinate, so that two corners are the
    scale apart; codes say the same in less space.
    """

    numbers: NDArray[np.float64]
    categories: NDArray[np.int32]
    scales: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, chosen: NDArray[np.int64]) -> Points:
        return Points(self.numbers[chosen], self.categories[chosen], self.scales)


def make_points(
    numbers: NDArray[np.float64], categories: NDArray[np.int32] | None = None, scales: NDArray[np.float64] | None = None
) -> Points:
    """Points in the layout that the kernels read."""
    columns = np.zeros((len(numbers), 0), np.int32) if categories is None else categories
    apart = np.zeros(columns.shape[1]) if scales is None else scales
    return Points(
        np.ascontiguousarray(numbers, dtype=np.float64),
        np.ascontiguousarray(columns, dtype=np.int32),
        np.ascontiguousarray(apart, dtype=np.float64),
    )


def medians(points: Points, cluster: NDArray[np.int32], clusters: int) -> Points:
    """The center of each cluster from which the sum of Manhattan distances is least.

    Numbers: the median. Categories: the one that at least half of the cluster has, otherwise the middle of the simplex
    (NOWHERE, half a scale from every corner): the median of each one-hot coordinate. An empty cluster is at the origin.
    """
    order = np.argsort(cluster, kind="stable")
    starts = np.searchsorted(cluster[order], np.arange(clusters + 1)).astype(np.int64)
    numbers, categories = _medians(points.numbers, points.categories, order, starts)
    return Points(numbers, categories, points.scales)


def distances(points: Points, centers: Points, cluster: NDArray[np.int32]) -> NDArray[np.float64]:
    """How far each point is from the center of its cluster."""
    return np.asarray(
        _distances(
            points.numbers,
            points.categories,
            centers.numbers,
            centers.categories,
            points.scales,
            cluster.astype(np.int32),
        )
    )


def cost(points: Points, centers: Points, cluster: NDArray[np.int32]) -> float:
    """The sum of the distances of all points to the centers of their clusters."""
    return float(distances(points, centers, cluster).sum())


def pair_distances(
    points: Points, centers: Points, records: NDArray[np.int32], clusters: NDArray[np.int32]
) -> NDArray[np.float64]:
    """The distances of listed points to listed centers."""
    return np.asarray(
        _pair_distances(
            points.numbers, points.categories, centers.numbers, centers.categories, points.scales, records, clusters
        )
    )


def all_distances(points: Points, centers: Points) -> NDArray[np.float64]:
    """The distances of all points to all centers: for small problems."""
    records = np.repeat(np.arange(len(points), dtype=np.int32), len(centers))
    clusters = np.tile(np.arange(len(centers), dtype=np.int32), len(points))
    return pair_distances(points, centers, records, clusters).reshape(len(points), len(centers))


@inner
def apart(
    record: NDArray[np.float64],
    record_categories: NDArray[np.int32],
    center: NDArray[np.float64],
    center_categories: NDArray[np.int32],
    scales: NDArray[np.float64],
) -> float:
    """The Manhattan distance of a point to a center."""
    total = 0.0
    for column in range(len(record)):
        total += abs(record[column] - center[column])
    for column in range(len(scales)):
        if center_categories[column] < 0:
            total += 0.5 * scales[column]
        elif record_categories[column] != center_categories[column]:
            total += scales[column]
    return total


@outer
def _distances(
    numbers: Floats, categories: Codes, center_numbers: Floats, center_categories: Codes, scales: Floats, cluster: Codes
) -> Floats:
    found = np.empty(len(numbers))
    for j in range(len(numbers)):
        i = cluster[j]
        found[j] = apart(numbers[j], categories[j], center_numbers[i], center_categories[i], scales)
    return found


@outer
def _pair_distances(
    numbers: Floats,
    categories: Codes,
    center_numbers: Floats,
    center_categories: Codes,
    scales: Floats,
    records: Codes,
    clusters: Codes,
) -> Floats:
    found = np.empty(len(records))
    for a in range(len(records)):
        j, i = records[a], clusters[a]
        found[a] = apart(numbers[j], categories[j], center_numbers[i], center_categories[i], scales)
    return found


@outer
def _medians(numbers: Floats, categories: Codes, order: Ints, starts: Ints) -> tuple[Floats, Codes]:
    clusters = len(starts) - 1
    middle = np.zeros((clusters, numbers.shape[1]))
    common = np.full((clusters, categories.shape[1]), NOWHERE, dtype=np.int32)
    for i in range(clusters):
        members = order[starts[i] : starts[i + 1]]
        size = len(members)
        if size == 0:
            continue
        for column in range(numbers.shape[1]):
            found = numbers[members, column]
            found = found[ascending(found)]
            middle[i, column] = 0.5 * (found[(size - 1) // 2] + found[size // 2])
        for column in range(categories.shape[1]):
            codes = categories[members, column].astype(np.float64)
            codes = codes[ascending(codes)]
            first = 0
            for last in range(1, size + 1):
                if last == size or codes[last] != codes[first]:
                    if 2 * (last - first) >= size:
                        common[i, column] = codes[first]
                        break
                    first = last
    return middle, common


@dataclass(frozen=True)
class Units:
    """`of_record[r]` is the unit that record r belongs to. A person is one unit, with all of his or her records: so a
    cluster of k units is a class of k people, and no two clusters share one.
    """

    of_record: NDArray[np.int64]
    count: int

    def first(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """The code of one record of each unit."""
        found = np.empty(self.count, dtype=np.int32)
        found[self.of_record[::-1]] = codes[::-1]
        return found

    def most_frequent(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """The code that most records of each unit have; the first in order of several."""
        if self.count == len(codes):
            return self.first(codes)
        width = int(codes.max()) + 1
        pairs, counts = np.unique(self.of_record * width + codes, return_counts=True)
        order = np.lexsort((-counts, pairs // width))
        units = (pairs // width)[order]
        chosen = np.flatnonzero(np.append(True, units[1:] != units[:-1]))
        return np.asarray(pairs[order][chosen] % width, dtype=np.int32)

    def mean(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean of each unit's numbers that are not missing; NaN where all are."""
        return group_means(numbers, self.of_record, self.count)

    def any(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether any record of each unit is chosen."""
        return np.bincount(self.of_record[chosen], minlength=self.count) > 0


def group_means(numbers: NDArray[np.float64], group: NDArray[np.integer[Any]], groups: int) -> NDArray[np.float64]:
    """The mean of each group's numbers that are not missing; NaN where all are."""
    present = ~np.isnan(numbers)
    group, numbers = group[present], numbers[present]
    counts = np.bincount(group, minlength=groups)
    sums = np.bincount(group, numbers, minlength=groups)
    scale = 1.0
    if not np.isfinite(sums).all():  # the largest numbers there are: as shares of the largest
        scale = float(np.abs(numbers).max())
        sums = np.bincount(group, numbers / scale, minlength=groups)
    return np.divide(sums, counts, out=np.full(groups, np.nan), where=counts > 0) * scale


def read_units(problem: Problem) -> Units:
    """Each record for itself, or the records of each person together; those of nobody known are one person's."""
    subject = problem.schema.subject
    if subject is None:
        return Units(np.arange(problem.engine.rows), problem.engine.rows)
    encoded = with_rows(problem.engine).codes(subject)
    return Units(np.asarray(encoded.indices.cast(pa.int64())), len(encoded.dictionary))


@dataclass(frozen=True)
class UnitColumn:
    """One quasi-identifier: its codes by record, and by unit a number (NaN where missing) or a code."""

    name: str
    domain: Domain
    codes: NDArray[np.int32]
    numbers: NDArray[np.float64] | None
    categories: NDArray[np.int32]
    weight: float

    @property
    def largest(self) -> float:
        """The largest absolute number that is there; 1 where there is none but 0."""
        numbers = np.zeros(0) if self.numbers is None else self.numbers[~np.isnan(self.numbers)]
        return float(np.abs(numbers).max(initial=0.0)) or 1.0

    @property
    def spread(self) -> float:
        """The standard deviation of the numbers that are there as a share of the largest: neither the greatest nor the
        least numbers there are end it. 0 where all are the same but for rounding.
        """
        shares = np.zeros(0) if self.numbers is None else self.numbers[~np.isnan(self.numbers)] / self.largest
        return 0.0 if not len(shares) or np.ptp(shares) <= 1e-12 else float(shares.std())

    @property
    def deviation(self) -> float:
        """The standard deviation of the numbers that are there."""
        return self.spread * self.largest


def read_columns(problem: Problem, units: Units) -> list[UnitColumn]:
    """The quasi-identifiers."""
    columns = []
    for position, name in enumerate(problem.cells.quasi):
        domain = problem.cells.domains[name]
        codes = problem.cells.codes[position][problem.cell_of_row]
        numbers = units.mean(domain.numbers[codes]) if domain.kind in _ON_A_LINE else None
        categories = np.isnan(numbers).astype(np.int32) if numbers is not None else units.most_frequent(codes)
        columns.append(UnitColumn(name, domain, codes, numbers, categories, problem.weight(name)))
    return columns


def make_distances(columns: list[UnitColumn], *, standardized: bool) -> Points:
    """The units as points whose Manhattan distances are meant.

    Standardized, every column has variance 1 = 1/2 E d^2, where d is the distance of two units taken at random: numbers
    are divided by their standard deviation, two different categories lie sqrt(2 / P(two units differ)) apart. A
    category of two values is then as far apart as the numbers 0 and 1 would be. Otherwise numbers are taken as they
    are, and two different categories lie 1 apart. A missing number lies at the mean of the others, in another category.
    A column that is the same everywhere does not count.
    """
    numbers, categories, scales = [], [], []
    for column in columns:
        if column.numbers is not None:
            numbers.append(_on_a_line(column, standardized=standardized))
        shares = np.bincount(column.categories) / len(column.categories)
        differ = 1.0 - float(np.square(shares).sum())
        if np.count_nonzero(shares) > 1:
            categories.append(column.categories)
            scales.append(column.weight * (np.sqrt(2.0 / differ) if standardized else 1.0))
    count = len(columns[0].categories)
    return make_points(
        np.array(numbers).T if numbers else np.zeros((count, 0)),
        np.array(categories).T if categories else None,
        np.array(scales) if categories else None,
    )


def _on_a_line(column: UnitColumn, *, standardized: bool) -> NDArray[np.float64]:
    """The numbers about their mean, at which missing ones lie, on the scale of distances."""
    assert column.numbers is not None
    if column.spread == 0.0:
        return np.zeros(len(column.numbers))
    if standardized:
        shares = column.numbers / column.largest
        return np.asarray(np.nan_to_num(shares - np.nanmean(shares)) * (column.weight / column.spread))
    if column.largest > _TOO_LARGE:
        raise PolicyError(
            f"Distances in column '{column.name}' are too large to be added up.",
            "Leave 'distance' out, so that columns are standardized.",
        )
    return np.asarray(np.nan_to_num(column.numbers - np.nanmean(column.numbers)) * column.weight)
