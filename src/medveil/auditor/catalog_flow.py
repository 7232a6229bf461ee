"""An attacker who weighs all placements of counterfeits that release and catalog allow jointly.

A placement puts the counterfeits of each row into the classes that the row lists, x of them into a class that holds
n >= x records of the value, and no more into a class than its padding can have put there. That is a flow from rows
through listed pairs into classes. A counterfeit can be told where no placement leaves its pair empty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from medveil.auditor.catalog_listing import Counts, Listing

SWEEPS = 300
"""Over how many rounds of exchanges a probability is estimated, after a tenth as many to forget the start."""


@njit(cache=True, nogil=True)
def _place_one(
    start: int,
    forbidden: int,
    row_starts: Counts,
    of_class: Counts,
    row: Counts,
    class_starts: Counts,
    by_class: Counts,
    held: Counts,
    cap: Counts,
    flow: Counts,
    load: Counts,
    came_by: Counts,
    queue: Counts,
) -> bool:
    """Place one more counterfeit of row `start`, not in the pair `forbidden`, moving others where needed.

    Breadth first over classes: `came_by[c]` is the pair by which class c is reached, -1 where it is not.
    """
    came_by[:] = -1
    first, last = 0, 0
    for pair in range(row_starts[start], row_starts[start + 1]):
        c = of_class[pair]
        if pair != forbidden and flow[pair] < held[pair] and came_by[c] < 0:
            came_by[c] = pair
            queue[last] = c
            last += 1
    while first < last:
        c = queue[first]
        first += 1
        if load[c] < cap[c]:
            load[c] += 1
            while True:
                pair = came_by[c]
                flow[pair] += 1
                if row[pair] == start:
                    return True
                # The row's counterfeit came from the class by which that row was reached.
                taken = came_by[len(cap) + row[pair]]
                flow[taken] -= 1
                c = of_class[taken]
        for i in range(class_starts[c], class_starts[c + 1]):
            held_by = by_class[i]
            other = row[held_by]
            if flow[held_by] > 0 and other != start and came_by[len(cap) + other] < 0:
                came_by[len(cap) + other] = held_by
                for pair in range(row_starts[other], row_starts[other + 1]):
                    d = of_class[pair]
                    if pair != forbidden and flow[pair] < held[pair] and came_by[d] < 0:
                        came_by[d] = pair
                        queue[last] = d
                        last += 1
    return False


@dataclass(frozen=True)
class Placement:
    """One placement: `flow` counterfeits in each listed pair, `load` in each class, none above its `cap`."""

    listing: Listing
    cap: Counts
    flow: Counts
    load: Counts

    def _arrays(self) -> tuple[Counts, ...]:
        listing = self.listing
        row_starts = np.searchsorted(listing.row, np.arange(len(listing.counts) + 1)).astype(np.int64)
        by_class = np.argsort(listing.of_class, kind="stable").astype(np.int64)
        starts = np.searchsorted(listing.of_class[by_class], np.arange(len(listing.sizes) + 1)).astype(np.int64)
        room = np.empty(len(listing.sizes) + len(listing.counts), dtype=np.int64)
        return (
            row_starts,
            np.ascontiguousarray(listing.of_class),
            np.ascontiguousarray(listing.row),
            starts,
            by_class,
            np.ascontiguousarray(listing.held),
            self.cap,
            self.flow,
            self.load,
            room,
            np.empty(len(listing.sizes), dtype=np.int64),
        )

    def forced(self) -> Counts:
        """How many counterfeits each pair holds in every placement: all that cannot be moved out of it."""
        found = np.zeros(len(self.flow), dtype=np.int64)
        arrays = self._arrays()
        for pair in range(len(self.flow)):
            row, number = int(self.listing.row[pair]), int(self.listing.of_class[pair])
            while self.flow[pair] > 0:
                self.flow[pair] -= 1
                self.load[number] -= 1
                if not _place_one(row, pair, *arrays):
                    self.flow[pair] += 1
                    self.load[number] += 1
                    break
            found[pair] = self.flow[pair]
        return found


def place(listing: Listing, cap: Counts) -> Placement | None:
    """Any placement within these caps, or None where there is none."""
    placement = Placement(
        listing,
        np.ascontiguousarray(cap, dtype=np.int64),
        np.zeros(len(listing.row), dtype=np.int64),
        np.zeros(len(listing.sizes), dtype=np.int64),
    )
    arrays = placement._arrays()  # noqa: SLF001 - its own kind
    for row, count in enumerate(listing.counts.tolist()):
        for _ in range(count):
            if not _place_one(row, -1, *arrays):
                return None
    return placement


def most_in_class(listing: Listing, cap: Counts) -> Counts:
    """The most counterfeits that each class holds in any placement: each row may move all it can there."""
    reach = np.minimum(listing.held, listing.counts[listing.row])
    return np.minimum(cap, np.bincount(listing.of_class, reach, minlength=len(cap)).astype(np.int64))


def posteriors(placement: Placement) -> tuple[NDArray[np.float64], bool]:
    """The probability of each pair's records to be counterfeit where every choice of records that the caps allow is as
    likely as any other, and whether that is estimated.

    Where no cap can be reached rows are independent: count / records in classes that may hold any. Otherwise records
    of a row are exchanged at random, a counterfeit for a real one, as often as the caps allow.
    """
    listing, cap = placement.listing, placement.cap
    possible = cap[listing.of_class] > 0
    held = np.where(possible, listing.held, 0)
    reach = np.bincount(listing.of_class, np.minimum(held, listing.counts[listing.row]), minlength=len(cap))
    totals = np.bincount(listing.row, held, minlength=len(listing.counts))
    if np.all(reach <= np.where(cap > 0, cap, 0)):
        share = listing.counts / np.maximum(totals, 1)
        return np.where(held > 0, share[listing.row], 0.0), False
    seen = np.zeros(len(held), dtype=np.int64)
    row_starts = np.searchsorted(listing.row, np.arange(len(listing.counts) + 1)).astype(np.int64)
    together = listing.components[row_starts[:-1]]
    by_component = np.argsort(together, kind="stable").astype(np.int64)
    starts = np.searchsorted(together[by_component], np.arange(int(together.max()) + 2)).astype(np.int64)
    _exchange(
        row_starts,
        np.ascontiguousarray(listing.of_class),
        np.ascontiguousarray(held),
        listing.counts,
        cap,
        placement.flow.copy(),
        placement.load.copy(),
        seen,
        together,
        by_component,
        starts,
        SWEEPS,
    )
    return seen / SWEEPS / np.maximum(held, 1), True


@njit(cache=True, nogil=True)
def _exchange(
    row_starts: Counts,
    of_class: Counts,
    held: Counts,
    counts: Counts,
    cap: Counts,
    flow: Counts,
    load: Counts,
    seen: Counts,
    together: Counts,
    by_component: Counts,
    starts: Counts,
    sweeps: int,
) -> None:
    """Exchange counterfeits with real records of the same row, and add up where they are after each sweep.

    One exchange, or two or three at once in rows that hang together, so that full classes are left too; they count
    where all classes are within their caps afterwards. Any exchange is as likely as its reverse. The generator is
    fixed, so that an audit finds the same figures again.
    """
    np.random.seed(1)  # noqa: NPY002 - numba knows no other
    total = np.zeros(len(counts), dtype=np.int64)
    for r in range(len(counts)):
        for pair in range(row_starts[r], row_starts[r + 1]):
            total[r] += held[pair]
    left, came = np.empty(3, dtype=np.int64), np.empty(3, dtype=np.int64)
    for sweep in range(-(sweeps // 10), sweeps):
        for start in range(len(counts)):
            component = together[start]
            first, last = starts[component], starts[component + 1]
            for _ in range(4 * counts[start]):
                number = 1 + max(np.random.randint(6) - 3, 0)  # noqa: NPY002
                for i in range(number):
                    r = by_component[first + np.random.randint(last - first)]  # noqa: NPY002
                    a, b = row_starts[r], row_starts[r]
                    if total[r] > counts[r]:
                        nth = np.random.randint(counts[r])  # noqa: NPY002
                        while nth >= flow[a]:
                            nth -= flow[a]
                            a += 1
                        nth = np.random.randint(total[r] - counts[r])  # noqa: NPY002
                        while nth >= held[b] - flow[b]:
                            nth -= held[b] - flow[b]
                            b += 1
                    left[i], came[i] = a, b
                    flow[a] -= 1
                    load[of_class[a]] -= 1
                    flow[b] += 1
                    load[of_class[b]] += 1
                within = True
                for i in range(number):
                    within = within and load[of_class[came[i]]] <= cap[of_class[came[i]]]
                if not within:
                    for i in range(number):
                        flow[left[i]] += 1
                        load[of_class[left[i]]] += 1
                        flow[came[i]] -= 1
                        load[of_class[came[i]]] -= 1
        if sweep >= 0:
            for pair in range(len(flow)):
                seen[pair] += flow[pair]
