"""Shortest paths from records that wait to places that are free, and the moves along them: see `flows`."""

from __future__ import annotations

import numpy as np
from numba import njit

from medveil.methods.diversity_aware.places import count_in, kept_for, release, stands_apart, take_out
from medveil.methods.diversity_aware.points import Codes, Ints

NEVER = np.iinfo(np.int64).max
"""The length of the path to a node that was not reached."""


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
    if label[x] == NEVER:
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
def settle(
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
        least = NEVER
        for a in range(starts[source], starts[source + 1]):
            x = v * clusters + arc_clusters[a]
            if not stands_apart(held[x], lower[v], upper[v]):
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
                    if not stands_apart(held[x], lower[v], upper[v]):
                        x = first + cluster[j]
                    base = here - own[j] - price[x]
                for a in range(starts[j], starts[j + 1]):
                    x = v * clusters + arc_clusters[a]
                    if not stands_apart(held[x], lower[v], upper[v]):
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
                    if not stands_apart(held[x], lower[values[j]], upper[values[j]]):
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
            label[x] = NEVER
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
            joined[length] = not stands_apart(held[v * clusters + i], lower[v], upper[v])
            length += 1
            if by == source:
                break
            x = v * clusters + cluster[by]
            left[length - 1] = not stands_apart(held[x], lower[v], upper[v])
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
        count_in(node, node % clusters, -1, lower[node // clusters], held, taken)
        take_out(kept_for(node, movers[0], values, cluster, members, sizes), node % clusters, members, sizes)
        given_up = before[node] < 0
    for m in range(length):
        j, i = movers[m], targets[m]
        v = values[j]
        old = cluster[j]
        targets[m] = old
        if old >= 0:
            take_out(j, old, members, sizes)
            count_in(v * clusters + old, old, -1, lower[v], held, taken)
        cluster[j] = i
        members[i, sizes[i]] = j
        sizes[i] += 1
        count_in(v * clusters + i, i, 1, lower[v], held, taken)
        for a in range(starts[j], starts[j + 1]):
            if arc_clusters[a] == i:
                own[j] = arc_costs[a]
    released = 0
    if given_up:
        v, i = node // clusters, node % clusters
        released = max(taken[i] - least, 0)
        release(node, lower[v], upper[v], values, cluster, held, lack, members, sizes, taken)
        released -= max(taken[i] - least, 0)
    # Pairs that have a price of their own from now on begin at that of their cluster.
    for m in range(length):
        v, i, old = values[movers[m]], cluster[movers[m]], targets[m]
        if joined[m] and stands_apart(held[v * clusters + i], lower[v], upper[v]):
            price[v * clusters + i] = price[first + i]
        if old >= 0 and left[m] and stands_apart(held[v * clusters + old], lower[v], upper[v]):
            price[v * clusters + old] = price[first + old]
    return released
