"""Part 6 of the paper for numbers: fixed intervals over a whole column, each with the mean of the values in it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from medveil.cells import Cells
from medveil.errors import PolicyError, UnreachableError
from medveil.methods.fixed_interval.attributes import Column, Numbers
from medveil.privacy.count import count_classes

Statistic = Literal["mean", "median", "percentage"]
MOST_INTERVALS = 1_000_000


@dataclass(frozen=True)
class IntervalGrid:
    """Intervals from `edges[i]` to `edges[i + 1]`, the upper end excluded except for the last; a number beyond the ends
    belongs to the first or the last. `declared`: the ends were declared, not read from the data.
    """

    edges: Numbers
    declared: bool

    def __len__(self) -> int:
        return len(self.edges) - 1

    def index(self, numbers: Numbers) -> NDArray[np.int64]:
        """The interval of each number."""
        return np.clip(np.searchsorted(self.edges, numbers, side="right") - 1, 0, len(self) - 1)


def make_grid(
    ends: tuple[float, float], intervals: int, width: float | None, unit: float, name: str, *, declared: bool
) -> IntervalGrid:
    """Equal intervals from the lowest to the highest value (equation 1).

        w = (B - A) / N, rounded up to a unit

    A, B: the ends; N: the number of intervals; the unit is the last decimal of the column's numbers.

    >>> make_grid((21, 56), 3, None, 1.0, "age", declared=False).edges.tolist()
    [21.0, 33.0, 45.0, 57.0]
    >>> make_grid((52100, 53715), 3, None, 1.0, "zip", declared=False).edges.tolist()
    [52100.0, 52639.0, 53178.0, 53717.0]
    >>> make_grid((0, 1), 4, None, 0.1, "share", declared=False).edges.tolist()
    [0.0, 0.3, 0.6, 0.9, 1.2]
    """
    low, high = ends
    first = math.floor(low / unit + 1e-9)
    last = math.ceil(high / unit - 1e-9)
    if width is None:
        step = float(max(math.ceil((last - first) / intervals), 1))
        number = intervals
    else:
        step = width / unit
        number = max(math.ceil((last - first) / step - 1e-9), 1)
    if number > MOST_INTERVALS:
        raise PolicyError(
            f"'{name}' would be cut into more than {MOST_INTERVALS:,} intervals.",
            "Give fewer intervals." if width is None else "Give a greater width.",
        )
    decimals = max(round(-math.log10(unit)), 0) if width is None else 12
    return IntervalGrid(np.round((first + np.arange(number + 1) * step) * unit, decimals), declared)


@dataclass(frozen=True)
class ColumnIntervals:
    """The intervals of one column after those with too few people were joined with their neighbours.

    starts: for each joined interval its first interval of the grid, then the number of those.
    people: for each interval the people whose numbers lie in it.
    values, weights: the column's numbers in their order, and by how many people each is had.
    support: how many people have a number in the intervals from a first to a last.
    """

    grid: IntervalGrid
    starts: NDArray[np.int64]
    people: NDArray[np.int64]
    values: Numbers
    weights: NDArray[np.int64]
    support: Callable[[int, int], int]

    def __len__(self) -> int:
        return len(self.people)

    @property
    def joined(self) -> int:
        """How many intervals were joined away."""
        return len(self.grid) - len(self)

    @property
    def edges(self) -> Numbers:
        return self.grid.edges[self.starts]

    def index(self, numbers: Numbers) -> NDArray[np.int64]:
        """The interval of each number."""
        return np.searchsorted(self.starts, self.grid.index(numbers), side="right") - 1

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """The interval of each value, ascending."""
        return self.index(self.values)

    def figure(self, statistic: Statistic, first: int, last: int) -> float:
        """The mean or median of the numbers in the intervals from the first to the last (equation 2); or in percent
        how many people have a lower number, those within counted half, which tells of no number at all.

        Whoever has a number several times counts once for it, where subjects are declared.
        """
        inside = slice(*np.searchsorted(self._places, (first, last + 1)))
        values, weights = self.values[inside], self.weights[inside]
        if statistic == "percentage":
            below = int(self.weights[: inside.start].sum())
            return float(100 * (below + weights.sum() / 2) / self.weights.sum())
        if statistic == "mean":
            return float(weights @ values / weights.sum())
        cumulative = np.cumsum(weights)
        total = int(cumulative[-1])
        middle = values[np.searchsorted(cumulative, [(total + 1) // 2, total // 2 + 1])]
        return float(middle.mean())


def fit(column: Column, cells: Cells, kept: NDArray[np.bool_], grid: IntervalGrid, least: int) -> ColumnIntervals:
    """The intervals of a column, joined until each has the least number of people whose own numbers lie in it.

    Missing and imputed numbers are nobody's.
    """
    assert column.numbers is not None
    there = kept & ~column.missing[column.codes]
    weights = _people(cells, column.codes, len(column.values), there)
    place = np.zeros(len(column.values), dtype=np.int64)
    place[~column.missing] = grid.index(column.numbers[~column.missing])
    starts = np.arange(len(grid) + 1)
    while True:
        joined = np.searchsorted(starts, place, side="right") - 1
        people = _people(cells, joined[column.codes], len(starts) - 1, there)
        if len(people) == 1 or people.min() >= least:
            break
        starts = starts[join_thin(people, least)]
    if there.any() and people.min() < least:
        raise UnreachableError(
            f"Only {people.min():,} of the people have a number in '{column.name}', where a mean needs {least:,}.",
            f"Leave '{column.name}' out, or lower k or 'minimum_support'.",
        )
    order = np.argsort(column.numbers, kind="stable")
    order = order[weights[order] > 0]

    def support(first: int, last: int) -> int:
        """People may be in several intervals, so that they are counted again in a union."""
        if first == last or cells.subjects is None:
            return int(people[first : last + 1].sum())
        inside = (joined[column.codes] >= first) & (joined[column.codes] <= last) & there
        return int(_people(cells, np.zeros(len(cells), dtype=np.int32), 1, inside)[0])

    return ColumnIntervals(grid, starts, people, column.numbers[order], weights[order], support)


def _people(
    cells: Cells, group: NDArray[np.int32] | NDArray[np.int64], number: int, there: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """How many people (records without subjects) the cells of each group belong to."""
    return count_classes(replace(cells, sensitive={}, population=None), group, number, there).sizes


def join_thin(people: NDArray[np.int64], least: int) -> NDArray[np.int64]:
    """Where joined intervals start, and the number of intervals at the end: from the left, an interval takes in the
    next until it has enough people; too few at the end belong to the last.

    People are added up, which is exact where everybody is in one interval and too many otherwise.

    >>> join_thin(np.array([3, 1, 2]), 2).tolist(), join_thin(np.array([2, 0, 4]), 1).tolist()
    ([0, 1, 3], [0, 1, 3])
    >>> join_thin(np.array([5, 1]), 3).tolist()
    [0, 2]
    """
    starts, held = [0], 0
    for position, count in enumerate(people.tolist()):
        if held >= least:
            starts.append(position)
            held = 0
        held += count
    if held < least and len(starts) > 1:
        starts.pop()
    return np.array([*starts, len(people)], dtype=np.int64)


def ends_of(column: Column, present: NDArray[np.bool_]) -> tuple[float, float]:
    """The least and the greatest of a column's numbers that are there (`present`, by code); 0 where there are none."""
    assert column.numbers is not None
    there = column.numbers[present & ~column.missing]
    return (float(there.min()), float(there.max())) if len(there) else (0.0, 0.0)
