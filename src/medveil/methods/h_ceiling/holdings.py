"""What the classes of one generalization hold: people, records, and tuples of sensitive values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from medveil.cells import Cells
from medveil.privacy.count import count_classes

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Tuples:
    """The distinct tuples of sensitive values: `of_cell` is each cell's, `codes[j, tuple]` its j-th value."""

    of_cell: Codes
    codes: Codes
    records: Counts

    def __len__(self) -> int:
        return len(self.records)


def sensitive_tuples(cells: Cells) -> Tuples:
    """The tuples that occur, ranked by their codes; a counterfeit carries one of them as a whole."""
    columns = list(cells.sensitive.values())
    keys = np.zeros(len(cells), dtype=np.int64)
    for column, name in zip(columns, cells.sensitive, strict=True):
        _, keys = np.unique(keys * len(cells.domains[name]) + column, return_inverse=True)
    _, first, of_cell = np.unique(keys, return_index=True, return_inverse=True)
    codes = np.array([column[first] for column in columns], dtype=np.int32).reshape(len(columns), len(first))
    records = np.bincount(of_cell, cells.counts, minlength=len(first)).astype(np.int64)
    return Tuples(of_cell.astype(np.int32), codes, records)


@dataclass(frozen=True)
class Contents:
    """How many records of each tuple some classes hold: class `classes[i]` has the pairs `offsets[i]:offsets[i + 1]`
    of `tuples` (ascending) and `counts` (positive).
    """

    classes: Counts
    offsets: Counts
    tuples: Codes
    counts: Counts

    @property
    def owners(self) -> Counts:
        """The class of each pair."""
        return np.repeat(self.classes, np.diff(self.offsets))


@dataclass(frozen=True)
class Holdings:
    """The classes of one generalization.

    class_of_cell: the class of each cell.
    groups: for each quasi-identifier and class, a number that stands for what is published.
    points: for each quasi-identifier and class, how many values of the domain that covers.
    people, records: of each class; people are records where no subject is declared.
    """

    cells: Cells
    tuples: Tuples
    class_of_cell: Codes
    groups: Codes
    points: NDArray[np.float64]

    def __len__(self) -> int:
        return self.points.shape[1]

    @cached_property
    def records(self) -> Counts:
        return np.bincount(self.class_of_cell, self.cells.counts, minlength=len(self)).astype(np.int64)

    @cached_property
    def people(self) -> Counts:
        return people_of(self.cells, self.class_of_cell, len(self))

    @cached_property
    def sharpness(self) -> NDArray[np.float64]:
        """The sum over attributes of 1/v in each class; v = 1 for a sensitive attribute."""
        return np.asarray((1.0 / self.points).sum(axis=0) + len(self.cells.sensitive), dtype=np.float64)

    def contents(self, classes: Sequence[int] | Counts | None = None) -> Contents:
        """What the given classes hold; all of them where none are given."""
        wanted = np.arange(len(self)) if classes is None else np.unique(np.asarray(classes, dtype=np.int64))
        position = np.full(len(self), -1, dtype=np.int64)
        position[wanted] = np.arange(len(wanted))
        place = position[self.class_of_cell]
        members = np.flatnonzero((place >= 0) & (self.cells.counts > 0))
        keys = place[members] * len(self.tuples) + self.tuples.of_cell[members]
        pairs, inverse = np.unique(keys, return_inverse=True)
        counts = np.bincount(inverse, self.cells.counts[members], minlength=len(pairs)).astype(np.int64)
        owner, tuples = np.divmod(pairs, max(len(self.tuples), 1))
        offsets = np.searchsorted(owner, np.arange(len(wanted) + 1)).astype(np.int64)
        return Contents(wanted.astype(np.int64), offsets, tuples.astype(np.int32), counts)


def people_of(cells: Cells, class_of_cell: Codes, number: int) -> Counts:
    """The people of each class; its records where no subject is declared."""
    if cells.subjects is None:
        return np.bincount(class_of_cell, cells.counts, minlength=number).astype(np.int64)
    bare = Cells(cells.quasi, cells.codes, cells.counts, {}, cells.domains, cells.subjects)
    return count_classes(bare, class_of_cell, number).sizes
