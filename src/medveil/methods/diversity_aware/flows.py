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
from medveil.methods.diversity_aware.points import Codes, Ints
from medveil.run import Run, Stage

_NEVER = np.iinfo(np.int64).max
"""The length of the path to a node that was not reached."""

_NODES = 2_000_000
"""Nodes that are reached before a run can be stopped, about."""

_MANY, _MANY_SHARE = 1_000, 0.05
"""Where more records than these would have to be moved at the prices at hand, an auction finds nearer ones."""


@dataclass(frozen=True)
class Arcs:
    """The clusters that each record may go to: those of record j are from `starts[j]` to `starts[j + 1]`."""

    starts: NDArray[np.int64]
    clusters: NDArray[np.int32]
    costs: NDArray[np.int64]


@dataclass(frozen=True)
class Levels:
    """Prices in units of the rounded distances: of pairs of a value and a cluster, and of the sizes of clusters."""

    of_value: NDArray[np.int64]
    of_cluster: NDArray[np.int64]


def cheapest_flow(
    arcs: Arcs, values: NDArray[np.int32], caps: Caps, start: NDArray[np.int32], levels: Levels, run: Run, doing: str
) -> tuple[NDArray[np.int32], Levels]:
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
    if len(waiting) > max(_MANY, _MANY_SHARE * len(values)):
        settled, price[:-1] = bargain(*fixed[:4], caps, start, price, places.own, run, doing)
        places = _Places.of(start if caps.lower.any() else settled, values, caps)
        waiting = _leave(*fixed, price, *places.arrays)
    label, before = np.full(len(price), _NEVER), np.empty(len(price), dtype=np.int32)
    done = 0
    while done < len(waiting):
        run.step(Stage.SEARCH, None, doing)
        settled_to = _settle(*fixed, price, *places.arrays, waiting, done, label, before, _NODES)
        if settled_to < 0:
            raise MedveilError("A solver found no solution where there is one.", "Please report it.")
        done = settled_to
    apart = (places.held == np.repeat(caps.upper, clusters)) | (
        (places.held <= np.repeat(caps.lower, clusters)) & np.repeat(caps.lower > 0, clusters)
    )
    of_value = np.where(apart, price[:first], np.tile(price[first:-1], number))
    return places.cluster, Levels(of_value.reshape(number, clusters), price[first:-1])


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
def _apart(held: int, lower: int, upper: int) -> bool:
    """Whether a pair has a price of its own: it is at its upper cap, or not above its lower one."""
    return held == upper or (lower > 0 and held <= lower)


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
            apart = _apart(held[x], lower[v], upper[v])
            pays = own[j] + price[x if apart else first + i]
            for a in range(starts[j], starts[j + 1]):
                y = v * clusters + arc_clusters[a]
                if not _apart(held[y], lower[v], upper[v]):
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
                    _take_out(j, i, members, sizes)
                    _count(x, i, -1, lower[v], held, taken)
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
                _take_out(j, i, members, sizes)
                _count(x, i, -1, lower[v], held, taken)
                price[x] = price[first + i]
                _release(x, lower[v], upper[v], values, cluster, held, lack, members, sizes, taken)
                changed, place = True, sizes[i] - 1
    return waiting[:count]


@njit(cache=True, nogil=True)
def _take_out(j: int, i: int, members: Codes, sizes: Ints) -> None:
    """Record j leaves cluster i."""
    place = 0
    while members[i, place] != j:
        place += 1
    sizes[i] -= 1
    members[i, place] = members[i, sizes[i]]


@njit(cache=True, nogil=True)
def _kept_for(x: int, mover: int, values: Codes, cluster: Codes, members: Codes, sizes: Ints) -> int:
    """A record that left a place of pair x which was kept: the mover itself if it is one."""
    v, i = x // len(sizes), x % len(sizes)
    found = -1
    for place in range(sizes[i]):
        j = members[i, place]
        if values[j] == v and cluster[j] != i and (found < 0 or j == mover):
            found = j
    return found


@njit(cache=True, nogil=True)
def _release(
    x: int,
    lower: int,
    upper: int,
    values: Codes,
    cluster: Codes,
    held: Codes,
    lack: Codes,
    members: Codes,
    sizes: Ints,
    taken: Ints,
) -> None:
    """Places that a pair kept for its value are for all where it no longer has a price of its own."""
    i = x % len(sizes)
    while lack[x] > 0 and not _apart(held[x], lower, upper):
        lack[x] -= 1
        _take_out(_kept_for(x, -1, values, cluster, members, sizes), i, members, sizes)
        _count(x, i, -1, lower, held, taken)


@njit(cache=True, nogil=True)
def _count(x: int, i: int, more: int, least: int, held: Codes, taken: Ints) -> None:
    """One more, or one fewer, in pair x of cluster i, of which a lower cap asks for the least."""
    taken[i] += max(held[x] + more - least, 0) - max(held[x] - least, 0)
    held[x] += more


@njit(cache=True, nogil=True)
def _longer(numbers: Ints, room: int) -> Ints:
    """The same numbers with room for more."""
    longer = np.empty(room, dtype=np.int64)
    for place in range(len(numbers)):
        longer[place] = numbers[place]
    return longer


@njit(cache=True, nogil=True)
def _copy(heap: Ints, source: int, target: int) -> None:
    """An entry of the heap, a length and a node, to another place."""
    heap[2 * target], heap[2 * target + 1] = heap[2 * source], heap[2 * source + 1]


@njit(cache=True, nogil=True)
def _reach(
    x: int, length: int, by: int, label: Ints, before: Codes, reached: Ints, heap: Ints, ties: Ints, count: Ints
) -> None:
    """A path of this length to node x, if it is the shortest so far; `count`: nodes reached, in the heap, among those
    as near as the last one, and how near that is.
    """
    if length >= label[x]:
        return
    if label[x] == _NEVER:
        reached[count[0]] = x
        count[0] += 1
    label[x] = length
    before[x] = by
    if length == count[3]:
        ties[count[2]] = x
        count[2] += 1
        return
    place = count[1]
    count[1] += 1
    while place > 0:
        above = (place - 1) >> 1
        if heap[2 * above] <= length:
            break
        _copy(heap, above, place)
        place = above
    heap[2 * place], heap[2 * place + 1] = length, x


@njit(cache=True, nogil=True)
def _nearest(label: Ints, heap: Ints, ties: Ints, count: Ints) -> int:
    """The next node by the length of its path; -1 where there is none."""
    if count[2] > 0:
        count[2] -= 1
        return int(ties[count[2]])
    while count[1] > 0:
        length, x = heap[0], heap[1]
        count[1] -= 1
        last, place = count[1], 0
        while 2 * place + 1 < last:
            below = 2 * place + 1
            if below + 1 < last and heap[2 * below + 2] < heap[2 * below]:
                below += 1
            if heap[2 * last] <= heap[2 * below]:
                break
            _copy(heap, below, place)
            place = below
        _copy(heap, last, place)
        if length == label[x]:
            count[3] = length
            return int(x)
    return -1


@njit(cache=True, nogil=True)
def _settle(
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
    waiting: Codes,
    begin: int,
    label: Ints,
    before: Codes,
    steps: int,
) -> int:
    """Put in the waiting records from `begin` on, until so many nodes were reached; returns the first that still waits,
    or -1 where there is no path to a free place.

    `before[x]` of a node: the record that enters it, or from which other node the path comes: -1 to a pair from its
    cluster, -1 - v to a cluster from its pair of value v, -1 - V from the rest, -1 - i to the rest from cluster i.
    """
    clusters, number = len(sizes), len(lower)
    first = number * clusters
    rest = first + clusters
    room = 1 << 12
    reached, ties, heap = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(2 * room, np.int64)
    moving = np.empty(members.shape[1] + 1, dtype=np.int64)
    count = np.zeros(4, dtype=np.int64)
    extra = 0
    for i in range(clusters):
        extra += max(taken[i] - bounds[0], 0)
    for at in range(begin, len(waiting)):
        if steps < 0:
            return at
        source = waiting[at]
        v = values[source]
        least = _NEVER
        for a in range(starts[source], starts[source + 1]):
            x = v * clusters + arc_clusters[a]
            if not _apart(held[x], lower[v], upper[v]):
                x = first + arc_clusters[a]
            least = min(least, arc_costs[a] + price[x])
        for part in range(len(count)):
            count[part] = 0
        moving[0] = source
        movers, node = 1, -1
        while True:
            here = count[3]
            need = clusters + len(moving)
            for m in range(movers):
                need += starts[moving[m] + 1] - starts[moving[m]]
            if need + max(count[0], count[1], count[2]) > room:
                room = 2 * (room + need)
                reached, ties, heap = _longer(reached, room), _longer(ties, room), _longer(heap, 2 * room)
            for m in range(movers):
                j = moving[m]
                v = values[j]
                if j == source:
                    base = here - least
                else:
                    x = v * clusters + cluster[j]
                    if not _apart(held[x], lower[v], upper[v]):
                        x = first + cluster[j]
                    base = here - own[j] - price[x]
                for a in range(starts[j], starts[j + 1]):
                    x = v * clusters + arc_clusters[a]
                    if not _apart(held[x], lower[v], upper[v]):
                        x = first + arc_clusters[a]
                    _reach(x, base + arc_costs[a] + price[x], j, label, before, reached, heap, ties, count)
            node = _nearest(label, heap, ties, count)
            if node < 0:
                break
            here = count[3]
            movers = 0
            if node < first:
                v = node // clusters
                i = node - v * clusters
                if held[node] < lower[v] or lack[node] > 0:
                    break
                if held[node] < upper[v]:
                    _reach(first + i, here + price[first + i] - price[node], -1 - v, label, before, reached, heap,
                           ties, count)  # fmt: skip
                for place in range(sizes[i]):
                    if values[members[i, place]] == v:
                        moving[movers] = members[i, place]
                        movers += 1
            elif node < rest:
                i = node - first
                if taken[i] < bounds[0]:
                    break
                if taken[i] < bounds[1]:
                    _reach(rest, here + price[rest] - price[node], -1 - i, label, before, reached, heap, ties, count)
                for place in range(sizes[i]):
                    j = members[i, place]
                    x = values[j] * clusters + i
                    if not _apart(held[x], lower[values[j]], upper[values[j]]):
                        moving[movers] = j
                        movers += 1
                    elif held[x] > lower[values[j]]:
                        _reach(x, here + price[x] - price[node], -1, label, before, reached, heap, ties, count)
            else:
                if extra < bounds[2]:
                    extra += 1
                    break
                for i in range(clusters):
                    if taken[i] > bounds[0]:
                        _reach(first + i, here + price[first + i] - price[rest], -1 - number, label, before, reached,
                               heap, ties, count)  # fmt: skip
        if node < 0:
            return -1
        far = count[3]
        for r in range(count[0]):
            x = reached[r]
            price[x] += max(far - label[x], 0)
            label[x] = _NEVER
        steps -= count[0]
        extra -= _move_along(node, source, count[0], bounds[0], starts, arc_clusters, arc_costs, values, lower, upper,
                             price, cluster, held, lack, members, sizes, taken, own, before)  # fmt: skip
    return len(waiting)


@njit(cache=True, nogil=True)
def _move_along(
    node: int,
    source: int,
    longest: int,
    least: int,
    starts: Ints,
    arc_clusters: Codes,
    arc_costs: Ints,
    values: Codes,
    lower: Ints,
    upper: Ints,
    price: Ints,
    cluster: Codes,
    held: Codes,
    lack: Codes,
    members: Codes,
    sizes: Ints,
    taken: Ints,
    own: Ints,
    before: Codes,
) -> int:
    """Move the records along the path that ends at the node, from its end to the record that waited; returns how many
    places beyond the least that a cluster needs became free.
    """
    clusters, number = len(sizes), len(lower)
    first = number * clusters
    movers, targets = np.empty(longest, dtype=np.int64), np.empty(longest, dtype=np.int64)
    joined, left = np.empty(longest, dtype=np.bool_), np.empty(longest, dtype=np.bool_)
    x, length = node, 0
    while True:
        by = before[x]
        if by >= 0:
            v, i = values[by], x % clusters  # nodes of clusters begin at a multiple of their number
            movers[length], targets[length] = by, i
            joined[length] = not _apart(held[v * clusters + i], lower[v], upper[v])
            length += 1
            if by == source:
                break
            x = v * clusters + cluster[by]
            left[length - 1] = not _apart(held[x], lower[v], upper[v])
            if left[length - 1]:
                x = first + cluster[by]
        elif x < first:
            x = first + x % clusters
        elif x < first + clusters:
            x = (-1 - by) * clusters + x - first if -1 - by < number else first + clusters
        else:
            x = first - 1 - by
    given_up = False
    if node < first and lack[node] > 0:
        lack[node] -= 1
        _count(node, node % clusters, -1, lower[node // clusters], held, taken)
        _take_out(_kept_for(node, movers[0], values, cluster, members, sizes), node % clusters, members, sizes)
        given_up = before[node] < 0
    for m in range(length):
        j, i = movers[m], targets[m]
        v = values[j]
        old = cluster[j]
        targets[m] = old
        if old >= 0:
            _take_out(j, old, members, sizes)
            _count(v * clusters + old, old, -1, lower[v], held, taken)
        cluster[j] = i
        members[i, sizes[i]] = j
        sizes[i] += 1
        _count(v * clusters + i, i, 1, lower[v], held, taken)
        for a in range(starts[j], starts[j + 1]):
            if arc_clusters[a] == i:
                own[j] = arc_costs[a]
    released = 0
    if given_up:
        v, i = node // clusters, node % clusters
        released = max(taken[i] - least, 0)
        _release(node, lower[v], upper[v], values, cluster, held, lack, members, sizes, taken)
        released -= max(taken[i] - least, 0)
    # Pairs that have a price of their own from now on begin at that of their cluster.
    for m in range(length):
        v, i, old = values[movers[m]], cluster[movers[m]], targets[m]
        if joined[m] and _apart(held[v * clusters + i], lower[v], upper[v]):
            price[v * clusters + i] = price[first + i]
        if old >= 0 and left[m] and _apart(held[v * clusters + old], lower[v], upper[v]):
            price[v * clusters + old] = price[first + old]
    return released
