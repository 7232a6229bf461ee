"""Part 3 of the paper: equivalence classes of at least k people, which neighbours in the ranking form."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from medveil.cells import Cells

Ids = NDArray[np.int32]
Judge = Callable[[Ids, int], NDArray[np.bool_]]
"""From the class of each cell (-1: in none) and the number of classes to whether each holds what is required."""


def cut(cells: Cells, order: NDArray[np.int64], begins: NDArray[np.bool_], k: int) -> tuple[Ids, int]:
    """The class of each cell (-1: in none), and the number of classes: along the ranking, a class ends as soon as it
    has k people and the next tuple differs. Fewer than k people at the end belong to the last class.
    """
    if cells.subjects is None:
        people = (np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), 0)
    else:
        people = (cells.subjects.offsets.astype(np.int64), cells.subjects.codes.astype(np.int32), cells.subjects.count)
    counts = np.ascontiguousarray(cells.counts, dtype=np.int64)
    classes, number = _cut(order, begins, counts, *people, k)
    return classes, int(number)


@njit(
    "Tuple((int32[::1], int64))(int64[::1], boolean[::1], int64[::1], int64[::1], int32[::1], int64, int64)",
    cache=True,
    nogil=True,
)
def _cut(
    order: NDArray[np.int64],
    begins: NDArray[np.bool_],
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    people: NDArray[np.int32],
    number_of_people: int,
    k: int,
) -> tuple[Ids, int]:
    classes = np.full(len(counts), -1, dtype=np.int32)
    last_seen = np.full(number_of_people, -1, dtype=np.int32)
    current, size = 0, 0
    for i in range(len(order)):
        cell = order[i]
        if begins[i] and size >= k:
            current += 1
            size = 0
        classes[cell] = current
        if number_of_people == 0:
            size += counts[cell]
        else:
            for j in range(offsets[cell], offsets[cell + 1]):
                if last_seen[people[j]] != current:
                    last_seen[people[j]] = current
                    size += 1
    if size < k and current > 0:
        for i in range(len(order) - 1, -1, -1):
            if classes[order[i]] != current:
                break
            classes[order[i]] = current - 1
        current -= 1
    return classes, current + 1


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
