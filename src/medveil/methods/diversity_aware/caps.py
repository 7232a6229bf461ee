"""How many records of each sensitive value a cluster may hold, in whole numbers and exact rationals, and a first
grouping of neighbours that keeps it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from medveil.codes.compiling import inner, outer
from medveil.codes.sorting import ascending
from medveil.errors import UnreachableError
from medveil.methods.diversity_aware.points import Codes, Flags, Floats, Ints, Points
from medveil.run import Run, Stage

_LARGE = 20_000
"""Parts above this are halved one at a time, so that a run can be stopped in between."""


@dataclass(frozen=True)
class Caps:
    """What every cluster must keep; every cluster must keep the same.

    clusters: how many there are, c.
    smallest, largest: the least and the most units of a cluster: floor(n / c) and ceil(n / c), or k and 2k - 1.
    lower, upper: the least and the most units of each value in a cluster.
    excess: by how many units all clusters together stay above the caps that were asked for.
    alpha: the least alpha that allows these caps, where a cap was asked for.

    c identical clusters can be filled from counts N_v exactly where every N_v / c lies between lower and upper and
    n / c between smallest and largest: that is a fractional solution of a flow problem, which then has a whole one.
    """

    clusters: int
    smallest: int
    largest: int
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    excess: int = 0
    alpha: Fraction | None = None

    def hold_for(self, counts: NDArray[np.int64], clusters: int | None = None) -> bool:
        """Whether so many units of each value can be spread over so many of the clusters."""
        c, n = self.clusters if clusters is None else clusters, int(counts.sum())
        fits = self.smallest * c <= n <= self.largest * c
        return bool(fits and np.all(self.lower * c <= counts) and np.all(counts <= self.upper * c))


def number_of_clusters(units: int, k: int) -> int:
    """As many clusters as there can be of at least k units each.

    >>> number_of_clusters(205, 10), number_of_clusters(19, 10)
    (20, 1)
    """
    if units < k:
        raise UnreachableError(
            f"No cluster can have {k:,} people or records: there are only {units:,}.", f"Ask for a k up to {units:,}."
        )
    return units // k


def even_caps(units: int, k: int, values: int = 1, *, clusters: int | None = None, at_least: bool = False) -> Caps:
    """Sizes alone, without any cap on values: as even as can be, or `at_least` k, as equation 5 of the paper has it.

    More than 2k - 1 units would be two clusters, and what is left beside k for each cluster is all that one can get.
    """
    clusters = clusters or number_of_clusters(units, k)
    smallest, largest = units // clusters, -(-units // clusters)
    if at_least:
        smallest, largest = min(k, smallest), max(largest, min(2 * k - 1, units - (clusters - 1) * k))
    free = np.full(values, largest, dtype=np.int64)
    return Caps(clusters, smallest, largest, np.zeros(values, dtype=np.int64), free)


def make_caps(
    counts: Sequence[int],
    k: int,
    alpha: Fraction | None,
    *,
    capped: Sequence[bool],
    both: bool = False,
    minimize_excess: bool = False,
    clusters: int | None = None,
    at_least: bool = False,
) -> Caps:
    """The caps on each value, or an UnreachableError which names the least alpha that can be kept.

        upper_v = floor(alpha N_v / c)    or, where alpha is None, ceil(N_v / c), its own even share
        lower_v = floor(N_v / c)          with `both`, 0 otherwise

    N_v: the units with value v; c: the clusters. A cap below ceil(N_v / c) cannot be kept: some cluster has at least
    the even share. `minimize_excess` then takes ceil(N_v / c) for it, and holds every cluster to at least the cap, so
    that the excess is the least of all, N_v - c upper_v, and is spread evenly.
    """
    n = sum(counts)
    plain = even_caps(n, k, len(counts), clusters=clusters, at_least=at_least)
    c = plain.clusters
    lower, upper, excess = plain.lower.copy(), plain.upper.copy(), 0
    watched = [v for v, count in enumerate(counts) if capped[v] and count]
    for v in watched:
        share = Fraction(counts[v], c)
        least = -(-counts[v] // c)
        cap = least if alpha is None else int(alpha * share)  # both positive: int() is floor
        if both:
            lower[v] = counts[v] // c
        if cap < least:
            excess += counts[v] - c * cap
            lower[v] = max(int(lower[v]), cap)
        upper[v] = min(max(cap, least), plain.largest)
    needed = least_alpha([counts[v] for v in watched], c)
    if excess and not minimize_excess:
        raise UnreachableError(
            f"No {c:,} clusters keep the cap with alpha {_decimal(alpha)}: the least that can be kept is "
            f"{needed} ({_decimal(needed)}).",
            f"Set 'alpha: {needed}', leave alpha out so that each value gets the least cap it can have, "
            "or allow it with 'excess: minimize'.",
        )
    # A cluster has what is required of each value at least.
    return Caps(c, max(plain.smallest, int(lower.sum())), plain.largest, lower, upper, excess, needed)


def least_alpha(counts: Sequence[int], clusters: int) -> Fraction | None:
    """The least alpha that caps of floor(alpha N_v / c) can be kept with, max over v of c ceil(N_v / c) / N_v.

    Balanced clusters reach it: deal the records of one value after the other to the clusters in turn.

    >>> least_alpha([141, 59], 20)
    Fraction(160, 141)
    """
    return max((Fraction(clusters * -(-count // clusters), count) for count in counts), default=None)


def _decimal(number: Fraction | None) -> str:
    return "none" if number is None else f"{float(number):.6g}"


def merge_free(values: NDArray[np.int32], caps: Caps) -> tuple[NDArray[np.int32], Caps]:
    """The same caps with all values that no cap can bind put together as one: few values make small problems.

    A value is free where a cluster may hold all that there are of it, and need hold none.
    """
    counts = np.bincount(values, minlength=len(caps.upper))
    bound = np.flatnonzero((caps.lower > 0) | (caps.upper < np.minimum(counts, caps.largest)))
    code = np.full(len(caps.upper), len(bound), dtype=np.int32)
    code[bound] = np.arange(len(bound), dtype=np.int32)
    merged = Caps(
        caps.clusters,
        caps.smallest,
        caps.largest,
        np.append(caps.lower[bound], 0),
        np.append(caps.upper[bound], caps.largest),
        caps.excess,
        caps.alpha,
    )
    return code[values], merged


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


@outer
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
    """Halve down to single clusters.

    Each part is a stretch of `place`; those that wait are on a stack, which is never higher than there are clusters.
    """
    place, moved = members.copy(), np.empty_like(members)
    stack = np.empty((clusters + 1, 4), dtype=np.int64)  # from, to, the first cluster and how many
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, len(members), first, clusters
    waiting = 1
    while waiting > 0:
        waiting -= 1
        start, end, cluster_start, number = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3]
        if number == 1:
            for i in range(start, end):
                cluster[place[i]] = cluster_start
            continue
        left = _left_half(numbers, categories, scales, values, lower, upper, place[start:end], number)
        middle, others = start, 0
        for i in range(start, end):
            if left[i - start]:
                place[middle] = place[i]
                middle += 1
            else:
                moved[others] = place[i]
                others += 1
        for i in range(others):
            place[middle + i] = moved[i]
        half = number // 2
        stack[waiting, 0], stack[waiting, 1] = middle, end
        stack[waiting, 2], stack[waiting, 3] = cluster_start + half, number - half
        stack[waiting + 1, 0], stack[waiting + 1, 1] = start, middle
        stack[waiting + 1, 2], stack[waiting + 1, 3] = cluster_start, half
        waiting += 2


@outer
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
    own = np.empty(size, dtype=np.int32)
    for i in range(size):
        own[i] = values[members[i]]
    value, present = _recode(own)
    count = np.zeros(len(present), dtype=np.int64)
    for v in value:
        count[v] += 1
    # Loops over single numbers: expressions of whole arrays take numba seconds to compile.
    least, most = np.empty_like(count), np.empty_like(count)
    for v in range(len(present)):
        low, high = lower[present[v]], upper[present[v]]
        least[v] = max(left_clusters * low, count[v] - right_clusters * high, 0)
        most[v] = min(left_clusters * high, count[v] - right_clusters * low)
    wanted = (size * left_clusters) // clusters

    best_gain = -np.inf
    best = np.zeros(size, dtype=np.bool_)
    left = np.zeros(size, dtype=np.bool_)
    key, keys = np.empty(size), np.empty(size)
    for column in range(columns + categories.shape[1]):
        for i in range(size):
            if column < columns:
                key[i] = numbers[members[i], column]
            else:
                key[i] = float(categories[members[i], column - columns])
        order = ascending(key)
        if key[order[0]] == key[order[-1]] and best_gain > -np.inf:
            continue
        _cut(order, value, least, most, wanted, left)
        inside, first, last = 0, np.empty(size), np.empty(size)
        for i in range(size):
            keys[i] = key[order[i]]
            if left[order[i]]:
                first[inside] = keys[i]
                inside += 1
            else:
                last[i - inside] = keys[i]
        if column < columns:
            gain = _to_median(keys) - _to_median(first[:inside]) - _to_median(last[: size - inside])
        else:
            gain = _unlike(keys) - _unlike(first[:inside]) - _unlike(last[: size - inside])
            gain *= scales[column - columns]
        if gain > best_gain:
            best_gain = gain
            for i in range(size):
                best[i] = left[i]
    if best_gain == -np.inf:  # no column at all
        _cut(np.arange(size), value, least, most, wanted, best)
    return best


@inner
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


@inner
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


@inner
def _to_median(keys: Floats) -> float:
    """The sum of the distances of ascending keys to their median."""
    total, size = 0.0, len(keys)
    for place in range(size // 2):
        total += keys[size - 1 - place] - keys[place]
    return total


@inner
def _unlike(keys: Floats) -> float:
    """How many ascending keys are not the most frequent one."""
    largest, first = 0, 0
    for place in range(1, len(keys) + 1):
        if place == len(keys) or keys[place] != keys[first]:
            largest = max(largest, place - first)
            first = place
    return float(len(keys) - largest)
