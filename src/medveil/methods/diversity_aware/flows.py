"""The cheapest flow on given arcs, by shortest paths from where an earlier one left off.

Record -> (value, cluster) -> cluster, as in `assigning`. Every pair of a value and a cluster, and every cluster, has a
price; the records whose cluster is the cheapest of their arcs at these prices stay where they are. Each other record in
turn is put in along the shortest path to a place that is free: it takes the place of another record, which takes that
of a third, and so on. Prices rise by what the path is longer than those to the nodes on the way, so that every record
stays where it pays least. When all have a place, none can be moved at a gain: the flow is optimal, and prices prove it.
Near prices, such as those of nearby centers, leave few records to move, and the paths are short.

A pair whose cap holds it neither above nor below costs what its cluster costs. It needs no node of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from medveil.errors import MedveilError
from medveil.methods.diversity_aware.auction import bargain
from medveil.methods.diversity_aware.caps import Caps
from medveil.methods.diversity_aware.paths import NEVER, settle
from medveil.methods.diversity_aware.places import count_in, release, stands_apart, take_out
from medveil.methods.diversity_aware.points import Codes, Ints
from medveil.run import Run, Stage

_NODES = 2_000_000
"""Nodes that are reached before a run can be stopped, about."""

_MANY = 1_000
"""Where nothing is known of prices and more records than these would have to be moved, an auction finds some."""


@dataclass(frozen=True)
class Arcs:
    """The clusters that each record may go to: those of record j are from `starts[j]` to `starts[j + 1]`."""

    starts: NDArray[np.int64]
    clusters: NDArray[np.int32]
    costs: NDArray[np.int64]


@dataclass(frozen=True)
class WholePrices:
    """Prices in units of the rounded distances: of pairs of a value and a cluster, and of the sizes of clusters."""

    of_value: NDArray[np.int64]
    of_cluster: NDArray[np.int64]


def cheapest_flow(
    arcs: Arcs,
    values: NDArray[np.int32],
    caps: Caps,
    start: NDArray[np.int32],
    levels: WholePrices,
    run: Run,
    doing: str,
) -> tuple[NDArray[np.int32], WholePrices]:
    """The cluster of each record in a flow of least cost, and the prices that prove it.

    `start` keeps the caps, and each record has an arc to its cluster there.
    """
    number, clusters = len(caps.upper), caps.clusters
    first = number * clusters
    price = np.concatenate([levels.of_value.ravel(), levels.of_cluster, [0]]).astype(np.int64)
    fixed = (arcs.starts, arcs.clusters, arcs.costs, values, caps.lower, caps.upper, _bounds(caps, len(values)))
    places = _Places.of(start, values, caps)
    run.step(Stage.SEARCH, None, doing)
    waiting = _leave(*fixed, price, *places.arrays)
    if len(waiting) > _MANY and not levels.of_value.any():
        settled, price[:-1] = bargain(*fixed[:4], caps, start, price, places.own, run, doing)
        places = _Places.of(start if caps.lower.any() else settled, values, caps)
        waiting = _leave(*fixed, price, *places.arrays)
    label, before = np.full(len(price), NEVER), np.empty(len(price), dtype=np.int32)
    done = 0
    while done < len(waiting):
        run.step(Stage.SEARCH, None, doing)
        given: tuple[Any, ...] = (*fixed, price, *places.arrays, waiting, done, label, before, _NODES)
        done = settle(*given)
        if done < 0:
            raise MedveilError("A solver found no solution where there is one.", "Please report it.")
    apart = (places.held == np.repeat(caps.upper, clusters)) | (
        (places.held <= np.repeat(caps.lower, clusters)) & np.repeat(caps.lower > 0, clusters)
    )
    of_value = np.where(apart, price[:first], np.tile(price[first:-1], number))
    return places.cluster, WholePrices(of_value.reshape(number, clusters), price[first:-1])


def _bounds(caps: Caps, records: int) -> NDArray[np.int64]:
    """How many records beyond those that lower caps ask for a cluster needs and may have; and how many there are beyond
    the smallest sizes.
    """
    required = int(caps.lower.sum())
    return np.array([caps.smallest - required, caps.largest - required, records - caps.smallest * caps.clusters])


@dataclass(frozen=True)
class _Places:
    """Who is where: the cluster of each record (-1: none yet) and the cost of its arc; how many of each value are in
    each cluster, and how many of these are still to come; of a cluster its records, how many they are, and how many of
    them no lower cap asks for.
    """

    cluster: NDArray[np.int32]
    own: NDArray[np.int64]
    held: NDArray[np.int32]
    lack: NDArray[np.int32]
    members: NDArray[np.int32]
    sizes: NDArray[np.int64]
    taken: NDArray[np.int64]

    @classmethod
    def of(cls, start: NDArray[np.int32], values: NDArray[np.int32], caps: Caps) -> _Places:
        """Records and counts of clusters are filled in by `_leave`."""
        number, clusters = len(caps.upper), caps.clusters
        pairs = np.bincount(values.astype(np.int64) * clusters + start, minlength=number * clusters)
        return cls(
            start.astype(np.int32),
            np.empty(len(values), dtype=np.int64),
            pairs.astype(np.int32),
            np.zeros(len(pairs), dtype=np.int32),
            np.empty((clusters, int(np.bincount(start).max(initial=caps.largest))), dtype=np.int32),
            np.zeros(clusters, np.int64),
            np.zeros(clusters, np.int64),
        )

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        return self.cluster, self.held, self.lack, self.members, self.sizes, self.taken, self.own


@njit(cache=True, nogil=True)
def _leave(
    starts: Ints,
    arc_clusters: Codes,
    arc_costs: Ints,
    values: Codes,
    lower: Ints,
    upper: Ints,
    bounds: Ints,
    price: Ints,
    cluster: Codes,
    held: Codes,
    lack: Codes,
    members: Codes,
    sizes: Ints,
    taken: Ints,
    own: Ints,
) -> Codes:
    """Take out every record that pays less elsewhere; these wait for a place.

    A pair that has a price of its own keeps it: the place is kept for a record of the same value, and counts as taken.
    """
    records, clusters = len(values), len(sizes)
    first = len(lower) * clusters
    for v in range(len(lower)):
        for i in range(clusters):
            taken[i] += max(held[v * clusters + i] - lower[v], 0)
            if lower[v] > 0 and held[v * clusters + i] == 0:
                price[v * clusters + i] = min(price[v * clusters + i], price[first + i])
    for j in range(records):
        i = cluster[j]
        members[i, sizes[i]] = j
        sizes[i] += 1
        for a in range(starts[j], starts[j + 1]):
            if arc_clusters[a] == i:
                own[j] = arc_costs[a]
    waiting = np.empty(records, dtype=np.int32)
    count, changed = 0, True
    while changed:
        changed = False
        for j in range(records):
            if cluster[j] >= 0:
                v, i = values[j], cluster[j]
                x = v * clusters + i
                if held[x] == upper[v] and held[x] > lower[v]:
                    price[x] = max(price[x], price[first + i])
                elif held[x] < upper[v] and held[x] <= lower[v]:
                    price[x] = min(price[x], price[first + i])
        for j in range(records):
            if cluster[j] < 0:
                continue
            v, i = values[j], cluster[j]
            x = v * clusters + i
            apart = stands_apart(held[x], lower[v], upper[v])
            pays = own[j] + price[x if apart else first + i]
            for a in range(starts[j], starts[j + 1]):
                y = v * clusters + arc_clusters[a]
                if not stands_apart(held[y], lower[v], upper[v]):
                    y = first + arc_clusters[a]
                if arc_costs[a] + price[y] < pays:
                    cluster[j] = -1
                    break
            if cluster[j] < 0:
                waiting[count] = j
                count += 1
                if apart:
                    lack[x] += 1
                else:
                    take_out(j, i, members, sizes)
                    count_in(x, i, -1, lower[v], held, taken)
                    price[x] = price[first + i]
        rest = price[first]
        for i in range(clusters):
            if taken[i] < bounds[1]:
                rest = max(rest, price[first + i])
        price[first + clusters] = rest
        for i in range(clusters):
            place = sizes[i] - 1
            while taken[i] > bounds[0] and price[first + i] < rest and place >= 0:
                j = members[i, place]
                v = values[j]
                x = v * clusters + i
                place -= 1
                if held[x] <= lower[v] or (cluster[j] == i and lack[x] > 0):
                    continue
                if cluster[j] == i:
                    cluster[j] = -1
                    waiting[count] = j
                    count += 1
                else:
                    lack[x] -= 1
                take_out(j, i, members, sizes)
                count_in(x, i, -1, lower[v], held, taken)
                price[x] = price[first + i]
                release(x, lower[v], upper[v], values, cluster, held, lack, members, sizes, taken)
                changed, place = True, sizes[i] - 1
    return waiting[:count]
