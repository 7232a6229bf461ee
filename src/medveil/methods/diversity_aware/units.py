"""What is clustered: people where a subject is declared, records otherwise, as columns and as points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.engine import with_rows
from medveil.errors import PolicyError
from medveil.methods.diversity_aware.points import Points, make_points
from medveil.methods.problem import Problem
from medveil.table.domain import Domain
from medveil.table.schema import Kind

_ON_A_LINE = (Kind.NUMBER, Kind.DATE)

_TOO_LARGE = 1e200
"""A distance of which millions cannot be added up with the rest."""


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
