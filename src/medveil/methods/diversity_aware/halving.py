"""Neighbours together: records halved again and again along the column that gains most, caps kept on both sides."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from medveil.codes.sorting import ascending
from medveil.methods.diversity_aware.caps import Caps
from medveil.methods.diversity_aware.points import Codes, Flags, Floats, Ints, Points
from medveil.run import Run, Stage

_LARGE = 20_000
"""Parts above this are halved one at a time, so that a run can be stopped in between."""


def halve(points: Points, values: NDArray[np.int32], caps: Caps, run: Run) -> NDArray[np.int32]:
    """A cluster for each record that keeps the caps, such that neighbouring clusters have near numbers.

    A part with c clusters gives c_left = floor(c / 2) of them to its left half. Of value v the left half takes the
    first in the order of a column: as many as lie left of the cut, but at least N_v - c_right upper_v and
    c_left lower_v, and at most c_left upper_v and N_v - c_right lower_v. The cut is where these sum to the half's size.
    The average of every value is then within its caps on both sides, so that both can be halved again. The column is
    the one along which this lowers the distances to the centers of the parts most; a cut that would have to move many
    records to the other side, because their places and values go together, lowers them little.
    """
    cluster = np.zeros(len(points), dtype=np.int32)
    waiting = [(np.arange(len(points)), 0, caps.clusters)]
    done = 0
    while waiting:
        members, first, clusters = waiting.pop()
        run.step(Stage.SEARCH, done / len(points), "Grouping neighbours")
        if len(members) <= _LARGE or clusters == 1:
            _halve_all(points.numbers, points.categories, points.scales, values, caps.lower, caps.upper,
                       members, first, clusters, cluster)  # fmt: skip
            done += len(members)
            continue
        left = _left_half(points.numbers, points.categories, points.scales, values, caps.lower, caps.upper,
                          members, clusters)  # fmt: skip
        waiting.append((members[~left], first + clusters // 2, clusters - clusters // 2))
        waiting.append((members[left], first, clusters // 2))
    return cluster


@njit(cache=True, nogil=True)
def _halve_all(
    numbers: Floats,
    categories: Codes,
    scales: Floats,
    values: Codes,
    lower: Ints,
    upper: Ints,
    members: Ints,
    first: int,
    clusters: int,
    cluster: Codes,
) -> None:
    """Halve down to single clusters."""
    parts, firsts, counts = [members], [first], [clusters]
    while len(parts) > 0:
        part, start, number = parts.pop(), firsts.pop(), counts.pop()
        if number == 1:
            for j in part:
                cluster[j] = start
            continue
        left = _left_half(numbers, categories, scales, values, lower, upper, part, number)
        parts.append(part[~left])
        firsts.append(start + number // 2)
        counts.append(number - number // 2)
        parts.append(part[left])
        firsts.append(start)
        counts.append(number // 2)


@njit(cache=True, nogil=True)
def _left_half(
    numbers: Floats,
    categories: Codes,
    scales: Floats,
    values: Codes,
    lower: Ints,
    upper: Ints,
    members: Ints,
    clusters: int,
) -> Flags:
    """Which of the members are in the left half."""
    size, columns = len(members), numbers.shape[1]
    left_clusters = clusters // 2
    right_clusters = clusters - left_clusters
    value, present = _recode(values[members])
    count = np.zeros(len(present), dtype=np.int64)
    for v in value:
        count[v] += 1
    least = np.maximum(np.maximum(left_clusters * lower[present], count - right_clusters * upper[present]), 0)
    most = np.minimum(left_clusters * upper[present], count - right_clusters * lower[present])
    wanted = (size * left_clusters) // clusters

    best_gain = -np.inf
    best = np.zeros(size, dtype=np.bool_)
    left = np.zeros(size, dtype=np.bool_)
    for column in range(columns + categories.shape[1]):
        if column < columns:  # noqa: SIM108 - too long for one line
            key = numbers[members, column]
        else:
            key = categories[members, column - columns].astype(np.float64)
        order = ascending(key)
        if key[order[0]] == key[order[-1]] and best_gain > -np.inf:
            continue
        _cut(order, value, least, most, wanted, left)
        keys, side = key[order], left[order]
        if column < columns:
            gain = _to_median(keys) - _to_median(keys[side]) - _to_median(keys[~side])
        else:
            gain = _unlike(keys) - _unlike(keys[side]) - _unlike(keys[~side])
            gain *= scales[column - columns]
        if gain > best_gain:
            best_gain = gain
            best[:] = left
    if best_gain == -np.inf:  # no column at all
        _cut(np.arange(size), value, least, most, wanted, best)
    return best


@njit(cache=True, nogil=True)
def _recode(values: Codes) -> tuple[Ints, Ints]:
    """The values as codes from 0 in the order of the values that are there, and these."""
    order = ascending(values.astype(np.float64))
    code = np.empty(len(values), dtype=np.int64)
    present = np.empty(len(values), dtype=np.int64)
    number = -1
    for place in range(len(order)):
        if place == 0 or values[order[place]] != values[order[place - 1]]:
            number += 1
            present[number] = values[order[place]]
        code[order[place]] = number
    return code, present[: number + 1]


@njit(cache=True, nogil=True)
def _cut(order: Ints, value: Ints, least: Ints, most: Ints, wanted: int, left: Flags) -> None:
    """Fill the left half: the first in order, within the least and the most of each value."""
    rank = np.zeros(len(least), dtype=np.int64)
    taken = least.sum()
    for place in order:
        v = value[place]
        rank[v] += 1
        left[place] = rank[v] <= least[v]
        if not left[place] and rank[v] <= most[v] and taken < wanted:
            left[place] = True
            taken += 1


@njit(cache=True, nogil=True)
def _to_median(keys: Floats) -> float:
    """The sum of the distances of ascending keys to their median."""
    total, size = 0.0, len(keys)
    for place in range(size // 2):
        total += keys[size - 1 - place] - keys[place]
    return total


@njit(cache=True, nogil=True)
def _unlike(keys: Floats) -> float:
    """How many ascending keys are not the most frequent one."""
    largest, first = 0, 0
    for place in range(1, len(keys) + 1):
        if place == len(keys) or keys[place] != keys[first]:
            largest = max(largest, place - first)
            first = place
    return float(len(keys) - largest)
