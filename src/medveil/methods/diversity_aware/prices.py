"""What proves an assignment: the prices of places, and the arcs worth having at prices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from medveil.methods.diversity_aware.caps import Caps
from medveil.methods.diversity_aware.points import Codes, Floats, Points
from medveil.run import Run, Stage

Given = TypeVar("Given")
Made = TypeVar("Made")

_GROUP = 32
"""Clusters that are ruled out together; neighbours have near numbers."""

_BATCH = 1 << 24
"""Distances between two looks at whether the run was stopped, at most."""

_SMALL = 1 << 20
"""Distances that take less time than to start threads for them."""


@dataclass(frozen=True)
class Prices:
    """What a record of value v pays beyond its distance in cluster i: `of_value[v, i]`, of which `of_cluster[i]` is for
    the cluster's size and the rest for its cap on the value.
    """

    of_value: NDArray[np.float64]
    of_cluster: NDArray[np.float64]

    @classmethod
    def zero(cls, caps: Caps) -> Prices:
        return cls(np.zeros((len(caps.upper), caps.clusters)), np.zeros(caps.clusters))

    def paid(self, caps: Caps, records: int) -> float:
        """The most that any assignment which keeps the caps can pay.

            smallest sum_i a_i + the r largest a_i + sum_(i, v) max(b_iv lower_v, b_iv upper_v)

        a_i: the price of the size; b_iv: that of the cap; r: the records beyond the smallest sizes, of which a
        cluster has room for as many as the largest size allows, so that its a_i is taken so often.
        """
        extra, room = records - caps.smallest * caps.clusters, caps.largest - caps.smallest
        taken = np.diff(np.minimum(np.arange(caps.clusters + 1) * room, extra))
        largest = float(np.sort(self.of_cluster)[::-1] @ taken)
        of_cap = self.of_value - self.of_cluster
        caps_paid = np.maximum(of_cap * caps.lower[:, None], of_cap * caps.upper[:, None]).sum()
        return float(caps.smallest * self.of_cluster.sum() + largest + caps_paid)


@dataclass(frozen=True)
class Offers:
    """For each record the least sum of distance and price, and the arcs that were found below what it pays now."""

    least: NDArray[np.float64]
    records: NDArray[np.int32]
    clusters: NDArray[np.int32]


def look_around(
    points: Points,
    values: NDArray[np.int32],
    centers: Points,
    prices: Prices,
    near: NDArray[np.int32],
    pays: NDArray[np.float64],
    most: int,
    run: Run,
    doing: str,
) -> Offers:
    """Up to `most` clusters for each record that cost less than it `pays`, the cheapest ones, looking at all clusters.

    Groups of clusters whose box is too far away, or too dear, are passed over; who begins with the group of a `near`
    cluster passes over most.
    """
    groups = _groups(centers.numbers, centers.categories, prices.of_value, _GROUP)
    small = len(points) * len(centers) <= _SMALL
    batch = len(points) if small else max(1, min(_BATCH // len(centers) + 1, -(-len(points) // 8)))
    least = np.empty(len(points))
    found = np.full((len(points), most), -1, dtype=np.int32)

    def look(first: int) -> None:
        last = min(first + batch, len(points))
        _look(points.numbers, points.categories, points.scales, values, *groups, near, pays, first, last, least, found)

    if small:
        run.step(Stage.SEARCH, None, doing)
        look(0)
    else:
        begins = range(0, len(points), batch)
        for number, _ in enumerate(in_turn(look, begins)):
            run.step(Stage.SEARCH, number / len(begins), doing)
    rows, places = np.nonzero(found >= 0)
    return Offers(least, rows.astype(np.int32), found[rows, places])


def in_turn(work: Callable[[Given], Made], given: Sequence[Given]) -> Iterator[Made]:
    """What work makes of each, in order, two at a time; where whoever asks stops, what was not begun is left."""
    with ThreadPoolExecutor(2) as pool:
        try:
            yield from pool.map(work, given)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


@njit(cache=True, nogil=True)
def _groups(
    numbers: Floats, categories: Codes, prices: Floats, size: int
) -> tuple[Floats, Floats, Floats, Codes, Floats, Floats]:
    """Centers in groups, `[group, column, place]`: the box around each group, its centers, and its least price and all
    prices for each value. Places that are left over have an infinite price.
    """
    clusters, columns = numbers.shape
    count = (clusters + size - 1) // size
    low = np.full((count, columns), np.inf)
    high = np.full((count, columns), -np.inf)
    center = np.zeros((count, columns, size))
    category = np.zeros((count, categories.shape[1], size), dtype=np.int32)
    price = np.full((prices.shape[0], count, size), np.inf)
    cheapest = np.full((prices.shape[0], count), np.inf)
    for i in range(clusters):
        g, place = i // size, i % size
        for column in range(columns):
            low[g, column] = min(low[g, column], numbers[i, column])
            high[g, column] = max(high[g, column], numbers[i, column])
            center[g, column, place] = numbers[i, column]
        for column in range(categories.shape[1]):
            category[g, column, place] = categories[i, column]
        for v in range(prices.shape[0]):
            price[v, g, place] = prices[v, i]
            cheapest[v, g] = min(cheapest[v, g], prices[v, i])
    return low, high, center, category, price, cheapest


@njit(cache=True, nogil=True)
def _look(
    numbers: Floats,
    categories: Codes,
    scales: Floats,
    values: Codes,
    low: Floats,
    high: Floats,
    center: Floats,
    category: Codes,
    price: Floats,
    cheapest: Floats,
    near: Codes,
    pays: Floats,
    first: int,
    last: int,
    least: Floats,
    found: Codes,
) -> None:
    """For records `first` to `last`: what they pay at least, and where; loops over places are made for vectors."""
    groups, columns, size = center.shape
    most = found.shape[1]
    sums = np.empty(most)
    total = np.empty(size)
    for j in range(first, last):
        v = values[j]
        kept = 0
        limit = pays[j]
        best = pays[j]
        begin = near[j] // size
        for turn in range(groups):
            g = begin + turn if begin + turn < groups else begin + turn - groups
            nearest = cheapest[v, g]
            for column in range(columns):
                x = numbers[j, column]
                nearest += max(low[g, column] - x, 0.0) + max(x - high[g, column], 0.0)
            if nearest >= limit:
                continue
            for place in range(size):
                total[place] = 0.0
            for column in range(columns):
                x = numbers[j, column]
                for place in range(size):
                    total[place] += abs(x - center[g, column, place])
            for column in range(len(scales)):
                code, whole = categories[j, column], scales[column]
                half = 0.5 * whole
                for place in range(size):
                    other = category[g, column, place]
                    total[place] += half if other < 0 else (0.0 if other == code else whole)
            for place in range(size):
                paid = total[place] + price[v, g, place]
                if paid >= limit:
                    continue
                best = min(best, paid)
                at = kept if kept < most else most - 1
                while at > 0 and sums[at - 1] > paid:
                    sums[at] = sums[at - 1]
                    found[j, at] = found[j, at - 1]
                    at -= 1
                sums[at] = paid
                found[j, at] = g * size + place
                kept = min(kept + 1, most)
                if kept == most:
                    limit = min(limit, sums[most - 1])
        least[j] = best
