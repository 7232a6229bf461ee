"""From cells and the class of each to counted classes: one pass of look-ups, no comparison sort."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from medveil.cells import Cells
from medveil.codes.compiling import outer
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.privacy.classes import Classes, Histogram
from medveil.privacy.model import Reference

TABLED, LEAST_TABLED = 16, 1 << 16
"""Up to so many entries for each cell, or so many, a table of classes by values is filled rather than cells sorted."""


def fits_table(classes: int, values: int, cells: int) -> bool:
    """Whether a table of classes by values is small enough, beside the cells, to be filled whole."""
    return classes * values <= max(TABLED * cells, LEAST_TABLED)


def count_classes(
    cells: Cells,
    class_of_cell: NDArray[np.int64 | np.int32],
    number_of_classes: int,
    kept: NDArray[np.bool_] | None = None,
) -> Classes:
    """The classes that the cells fall into; a cell of class -1, or that is not kept, is left out.

    Sizes count distinct people where the cells know their subjects, records otherwise; the pairs of a histogram count
    distinct (person, value). Cells of no records, which only the population holds, count for the population alone.
    """
    classes = np.ascontiguousarray(class_of_cell, dtype=np.int32)
    if kept is not None:
        classes = np.where(kept, classes, np.int32(-1))
    counts = np.ascontiguousarray(cells.counts, dtype=np.int64)
    records = np.zeros(number_of_classes, dtype=np.int64)
    _add(classes, counts, records)
    population = None
    if cells.population is not None:
        population = np.zeros(number_of_classes, dtype=np.int64)
        _add(classes, np.ascontiguousarray(cells.population, dtype=np.int64), population)
    if not counts.all():
        classes = np.where(counts > 0, classes, np.int32(-1))

    people_offsets = people = None
    sizes = records
    if cells.subjects is not None:
        people_offsets = np.ascontiguousarray(cells.subjects.offsets, dtype=np.int64)
        people = np.ascontiguousarray(cells.subjects.codes, dtype=np.int32)
        order, bounds = _sorted(np.arange(len(classes)), classes, number_of_classes)
        sizes = _distinct(order, bounds, people_offsets, people, cells.subjects.count)

    histograms = {}
    for name, codes in cells.sensitive.items():
        values = np.ascontiguousarray(codes, dtype=np.int32)
        if cells.subjects is None and fits_table(number_of_classes, len(cells.domains[name]), len(cells)):
            table = np.zeros((number_of_classes, len(cells.domains[name])), dtype=np.int64)
            _cross_count(classes, values, counts, table)
            histograms[name] = _entries(table, len(cells))
            continue
        by_value, _ = _sorted(_members(classes), values, len(cells.domains[name]))
        order, bounds = _sorted(by_value, classes, number_of_classes)
        offsets, starts = _runs(order, bounds, values)
        if cells.subjects is None or people_offsets is None or people is None:
            pairs = _run_sums(order, starts, counts)
        else:
            pairs = _distinct(order, starts, people_offsets, people, cells.subjects.count)
        histograms[name] = Histogram(offsets, values[order[starts[:-1]]], pairs)
    return Classes(sizes, records, histograms, population)


def reference_of(cells: Cells, hierarchies: Mapping[str, Hierarchy] | None = None) -> Reference:
    """The distribution of each sensitive attribute over the whole input: of distinct (person, value) pairs where the
    cells know their subjects, of records otherwise.
    """
    names = [name for name in cells.domains if name not in cells.quasi]
    sensitive = {name: cells.domains[name] for name in names}
    known = {name: hierarchy for name, hierarchy in (hierarchies or {}).items() if name in sensitive}
    if cells.elsewhere is not None:
        return Reference(_CountedWhenAsked(cells, names), sensitive, known)
    whole = count_classes(cells, np.zeros(len(cells), dtype=np.int32), 1)
    counts = {}
    for name, histogram in whole.histograms.items():
        counts[name] = np.zeros(len(cells.domains[name]), dtype=np.int64)
        counts[name][histogram.values] = histogram.counts
    return Reference(counts, sensitive, known)


class _CountedWhenAsked(Mapping[str, NDArray[np.int64]]):
    """The distributions of columns whose cells are elsewhere: few look at them, and each is a question."""

    def __init__(self, cells: Cells, names: Sequence[str]) -> None:
        self._cells, self._names = cells, tuple(names)

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        number = len(self._cells.domains[name])
        return self._cells.people_of(name, np.arange(number), number)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _members(classes: NDArray[np.int32]) -> NDArray[np.int64]:
    """The cells that are in some class."""
    return np.flatnonzero(classes >= 0)


@outer
def _add(classes: NDArray[np.int32], counts: NDArray[np.int64], sums: NDArray[np.int64]) -> None:
    """Add the count of each cell that is in a class to its class."""
    for cell in range(len(classes)):
        if classes[cell] >= 0:
            sums[classes[cell]] += counts[cell]


@outer
def _cross_count(
    classes: NDArray[np.int32], values: NDArray[np.int32], counts: NDArray[np.int64], table: NDArray[np.int64]
) -> None:
    """Add the count of each cell that is in a class to the table of classes by values."""
    for cell in range(len(classes)):
        if classes[cell] >= 0:
            table[classes[cell], values[cell]] += counts[cell]


def _entries(table: NDArray[np.int64], most: int) -> Histogram:
    """The entries of a table that are not 0, at most so many, row by row."""
    offsets = np.zeros(len(table) + 1, dtype=np.int64)
    values, counts = np.empty(most + 1, dtype=np.int32), np.empty(most + 1, dtype=np.int64)
    number = _fill(table, offsets, values, counts)
    return Histogram(offsets, values[:number], counts[:number])


@outer
def _fill(
    table: NDArray[np.int64], offsets: NDArray[np.int64], values: NDArray[np.int32], counts: NDArray[np.int64]
) -> int:
    """Where each row of a table begins among the entries that are not 0, their columns and the entries; how many."""
    rows, columns = table.shape
    number = 0
    for row in range(rows):
        for column in range(columns):
            # Written in any case and kept if not 0: no branch that could be mispredicted.
            values[number] = column
            counts[number] = table[row, column]
            number += table[row, column] != 0
        offsets[row + 1] = number
    return number


def _runs(
    order: NDArray[np.int64], bounds: NDArray[np.int64], values: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The runs of one value within each class: how many begin before each class, and where each begins in `order`."""
    sorted_values = values[order]
    begins = np.ones(len(order) + 1, dtype=np.bool_)
    begins[1:-1] = sorted_values[1:] != sorted_values[:-1]
    begins[bounds] = True
    starts = np.flatnonzero(begins)
    return np.searchsorted(starts, bounds), starts


def _run_sums(order: NDArray[np.int64], starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sum of the counts of each run of cells."""
    running = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts[order])))
    return np.diff(running[starts])


def _sorted(
    cells: NDArray[np.int64], keys: NDArray[np.int32], number: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cells by ascending key, in their old order within a key, and where each key begins; keys below 0 left out."""
    bounds = np.zeros(number + 1, dtype=np.int64)
    _count_keys(cells, keys, bounds)
    order = np.empty(bounds[number], dtype=np.int64)
    _put_in_order(cells, keys, bounds.copy(), order)
    return order, bounds


@outer
def _count_keys(cells: NDArray[np.int64], keys: NDArray[np.int32], bounds: NDArray[np.int64]) -> None:
    """How many of the cells have a key below each."""
    for i in range(len(cells)):
        if keys[cells[i]] >= 0:
            bounds[keys[cells[i]] + 1] += 1
    for key in range(len(bounds) - 1):
        bounds[key + 1] += bounds[key]


@outer
def _put_in_order(
    cells: NDArray[np.int64], keys: NDArray[np.int32], places: NDArray[np.int64], order: NDArray[np.int64]
) -> None:
    """Put the cells where those of their key begin, which is used up."""
    for i in range(len(cells)):
        key = keys[cells[i]]
        if key >= 0:
            order[places[key]] = cells[i]
            places[key] += 1


def _distinct(
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    people_offsets: NDArray[np.int64],
    people: NDArray[np.int32],
    number_of_people: int,
) -> NDArray[np.int64]:
    """The number of distinct people in each run of cells."""
    found = np.zeros(len(starts) - 1, dtype=np.int64)
    _count_distinct(order, starts, people_offsets, people, np.full(number_of_people, -1, dtype=np.int64), found)
    return found


@outer
def _count_distinct(
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    people_offsets: NDArray[np.int64],
    people: NDArray[np.int32],
    last_seen: NDArray[np.int64],
    found: NDArray[np.int64],
) -> None:
    """Whoever was last seen in a run is counted there already."""
    for run in range(len(found)):
        for i in range(starts[run], starts[run + 1]):
            cell = order[i]
            for j in range(people_offsets[cell], people_offsets[cell + 1]):
                if last_seen[people[j]] != run:
                    last_seen[people[j]] = run
                    found[run] += 1
