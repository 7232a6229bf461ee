"""Prices to begin with where nothing near is known: an auction of all places.

A record that has no place bids for the cheapest of its arcs: as much as makes it the second cheapest, and a little
more. Who held that place looks for another. So each pays at most that little more than it must (Bertsekas 1988); it
begins large, so that few bids are made, and is lowered step by step. Nothing is proved here: `flows` does that.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from medveil.methods.diversity_aware.caps import Caps
from medveil.methods.diversity_aware.points import Codes, Ints
from medveil.run import Run, Stage

_STEPS = (2, 10, 50)
"""What a bid adds, as parts of the mean distance."""

_BIDS = 1_000
"""Bids of each record in one step, at most, on average."""

_CHUNK = 1 << 20
"""Bids before a run can be stopped."""

_ABOVE_ALL = np.iinfo(np.int64).max // 4
"""A price that no place has."""


def bargain(
    starts: NDArray[np.int64],
    arc_clusters: NDArray[np.int32],
    arc_costs: NDArray[np.int64],
    values: NDArray[np.int32],
    caps: Caps,
    start: NDArray[np.int32],
    price: NDArray[np.int64],
    own: NDArray[np.int64],
    run: Run,
    doing: str,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """A cluster for each record, in clusters of the sizes that they have at the start, and prices of the pairs of a
    value and a cluster, then of the clusters, at which nearly every record pays least there.

    Lower caps are not kept, upper ones are. `own`: what each record's arc to its cluster at the start costs.
    """
    number, clusters = len(caps.upper), caps.clusters
    first = number * clusters
    cluster = start.astype(np.int32)
    pair = values.astype(np.int64) * clusters + cluster
    held = np.bincount(pair, minlength=first).astype(np.int32)
    room = np.bincount(cluster, minlength=clusters)
    order = np.argsort(cluster, kind="stable")
    place = np.arange(len(values)) - np.repeat(np.cumsum(room) - room, room)
    members = np.full((clusters, int(room.max())), -1, dtype=np.int32)
    members[cluster[order], place] = order
    sizes, free = room.copy(), price[first : first + clusters].copy()
    pays = np.maximum(price[pair], free[cluster])
    for step in _STEPS:
        more = max(int(own.mean()) // step, 1)
        state = np.zeros(3, dtype=np.int64)
        queue = np.empty(len(values), dtype=np.int32)
        while state[2] == 0 or (state[1] > 0 and state[2] < _BIDS * len(values)):
            run.step(Stage.SEARCH, None, doing)
            _bid(starts, arc_clusters, arc_costs, values, caps.upper, room, cluster, pays, held, members, sizes, free,
                 queue, state, more, _CHUNK)  # fmt: skip
    found = np.concatenate([np.full(first, _ABOVE_ALL), np.where(sizes < room, free, _ABOVE_ALL)])
    placed = np.flatnonzero(cluster >= 0)
    np.minimum.at(found, first + cluster[placed].astype(np.int64), pays[placed])
    np.minimum.at(found, values[placed].astype(np.int64) * clusters + cluster[placed], pays[placed])
    at_cap = held == np.repeat(caps.upper, clusters)
    found[:first] = np.where(at_cap, found[:first], np.tile(found[first:], number))
    return (cluster if len(placed) == len(values) else start), found


@njit(cache=True, nogil=True)
def _bid(
    starts: Ints,
    arc_clusters: Codes,
    arc_costs: Ints,
    values: Codes,
    upper: Ints,
    room: Ints,
    cluster: Codes,
    pays: Ints,
    held: Codes,
    members: Codes,
    sizes: Ints,
    free: Ints,
    queue: Codes,
    state: Ints,
    more: int,
    steps: int,
) -> None:
    """Take out who pays too much, then let the records in the queue bid; `state`: where the queue begins, how many wait
    in it, and how many bids were made. Of a cluster: how many places it has, and what those that are free cost.
    """
    clusters, records = len(sizes), len(values)
    cheapest = np.empty((clusters, 3), dtype=np.int64)
    best = np.empty(5, dtype=np.int64)
    for i in range(clusters):
        _find_cheapest(i, -1, values, members, sizes, pays, cheapest[i])
    if state[2] == 0:
        state[2] = 1
        for j in range(records):
            i = cluster[j]
            if i >= 0:
                _look(j, starts, arc_clusters, arc_costs, values, upper, room, pays, held, members, sizes, free,
                      cheapest, best)  # fmt: skip
                for a in range(starts[j], starts[j + 1]):
                    if arc_clusters[a] == i and arc_costs[a] + pays[j] > best[0] + more:
                        free[i] = min(free[i], pays[j]) if sizes[i] < room[i] else pays[j]
                        _leave_place(j, values, cluster, held, members, sizes)
                        _find_cheapest(i, -1, values, members, sizes, pays, cheapest[i])
                        break
            if cluster[j] < 0:
                queue[state[1]] = j
                state[1] += 1
    for _ in range(steps):
        if state[1] == 0:
            return
        j = queue[state[0]]
        state[0] = (state[0] + 1) % records
        state[1] -= 1
        state[2] += 1
        _look(j, starts, arc_clusters, arc_costs, values, upper, room, pays, held, members, sizes, free, cheapest,
              best)  # fmt: skip
        i, other = best[2], best[3]
        pays[j] = best[4]
        if other >= 0:
            pays[j] += more + (best[1] - best[0] if best[1] < _ABOVE_ALL else 0)
            _leave_place(other, values, cluster, held, members, sizes)
            queue[(state[0] + state[1]) % records] = other
            state[1] += 1
        cluster[j] = i
        members[i, sizes[i]] = j
        sizes[i] += 1
        held[values[j] * clusters + i] += 1
        _find_cheapest(i, -1, values, members, sizes, pays, cheapest[i])


@njit(cache=True, nogil=True)
def _look(
    j: int,
    starts: Ints,
    arc_clusters: Codes,
    arc_costs: Ints,
    values: Codes,
    upper: Ints,
    room: Ints,
    pays: Ints,
    held: Codes,
    members: Codes,
    sizes: Ints,
    free: Ints,
    cheapest: Ints,
    best: Ints,
) -> None:
    """What the cheapest and the second cheapest place cost record j, distance included; the cluster and the holder of
    the cheapest (-1: it is free), and its price. At a cap, only places of the same value can be had.
    """
    v = values[j]
    own = np.empty(3, dtype=np.int64)
    best[0], best[1] = _ABOVE_ALL, _ABOVE_ALL
    for a in range(starts[j], starts[j + 1]):
        i = arc_clusters[a]
        if held[v * len(sizes) + i] == upper[v]:
            _find_cheapest(i, v, values, members, sizes, pays, own)
            low, second, holder = own[0], own[1], own[2]
        elif sizes[i] < room[i]:
            low, second, holder = free[i], free[i], -1
        else:
            low, second, holder = cheapest[i, 0], cheapest[i, 1], cheapest[i, 2]
        if arc_costs[a] + low < best[0]:
            best[1] = min(best[0], arc_costs[a] + second)
            best[0], best[2], best[3], best[4] = arc_costs[a] + low, i, holder, low
        else:
            best[1] = min(best[1], arc_costs[a] + low)


@njit(cache=True, nogil=True)
def _find_cheapest(i: int, v: int, values: Codes, members: Codes, sizes: Ints, pays: Ints, found: Ints) -> None:
    """The least and the second least that records of cluster i pay (of value v, unless that is -1), and who does."""
    found[0], found[1], found[2] = _ABOVE_ALL, _ABOVE_ALL, -1
    for place in range(sizes[i]):
        j = members[i, place]
        if v >= 0 and values[j] != v:
            continue
        if pays[j] < found[0]:
            found[0], found[1], found[2] = pays[j], found[0], j
        elif pays[j] < found[1]:
            found[1] = pays[j]


@njit(cache=True, nogil=True)
def _leave_place(j: int, values: Codes, cluster: Codes, held: Codes, members: Codes, sizes: Ints) -> None:
    i, place = cluster[j], 0
    while members[i, place] != j:
        place += 1
    sizes[i] -= 1
    members[i, place] = members[i, sizes[i]]
    held[values[j] * len(sizes) + i] -= 1
    cluster[j] = -1
