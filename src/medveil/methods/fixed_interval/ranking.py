"""Part 2 of the paper: similar people beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from medveil.codes.combine import combine
from medveil.methods.fixed_interval.attributes import Column, Numbers
from medveil.methods.fixed_interval.cleaning import Records

SAME = 13
"""Similarities that agree in so many decimals are the same."""


def similarity(vectors: Sequence[Numbers]) -> Numbers:
    """The cosine similarity of each record to the vector of ones.

        Sim(P, 1) = sum_n P_n / (sqrt(sum_n P_n^2) sqrt(N))

    `vectors[n]` holds P_n of every record. A record of zeros points nowhere and gets 0. With a fixed anchor the
    ranking needs no matrix of all pairs, and does not depend on the order of the records (equation 3).

    >>> similarity([np.array([1.0, 3.0, 0.0]), np.array([1.0, 0.0, 0.0])]).round(4).tolist()
    [1.0, 0.7071, 0.0]
    """
    total = np.zeros(len(vectors[0]))
    squares = np.zeros(len(vectors[0]))
    for vector in vectors:
        total += vector
        squares += vector * vector
    length = np.sqrt(squares) * np.sqrt(len(vectors))
    return np.divide(total, length, out=np.zeros_like(total), where=length > 0)


Normalization = Literal["none", "range", "standard"]


def normalized(numbers: Numbers, weights: NDArray[np.int64], way: Normalization) -> Numbers:
    """A coded column on a common scale, so that none outweighs the others by its units.

        range:     (x - least) / (greatest - least)
        standard:  (x - mean) / standard deviation, over records

    `weights`: the records of each cell that take part. A column of one value is 0 everywhere.

    >>> normalized(np.array([20.0, 30.0, 60.0]), np.array([1, 1, 1]), "range").tolist()
    [0.0, 0.25, 1.0]
    """
    if way == "none":
        return numbers
    there = numbers[weights > 0]
    if way == "range":
        middle, spread = float(there.min(initial=np.inf)), float(np.ptp(there)) if len(there) else 0.0
    else:
        middle = float(weights @ numbers / weights.sum())
        spread = float(np.sqrt(weights @ (numbers - middle) ** 2 / weights.sum()))
    return np.zeros_like(numbers) if spread == 0 else np.asarray((numbers - middle) / spread)


def coded(column: Column, records: Records) -> Numbers:
    """A column as numbers, for each cell: numbers as they are, categories by their position in the declared or natural
    order; a missing number as the column's mean, a missing category after the last.
    """
    if column.numbers is None:
        return _positions(column)[column.codes]
    numbers = column.effective
    unknown = np.isnan(numbers)
    if unknown.any():
        weights = np.bincount(column.codes, records.cells.counts, minlength=len(numbers)) * ~unknown
        middle = float(weights @ np.where(unknown, 0.0, numbers) / weights.sum()) if weights.any() else 0.0
        numbers = np.where(unknown, middle, numbers)
    return np.asarray(numbers[column.codes], dtype=np.float64)


def _positions(column: Column) -> Numbers:
    positions = np.arange(len(column.values), dtype=np.float64)
    return np.where(column.missing, column.stand_in, positions) if column.imputed else positions


@dataclass(frozen=True)
class Ranking:
    """Where each cell stands: `tuples[cell]` among the distinct tuples of quasi-identifiers, by similarity and, where
    that is equal, by their values; `cells[cell]` among the cells, in the order of all their values.
    """

    tuples: NDArray[np.int64]
    cells: NDArray[np.int64]


def rank(records: Records, normalize: Normalization = "none") -> Ranking:
    """The cells by similarity of their quasi-identifiers, the same whatever the order of the records was."""
    weights = np.where(records.kept, records.cells.counts, 0)
    vectors = [normalized(coded(column, records), weights, normalize) for column in records.quasi]
    # Rounding makes vectors of one direction equal, as they are but for the last bits.
    likeness = np.round(similarity(vectors), SAME)
    keys = combine([column.codes for column in records.quasi], [len(column.values) for column in records.quasi])[1]
    order = np.lexsort((keys, likeness))
    changes = np.ones(len(order), dtype=np.bool_)
    changes[1:] = keys[order][1:] != keys[order][:-1]
    tuples = np.empty(len(order), dtype=np.int64)
    tuples[order] = np.cumsum(changes) - 1
    names = sorted(records.cells.sensitive)
    sizes = [len(records.cells.domains[name]) for name in names]
    _, rest = combine([records.cells.sensitive[name] for name in names], sizes, len(tuples))
    order = np.lexsort((rest, tuples))
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return Ranking(tuples, places)
