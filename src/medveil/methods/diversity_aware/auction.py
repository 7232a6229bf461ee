"""A nearly optimal assignment of many records, with the prices that prove how near it is: an auction of all places.

A record without a place takes the cheapest one, distance included, and pays so much more for it that the next cluster
would cost it the same, and a step beyond that. Who held the place looks for another. In a cluster that holds as many of
a value as its cap allows, only the places of that value can be had. Prices only rise, so that it ends; then each record
pays at most one step more than it must, and the assignment costs at most n steps more than the least (Bertsekas and
Castanon 1989, The auction algorithm for the transportation problem). The step begins large, so that few bids are made.

Nothing rests on this: the bound is that of the prices over all clusters, whichever prices they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.codes.compiling import inner, outer
from medveil.methods.diversity_aware.caps import Caps
from medveil.methods.diversity_aware.points import Codes, Floats, Ints
from medveil.methods.diversity_aware.prices import Prices
from medveil.run import Run, Stage

_CHUNK = 1 << 20
"""Bids before a run can be stopped."""

_FREE = -1
"""The holder of a place that nobody has, the value of one that nobody ever had, the place of a record without one."""


@dataclass(frozen=True)
class Arcs:
    """The clusters that each record may go to, those of record j from `starts[j]`, and how far they are. The cheapest
    ones should come first: the others are then passed over quickly.
    """

    starts: NDArray[np.int64]
    clusters: NDArray[np.int32]
    lengths: NDArray[np.float64]


class Auction:
    """The places of all clusters, `[cluster, place]`: what each costs, the value that it belongs to, who holds it.

    `cluster` is where each record is. Clusters keep the sizes that they have at the start, but for those beyond the
    smallest size, which go to the clusters of the highest prices.
    """

    def __init__(self, values: NDArray[np.int32], caps: Caps, start: NDArray[np.int32], prices: Prices) -> None:
        self._values, self._caps = values, caps
        self._room = np.bincount(start, minlength=caps.clusters)
        extra = len(values) - caps.smallest * caps.clusters
        width = max(int(self._room.max()), caps.smallest + min(caps.largest - caps.smallest, extra))
        order = np.argsort(start, kind="stable")
        place = np.arange(len(start)) - np.repeat(np.cumsum(self._room) - self._room, self._room)
        self._price = np.full((caps.clusters, width), np.inf)
        self._value = np.full((caps.clusters, width), _FREE, dtype=np.int32)
        self._holder = np.full((caps.clusters, width), _FREE, dtype=np.int32)
        at = start[order], place
        self._price[at] = np.maximum(prices.of_value[values[order], start[order]], prices.of_cluster[start[order]])
        self._value[at] = values[order]
        self._holder[at] = order
        self.cluster = start.astype(np.int32)
        self._queue = np.empty(len(values), dtype=np.int32)
        self._state = np.zeros(2, dtype=np.int64)  # where the queue begins, and how many wait in it

    def bid(self, arcs: Arcs, step: float, most: int, run: Run, doing: str) -> bool:
        """Who pays more than a step too much bids anew, until all have a place again; not more bids than `most`."""
        cheapest = self._price.min(axis=1)
        self._give_extra_places(cheapest, step)
        here = (arcs.starts, arcs.clusters, arcs.lengths, self._values, self._caps.upper, self._room, self._price,
                self._value, self._holder, self.cluster, cheapest, self._queue, self._state, step)  # fmt: skip
        _take_out(*here)
        for _ in range(0, most, _CHUNK):
            run.step(Stage.SEARCH, None, doing)
            _bid(*here, min(_CHUNK, most))
            if self._state[1] == 0:
                return True
        return False

    def prices(self) -> Prices:
        """What clusters cost, and what a value costs in a cluster that holds as many of it as its cap allows."""
        number, clusters = len(self._caps.upper), self._caps.clusters
        of_cluster = self._price.min(axis=1)
        of_value = np.tile(of_cluster, (number, 1))
        _price_values(self._value, self._price, self._room, self._caps.upper, of_value)
        return Prices(of_value.reshape(number, clusters), of_cluster)

    def _give_extra_places(self, cheapest: NDArray[np.float64], step: float) -> None:
        """Places beyond the smallest size go from the cheapest clusters that have one to the dearest, at their price:
        whoever would rather have such a place is about to bid for it.
        """
        width = self._price.shape[1]
        for _ in range(len(self._values) - self._caps.smallest * self._caps.clusters):
            giver = int(np.argmin(np.where(self._room > self._caps.smallest, cheapest, np.inf)))
            taker = int(np.argmax(np.where(self._room < width, cheapest, -np.inf)))
            if self._room[taker] == width or not cheapest[giver] + step < cheapest[taker]:
                return
            place, last, new = int(np.argmin(self._price[giver])), self._room[giver] - 1, self._room[taker]
            cheapest[taker] = self._price[taker, new] = self._price[giver, place]
            holder = self._holder[giver, place]
            if holder != _FREE:
                self.cluster[holder] = _FREE
                self._queue[(self._state[0] + self._state[1]) % len(self._queue)] = holder
                self._state[1] += 1
            for array, nothing in ((self._price, np.inf), (self._value, _FREE), (self._holder, _FREE)):
                array[giver, place] = array[giver, last]
                array[giver, last] = nothing
            self._room[giver] -= 1
            self._room[taker] += 1
            cheapest[giver] = self._price[giver].min()


@inner
def _offer(i: int, v: int, cap: int, room: Ints, price: Floats, value: Codes) -> tuple[float, int]:
    """What the cheapest place of cluster i that a record of value v can have costs, and which it is."""
    held, least, least_own = 0, np.inf, np.inf
    place, own = 0, 0
    for s in range(room[i]):
        if price[i, s] < least:
            least, place = price[i, s], s
        if value[i, s] == v:
            held += 1
            if price[i, s] < least_own:
                least_own, own = price[i, s], s
    if held >= cap:
        return least_own, own
    return least, place


@outer
def _take_out(
    starts: Ints,
    arc_clusters: Codes,
    arc_lengths: Floats,
    values: Codes,
    upper: Ints,
    room: Ints,
    price: Floats,
    value: Codes,
    holder: Codes,
    cluster: Codes,
    cheapest: Floats,
    queue: Codes,
    state: Ints,
    step: float,
) -> None:
    """Records that pay more than a step too much lose their place, which keeps its price and its value."""
    for j in range(len(values)):
        mine = cluster[j]
        if mine < 0:
            continue
        v = values[j]
        pays, best = np.inf, np.inf
        for a in range(starts[j], starts[j + 1]):
            i = arc_clusters[a]
            if i != mine and arc_lengths[a] + cheapest[i] >= best:
                continue
            least, _ = _offer(i, v, upper[v], room, price, value)
            best = min(best, arc_lengths[a] + least)
            if i == mine:
                pays = arc_lengths[a] + least
        if pays > best + step:
            for s in range(room[mine]):
                if holder[mine, s] == j:
                    holder[mine, s] = _FREE
            cluster[j] = _FREE
            queue[(state[0] + state[1]) % len(queue)] = j
            state[1] += 1


@outer
def _bid(
    starts: Ints,
    arc_clusters: Codes,
    arc_lengths: Floats,
    values: Codes,
    upper: Ints,
    room: Ints,
    price: Floats,
    value: Codes,
    holder: Codes,
    cluster: Codes,
    cheapest: Floats,
    queue: Codes,
    state: Ints,
    step: float,
    most: int,
) -> None:
    """Those in the queue bid, one after the other."""
    for _ in range(most):
        if state[1] == 0:
            return
        j = queue[state[0]]
        state[0] = (state[0] + 1) % len(queue)
        state[1] -= 1
        v = values[j]
        best, second = np.inf, np.inf
        taken, place = 0, 0
        for a in range(starts[j], starts[j + 1]):
            i = arc_clusters[a]
            if arc_lengths[a] + cheapest[i] >= second:
                continue
            least, s = _offer(i, v, upper[v], room, price, value)
            total = arc_lengths[a] + least
            if total < best:
                second = best
                best, taken, place = total, i, s
            elif total < second:
                second = total
        other = holder[taken, place]
        if other >= 0:
            cluster[other] = _FREE
            queue[(state[0] + state[1]) % len(queue)] = other
            state[1] += 1
        price[taken, place] += step + (second - best if second < np.inf else 0.0)
        value[taken, place] = v
        holder[taken, place] = j
        cluster[j] = taken
        least = np.inf
        for s in range(room[taken]):
            least = min(least, price[taken, s])
        cheapest[taken] = least


@outer
def _price_values(value: Codes, price: Floats, room: Ints, upper: Ints, of_value: Floats) -> None:
    """Raise the prices of values whose places in a cluster are as many as their cap: to the cheapest of these."""
    for i in range(len(room)):
        for s in range(room[i]):
            v = value[i, s]
            if v >= 0:
                of_value[v, i], _ = _offer(i, v, upper[v], room, price, value)
