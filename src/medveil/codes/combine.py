"""Numbering combinations of codes in their order, and counting people behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
SMALL = 1 << 16
"""Key spaces up to this size, and up to four times the number of keys, are numbered by a table instead of a sort."""

LARGE = 1 << 62
"""Keys beyond this do not fit into 64 bits."""


def dense(keys: Codes, limit: int) -> tuple[Codes, Codes]:
    """The distinct keys (each from 0 to below `limit`) in ascending order, and the number of each key among them."""
    if limit > max(SMALL, 4 * len(keys)):
        found, numbers = np.unique(keys, return_inverse=True)
        return found, numbers.reshape(-1)
    present = np.zeros(limit, dtype=np.bool_)
    present[keys] = True
    place = np.cumsum(present, dtype=np.int64) - 1
    return np.flatnonzero(present), place[keys]


def combine(columns: Sequence[NDArray[Any]], sizes: Sequence[int], rows: int = 0) -> tuple[Codes, Codes]:
    """Number the distinct combinations of codes in lexical order: the first row where each of them occurs, and the
    number of each row.

    `columns[j]` has codes from 0 to below `sizes[j]`. `rows`: how many there are, needed where there is no column.
    """
    keys, limit = np.zeros(len(columns[0]) if columns else rows, dtype=np.int64), 1
    for column, size in zip(columns, sizes, strict=True):
        if limit * size > LARGE:
            found, keys = dense(keys, limit)
            limit = len(found)
        keys *= size
        keys += column
        limit *= size
    found, numbers = dense(keys, max(limit, 1))
    first = np.zeros(len(found), dtype=np.int64)
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return first, numbers


def count_people(groups: Codes, number: int, people: NDArray[np.int64] | None) -> Codes:
    """How many people (records where `people` is None) are in each group; groups below 0 are left out."""
    members = groups >= 0
    if people is None:
        return np.bincount(groups[members], minlength=number)
    pairs = np.unique(groups[members] * (int(people.max(initial=0)) + 1) + people[members])
    return np.bincount(pairs // (int(people.max(initial=0)) + 1), minlength=number)
