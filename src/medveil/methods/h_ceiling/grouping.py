"""Thin classes in groups of k people: by quasi-identifiers and sizes alone, near people first.

A group of g classes with |R| people publishes |R| records in each of them, (g - 1) |R| of which are counterfeits. Thin
classes are put in the order of the declared columns and cut into runs of k people or more so that the counterfeits are
fewest (a run that could be cut in two never pays, so runs are short). If that takes more than `NEAR_ENOUGH` times the
fewest that any fill needs, classes that agree in all but the last of the columns are exchanged by size, then in all
but the last two, and so on: groups are as near as that price allows. Classes that differ in a column which must not
be mixed are never in one group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.codes.compiling import outer
from medveil.methods.h_ceiling.objective import fewest
from medveil.methods.h_ceiling.partition import ClassPartition
from medveil.methods.h_ceiling.people import Counts

NEAR_ENOUGH = 1.25
"""How many times the fewest counterfeits groups of near people may take before nearness is given up, by columns."""

TOO_SMALL = -1
"""The group of a class whose people are too few to be grouped with anybody."""


@dataclass(frozen=True)
class Grouping:
    """The group of each class, numbered from 0, or TOO_SMALL; a class of k people or more is a group of its own.

    people: |R| of each group; classes: g of each group.
    """

    group_of_class: Counts
    people: Counts
    classes: Counts

    @property
    def counterfeits(self) -> int:
        """The sum over groups of (g - 1) |R|."""
        return int(((self.classes - 1) * self.people).sum())

    def real(self, partition: ClassPartition) -> NDArray[np.float64]:
        """The probability r_i / |R| of a record of each class to be real; 1 where nothing is published."""
        grouped = self.group_of_class != TOO_SMALL
        total = np.append(self.people, 1)[self.group_of_class]
        return np.where(grouped, partition.people / total, 1.0)


def group_classes(partition: ClassPartition, k: int, order: Sequence[int], apart: Sequence[int]) -> Grouping:
    """Groups of at least k people.

    order: the quasi-identifiers by which classes are near, the most telling first.
    apart: those in which the classes of a group must publish the same.
    """
    people = partition.people
    region = _ranked(
        np.stack([partition.places[a] * 64 + partition.levels[a] for a in apart]) if apart else None, len(people)
    )
    thin = np.flatnonzero(people < k)
    near = [_dense(partition.places[a][thin]) for a in order]
    least = NEAR_ENOUGH * fewest(people, k)
    runs = np.zeros(0, dtype=np.int64)
    chosen = thin
    for columns in range(len(near), -1, -1):
        keys = [*near[columns - 1 :: -1], region[thin]] if columns else [region[thin]]
        by_keys = np.lexsort((thin, -people[thin], *keys))
        alike = _alike(by_keys, keys)
        chosen = thin[by_keys]
        if columns < len(near):
            chosen = chosen[_exchanged(people[chosen], alike, k)]
        runs = _cut(people[chosen], region[chosen], k)
        if _price(people[chosen], runs) <= least:
            break
    return _with_leftovers(partition, k, region, chosen, runs)


def _ranked(keys: NDArray[np.int64] | None, number: int) -> Counts:
    """The rank of each column of keys; all the same where there are none."""
    if keys is None:
        return np.zeros(number, dtype=np.int64)
    return np.unique(keys, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _dense(values: NDArray[np.int64]) -> Counts:
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _alike(order: Counts, keys: Sequence[Counts]) -> Counts:
    """Where runs of equal keys begin, and the end."""
    changes = np.zeros(len(order) + 1, dtype=np.bool_)
    changes[[0, -1]] = True
    for key in keys:
        changes[1:-1] |= np.diff(key[order]) != 0
    return np.flatnonzero(changes)


@outer
def _exchanged(sizes: Counts, starts: Counts, k: int) -> Counts:
    """Within each run of `starts`, whose sizes fall, an order in which neighbours add up to k: the largest that is
    left, then again and again the largest that does not pass k with it, or else the smallest.
    """
    order = np.empty(len(sizes), dtype=np.int64)
    at = 0
    following = np.empty(k + 1, dtype=np.int64)
    ends = np.empty(k + 1, dtype=np.int64)
    for run in range(len(starts) - 1):
        following[:] = 0
        ends[:] = 0
        for i in range(starts[run + 1] - 1, starts[run] - 1, -1):
            following[sizes[i]] = i
        for i in range(starts[run], starts[run + 1]):
            ends[sizes[i]] = i + 1
        left = starts[run + 1] - starts[run]
        together = 0
        while left:
            taken = 0
            for size in range(min(k - together, k - 1), 0, -1):
                if following[size] < ends[size]:
                    taken = size
                    break
            if not taken:
                for size in range(1, k):
                    if following[size] < ends[size]:
                        taken = size
                        break
            order[at] = following[taken]
            following[taken] += 1
            at += 1
            left -= 1
            together += taken
            if together >= k:
                together = 0
    return order


@outer
def _cut(sizes: Counts, region: Counts, k: int) -> Counts:
    """The run of each class, given in order, so that runs have k people or more, stay in their region and take the
    fewest counterfeits; -1 for the classes of a region that has fewer than k people in all.

    best[i]: the fewest counterfeits for the first i classes of a region, (g - 1) |R| for each run.
    """
    runs = np.full(len(sizes), -1, dtype=np.int64)
    best = np.empty(len(sizes) + 1, dtype=np.float64)
    came = np.empty(len(sizes) + 1, dtype=np.int64)
    number = 0
    start = 0
    while start < len(sizes):
        end = start
        total = 0
        while end < len(sizes) and region[end] == region[start]:
            total += sizes[end]
            end += 1
        if total >= k:
            best[start] = 0.0
            for i in range(start + 1, end + 1):
                best[i] = np.inf
                people = 0
                for j in range(i - 1, start - 1, -1):
                    people += sizes[j]
                    if people < k:
                        continue
                    price = best[j] + (i - j - 1) * people
                    if price < best[i]:
                        best[i] = price
                        came[i] = j
                    # Beyond that a run could be cut in two, each of k people.
                    if people >= 3 * k and best[i] < np.inf:
                        break
            i = end
            while i > start:
                for j in range(came[i], i):
                    runs[j] = number
                number += 1
                i = came[i]
        start = end
    return runs


def _price(sizes: Counts, runs: Counts) -> int:
    """The counterfeits of these runs."""
    inside = runs >= 0
    people = np.bincount(runs[inside], sizes[inside])
    return int(((np.bincount(runs[inside]) - 1) * people).sum())


def _with_leftovers(partition: ClassPartition, k: int, region: Counts, thin: Counts, runs: Counts) -> Grouping:
    """Number all groups; thin classes of a region with too few of them join its class of the fewest people."""
    people = partition.people
    group_of_class = np.full(len(people), TOO_SMALL, dtype=np.int64)
    large = np.flatnonzero(people >= k)
    group_of_class[thin] = np.where(runs >= 0, runs + len(large), TOO_SMALL)
    group_of_class[large] = np.arange(len(large))
    by_people = large[np.lexsort((large, people[large], region[large]))]
    first = by_people[np.flatnonzero(np.append(True, np.diff(region[by_people]) != 0))] if len(large) else by_people
    host = dict(zip(region[first].tolist(), group_of_class[first].tolist(), strict=True))
    for number in thin[runs < 0].tolist():
        group_of_class[number] = host.get(int(region[number]), TOO_SMALL)
    grouped = group_of_class >= 0
    return Grouping(
        group_of_class,
        np.bincount(group_of_class[grouped], people[grouped]).astype(np.int64),
        np.bincount(group_of_class[grouped]).astype(np.int64),
    )
