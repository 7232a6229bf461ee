"""Records as points: scaled numbers and coded categories, their Manhattan distances, and centers between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from medveil.codes.sorting import ascending

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

NOWHERE = -1
"""The category of a center where no category is held by half of its records."""


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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _distances(
    numbers: Floats, categories: Codes, center_numbers: Floats, center_categories: Codes, scales: Floats, cluster: Codes
) -> Floats:
    found = np.empty(len(numbers))
    for j in range(len(numbers)):
        i = cluster[j]
        found[j] = apart(numbers[j], categories[j], center_numbers[i], center_categories[i], scales)
    return found


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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
