"""Part 3 of the paper: equivalence classes of at least k people, which neighbours in the ranking form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from medveil.cells import Cells, Subjects
from medveil.codes.compiling import outer
from medveil.engine import with_rows
from medveil.methods.fixed_interval.cleaning import Records
from medveil.methods.fixed_interval.ranking import Ranking
from medveil.methods.problem import Problem

Ids = NDArray[np.int32]
Places = NDArray[np.int64]
Judge = Callable[[Ids, int], NDArray[np.bool_]]
"""From the class of each cell (-1: in none) and the number of classes to whether each holds what is required."""


@dataclass(frozen=True)
class SourceRows:
    """The records one by one, in the source's order.

    cells: the cell of each.
    people: whom each belongs to, as codes from 0; None where no subject is declared.
    marks: a number that depends on nothing but what else stands in the record, for an order among equals.
    """

    cells: Places
    people: Ids | None
    marks: NDArray[np.uint64]


def read_rows(problem: Problem, records: Records) -> SourceRows:
    """The records in the source's order; equal ones are told apart by their person, or by their plain columns."""
    engine, subject = with_rows(problem.engine), problem.schema.subject
    cells = engine.cell_of_row(records.raw, records.columns)
    apart = (subject,) if subject is not None else problem.schema.plain
    if not apart:
        return SourceRows(cells, None, np.zeros(len(cells), dtype=np.uint64))
    people = None if subject is None else engine.codes(subject).indices.to_numpy().astype(np.int32)
    return SourceRows(cells, people, engine.marks(apart))


def order_rows(rows: SourceRows, ranking: Ranking, taking_part: Places) -> tuple[Places, Places]:
    """The records that take part, by their tuple's place in the ranking, and where a new unit begins: a unit is one
    record, or all records of one person with the same quasi-identifiers, which are never parted.

    Units of one tuple are equally similar. They are dealt out by their sensitive values: the i-th of the c units with
    one value stands at (i + 1/2) / c, so that wherever the ranking is cut, each part has its share of every value.
    """
    cells = rows.cells[taking_part]
    if rows.people is None:
        dealt = _deal(ranking.tuples[cells], ranking.cells[cells], rows.marks[taking_part])
        return taking_part[dealt], np.arange(len(dealt))
    tuples, people = ranking.tuples[cells], rows.people[taking_part]
    together = np.lexsort((ranking.cells[cells], people, tuples))
    begins = np.ones(len(cells), dtype=np.bool_)
    begins[1:] = np.diff(tuples[together]).astype(np.bool_) | np.diff(people[together]).astype(np.bool_)
    first = together[begins]
    dealt = _deal(tuples[first], ranking.cells[cells[first]], rows.marks[taking_part[first]])
    starts = np.flatnonzero(begins)
    lengths = np.diff(np.append(starts, len(cells)))[dealt]
    units = np.cumsum(lengths) - lengths
    inside = np.arange(len(cells)) - np.repeat(units, lengths)
    return taking_part[together[np.repeat(starts[dealt], lengths) + inside]], units


def _deal(tuples: Places, values: Places, marks: NDArray[np.uint64]) -> Places:
    """Units in the order of their tuples, those of one tuple dealt out by their values, equal ones by their marks."""
    order = np.lexsort((marks, values)) if marks.any() else np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.diff(values[order], prepend=-1))
    sizes = np.diff(np.append(starts, len(order)))
    share = (np.arange(len(order)) - np.repeat(starts, sizes) + 0.5) / np.repeat(sizes, sizes)
    return np.asarray(order[np.argsort(tuples[order] + share, kind="stable")], dtype=np.int64)


def cut(rows: SourceRows, order: Places, units: Places, k: int) -> tuple[Ids, int]:
    """The class of each record (-1: in none), and the number of classes: along the ranking, a class ends as soon as it
    has k people. Fewer than k people at the end belong to the last class (equation 4: n / k classes).
    """
    nobody = np.zeros(0, dtype=np.int32)
    people = nobody if rows.people is None else rows.people
    number_of_people = int(people.max(initial=-1)) + 1
    classes, number = _cut(order, units, people, number_of_people, len(rows.cells), k)
    return classes, int(number)


@outer
def _cut(
    order: Places, units: Places, people: Ids, number_of_people: int, number_of_rows: int, k: int
) -> tuple[Ids, int]:
    classes = np.full(number_of_rows, -1, dtype=np.int32)
    last_seen = np.full(number_of_people, -1, dtype=np.int32)
    current, size = 0, 0
    for unit in range(len(units)):
        if size >= k:
            current += 1
            size = 0
        stop = units[unit + 1] if unit + 1 < len(units) else len(order)
        for i in range(units[unit], stop):
            classes[order[i]] = current
        if number_of_people == 0:
            size += 1
        elif last_seen[people[order[units[unit]]]] != current:
            last_seen[people[order[units[unit]]]] = current
            size += 1
    if size < k and current > 0:
        for i in range(len(order) - 1, -1, -1):
            if classes[order[i]] != current:
                break
            classes[order[i]] = current - 1
        current -= 1
    return classes, current + 1


def split(records: Records, rows: SourceRows, classes: Ids) -> tuple[Records, Ids, Places]:
    """The records with cells that lie in one class each; the class of each cell, and the cell of each record."""
    keys = rows.cells * (int(classes.max(initial=-1)) + 2) + classes + 1
    found, first, cell_of_row = np.unique(keys, return_index=True, return_inverse=True)
    cell = rows.cells[first]
    old = records.cells
    cells = Cells(
        quasi=old.quasi,
        codes=old.codes[:, cell],
        counts=np.bincount(cell_of_row, minlength=len(found)).astype(np.int64),
        sensitive={name: codes[cell] for name, codes in old.sensitive.items()},
        domains=old.domains,
        subjects=None if rows.people is None else _subjects(cell_of_row, rows.people, len(found)),
    )
    attributes = tuple(replace(column, codes=column.codes[cell]) for column in records.attributes)
    return (
        replace(records, cells=cells, attributes=attributes, kept=records.kept[cell]),
        classes[first],
        cell_of_row,
    )


def _subjects(cell_of_row: Places, people: Ids, number: int) -> Subjects:
    """Who the records of each cell belong to, each once."""
    count = int(people.max(initial=-1)) + 1
    pairs = np.unique(cell_of_row * count + people)
    offsets = np.searchsorted(pairs // count, np.arange(number + 1))
    return Subjects(offsets.astype(np.int64), (pairs % count).astype(np.int32), count)


def join_failing(verdict: NDArray[np.bool_]) -> Ids:
    """The new number of each class, where one that fails joins the class after it, the last the one before it.

    >>> join_failing(np.array([True, False, True, False])).tolist()
    [0, 1, 1, 1]
    """
    starts = np.ones(len(verdict), dtype=np.int32)
    starts[1:] = verdict[:-1]
    if len(verdict) > 1 and not verdict[-1]:
        starts[-1] = 0
    return np.asarray(np.cumsum(starts) - 1, dtype=np.int32)


def merge_until(classes: Ids, number: int, judge: Judge) -> tuple[Ids, int, int, bool]:
    """Classes that hold what is required, made by joining those that fail with their neighbours in the ranking.

    Returns the class of each cell, the number of classes, how many classes were joined away, and whether all hold:
    one class of everybody may still fail.
    """
    first = number
    while True:
        verdict = judge(classes, number)
        if verdict.all() or number == 1:
            return classes, number, first - number, bool(verdict.all())
        joined = join_failing(verdict)
        classes = np.where(classes >= 0, joined[classes], np.int32(-1))
        number = int(joined[-1]) + 1
