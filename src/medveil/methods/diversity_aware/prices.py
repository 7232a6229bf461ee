"""What proves an assignment: potentials of its flow, the prices that they are, and the arcs worth having at prices.

OR-tools does not return potentials. They are the lengths of shortest paths in the residual graph, in which a record
that moves from its cluster to another is an arc between the two: no node for the record is needed.

    (i, v) -> (i', v)   d(j, i') - d(j, i)   for a record j of value v in cluster i that has an arc to i'
    (i, v) -> i         0                    where cluster i holds fewer than upper_v of value v
    i -> (i, v)         0                    where it holds more than lower_v
    i -> rest -> i'     0                    where i holds fewer than the largest size, i' more than the smallest
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.codes.compiling import inner, outer
from medveil.methods.diversity_aware.caps import Caps
from medveil.methods.diversity_aware.points import Codes, Flags, Floats, Ints, Points
from medveil.run import Run, Stage

_CHUNK = 200_000
"""Nodes that are looked at before a run can be stopped."""

_GROUP = 32
"""Clusters that are ruled out together; neighbours have near numbers."""

_BATCH = 1 << 24
"""Distances between two looks at whether the run was stopped, at most."""

_SMALL = 1 << 16
"""Distances that take less time than to start threads for them."""


@dataclass(frozen=True)
class Potentials:
    """In units of the rounded distances: `of_value[v, i]` and `of_cluster[i]`, with `rest` for the units above the
    smallest size, which no cluster has for sure.
    """

    of_value: NDArray[np.int64]
    of_cluster: NDArray[np.int64]
    rest: int = 0

    @classmethod
    def zero(cls, caps: Caps) -> Potentials:
        return cls(np.zeros((len(caps.upper), caps.clusters), np.int64), np.zeros(caps.clusters, np.int64))


def find_potentials(
    arc_starts: NDArray[np.int64],
    arc_clusters: NDArray[np.int32],
    arc_costs: NDArray[np.int64],
    chosen: NDArray[np.int64],
    values: NDArray[np.int32],
    caps: Caps,
    start: Potentials,
    run: Run,
) -> Potentials:
    """The potentials of the flow that sends each record along its `chosen` arc.

    They begin at `start` and only fall, as little as needed: near potentials from an earlier flow stay near.
    """
    number, clusters = len(caps.upper), caps.clusters
    node = values.astype(np.int64) * clusters + arc_clusters[chosen]
    records = np.argsort(node, kind="stable")
    record_starts = np.searchsorted(node[records], np.arange(number * clusters + 1)).astype(np.int64)
    flow = np.diff(record_starts)
    filled = np.flatnonzero(flow)
    held = filled[np.argsort(filled % clusters, kind="stable")]  # the pairs of each cluster that hold any record
    held_starts = np.searchsorted(held % clusters, np.arange(clusters + 1)).astype(np.int64)
    sizes = flow.reshape(number, clusters).sum(axis=0)
    nodes = number * clusters + clusters + 1
    length = np.concatenate([start.of_value.ravel(), start.of_cluster, [start.rest]]).astype(np.int64)
    queue, queued = np.arange(nodes + 1), np.ones(nodes, dtype=np.bool_)
    state = np.array([0, nodes], dtype=np.int64)  # where the queue begins, and how many wait in it
    while state[1]:
        run.step(Stage.SEARCH, None, "Proving that the assignment is optimal")
        _shorten(
            arc_starts, arc_clusters, arc_costs, chosen, records, record_starts, flow, held, held_starts, sizes,
            caps.lower, caps.upper, np.array([caps.smallest, caps.largest]), length, queue, queued, state, _CHUNK,
        )  # fmt: skip
    of_value, of_cluster = length[: number * clusters].reshape(number, clusters), length[number * clusters : -1]
    # A pair without records has no arc but to its cluster, so that it may fall to it: its cap costs nothing.
    empty = flow.reshape(number, clusters) == 0
    of_value = np.where(empty, np.minimum(of_value, of_cluster), of_value)
    return Potentials(of_value, of_cluster, int(length[-1]))


@inner
def _push(node: int, queue: Ints, queued: Flags, state: Ints) -> None:
    if not queued[node]:
        queue[(state[0] + state[1]) % len(queue)] = node
        queued[node] = True
        state[1] += 1


@outer
def _shorten(
    arc_starts: Ints,
    arc_clusters: Codes,
    arc_costs: Ints,
    chosen: Ints,
    records: Ints,
    record_starts: Ints,
    flow: Ints,
    held: Ints,
    held_starts: Ints,
    sizes: Ints,
    lower: Ints,
    upper: Ints,
    size_range: Ints,
    length: Ints,
    queue: Ints,
    queued: Flags,
    state: Ints,
    steps: int,
) -> None:
    """Label-correcting shortest paths, first in first out; `length` falls until no arc shortens a path."""
    clusters, number = len(sizes), len(upper)
    first_cluster = number * clusters
    rest = first_cluster + clusters
    for _ in range(steps):
        if state[1] == 0:
            return
        node = queue[state[0]]
        state[0] = (state[0] + 1) % len(queue)
        state[1] -= 1
        queued[node] = False
        here = length[node]
        if node < first_cluster:
            v = node // clusters
            i = node - v * clusters
            for r in range(record_starts[node], record_starts[node + 1]):
                j = records[r]
                base = here - arc_costs[chosen[j]]
                for a in range(arc_starts[j], arc_starts[j + 1]):
                    other = v * clusters + arc_clusters[a]
                    if base + arc_costs[a] < length[other]:
                        length[other] = base + arc_costs[a]
                        _push(other, queue, queued, state)
            if flow[node] < upper[v] and here < length[first_cluster + i]:
                length[first_cluster + i] = here
                _push(first_cluster + i, queue, queued, state)
        elif node < rest:
            i = node - first_cluster
            for h in range(held_starts[i], held_starts[i + 1]):
                other = held[h]
                if flow[other] > lower[other // clusters] and here < length[other]:
                    length[other] = here
                    _push(other, queue, queued, state)
            if sizes[i] < size_range[1] and here < length[rest]:
                length[rest] = here
                _push(rest, queue, queued, state)
        else:
            for i in range(clusters):
                if sizes[i] > size_range[0] and here < length[first_cluster + i]:
                    length[first_cluster + i] = here
                    _push(first_cluster + i, queue, queued, state)


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
    pays: NDArray[np.float64],
    most: int,
    run: Run,
    doing: str,
) -> Offers:
    """Up to `most` clusters for each record that cost less than it `pays`, the cheapest ones, looking at all clusters.

    Groups of clusters whose box is too far away, or too dear, are passed over.
    """
    groups = _groups(centers.numbers, centers.categories, prices.of_value, _GROUP)
    small = len(points) * len(centers) <= _SMALL
    batch = len(points) if small else max(1, min(_BATCH // len(centers) + 1, -(-len(points) // 8)))
    least = np.empty(len(points))
    found = np.full((len(points), most), -1, dtype=np.int32)

    def look(first: int) -> None:
        last = min(first + batch, len(points))
        _look(points.numbers, points.categories, points.scales, values, *groups, pays, first, last, least, found)

    if small:
        run.step(Stage.SEARCH, None, doing)
        look(0)
    else:
        _look_in_turn(look, range(0, len(points), batch), run, doing)
    rows, places = np.nonzero(found >= 0)
    return Offers(least, rows.astype(np.int32), found[rows, places])


def _look_in_turn(look: Callable[[int], None], starts: range, run: Run, doing: str) -> None:
    """Two batches at a time, until the run is stopped."""
    with ThreadPoolExecutor(2) as pool:
        try:
            for number, _ in enumerate(pool.map(look, starts)):
                run.step(Stage.SEARCH, number / len(starts), doing)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


@outer
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


@outer
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
        for g in range(groups):
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
