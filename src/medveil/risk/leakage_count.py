"""How a set of attributes divides the people: counted by direct index where the combinations are few, else by rank."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.codes.compiling import outer
from medveil.codes.kernels import add_counts, sort_by_class
from medveil.codes.rank import fold, rank
from medveil.risk.leakage_entries import Entries

DIRECT = 1 << 20
PER_ENTRY = 4
"""So many combinations, or so many for each entry, have a counter each."""

DIGITS = 11
"""Decimals of a bit that do not depend on the order in which it was summed up."""

RANKS_KEPT = 12
"""How many of the sets counted last keep the rank of every entry, for sets that hold them and more."""

Positions = tuple[int, ...]


@dataclass(frozen=True)
class Division:
    """What a set of attributes tells.

    values: how many combinations there are. loss: the bits an attacker gains on average. entropy: that of the
    combinations themselves, which is the same where every person has one record. unique: the people whom some
    combination has for itself.
    """

    values: int
    loss: float
    entropy: float
    unique: int


class Counter:
    """Divides entries by any set of attributes; safe for several threads."""

    def __init__(self, entries: Entries) -> None:
        self.entries = entries
        self._lock = threading.Lock()
        self._ranks: OrderedDict[Positions, tuple[NDArray[np.int32], int]] = OrderedDict()

    def divide(self, positions: Positions) -> Division:
        """The division by these attributes, ascending positions."""
        entries = self.entries
        if entries.person is not None or entries.mass is not None:
            return self._divide_mass(positions)
        space = math.prod(entries.sizes[p] for p in positions)
        if space <= max(DIRECT, PER_ENTRY * len(entries.counts)):
            chosen = np.array(positions, dtype=np.int64)
            radices = np.array([entries.sizes[p] for p in positions], dtype=np.int64)
            sums = np.zeros(space, dtype=np.int64)
            _count(entries.codes, chosen, radices, entries.counts, sums)
        else:
            ranks, number = self._ranked(positions)
            sums = np.zeros(number, dtype=np.int64)
            add_counts(ranks, entries.counts, sums)
        values, weighted, unique = _sum_up(sums)
        loss = min(max(entries.initial - weighted / max(entries.people, 1), 0.0), entries.initial)
        return Division(values, loss, loss, unique)

    def _divide_mass(self, positions: Positions) -> Division:
        entries = self.entries
        ranks, number = self._ranked(positions)
        mass = entries.mass
        assert mass is not None
        sums = np.bincount(ranks, mass, minlength=number)
        entropy = _tidy(-float(sums[sums > 0] @ np.log2(sums[sums > 0])))
        if entries.person is None:
            records = np.zeros(number, dtype=np.int64)
            add_counts(ranks, entries.counts, records)
            return Division(number, min(entropy, entries.initial), entropy, int(np.count_nonzero(records == 1)))
        begins = np.concatenate(([0], np.cumsum(np.bincount(ranks, minlength=number)))).astype(np.int64)
        order = np.empty(len(ranks), dtype=np.int64)
        sort_by_class(ranks, begins[:-1].copy(), order)
        held, last_seen = np.zeros(entries.people), np.full(entries.people, -1, dtype=np.int64)
        alone = np.zeros(entries.people, dtype=np.bool_)
        remaining = _within(order, begins, entries.person, mass, held, last_seen, alone)
        unique = int(np.count_nonzero(alone))
        return Division(number, min(_tidy(entries.initial - remaining), entries.initial), entropy, unique)

    def _ranked(self, positions: Positions) -> tuple[NDArray[np.int32], int]:
        """The rank of each entry's combination, from those of a part of the set where that leaves the fewest keys."""
        entries = self.entries
        with self._lock:
            kept = dict(self._ranks)
        if positions in kept:
            return kept[positions]

        def keys_from(part: Positions) -> int:
            return kept[part][1] * math.prod(entries.sizes[p] for p in positions if p not in part)

        parts = [part for part in kept if set(part).issubset(positions)]
        part = min(parts, key=keys_from, default=())
        columns = [entries.codes[p] for p in positions if p not in part]
        sizes = [entries.sizes[p] for p in positions if p not in part]
        if part:
            columns, sizes = [kept[part][0], *columns], [kept[part][1], *sizes]
        lookups = [np.arange(size, dtype=np.int32) for size in sizes]
        ranks, first = rank(*fold(columns, lookups, sizes, len(entries.counts)))
        with self._lock:
            self._ranks[positions] = (ranks, len(first))
            while len(self._ranks) > RANKS_KEPT:
                self._ranks.popitem(last=False)
        return ranks, len(first)


def _tidy(bits: float) -> float:
    """Without the last digits, which depend on the order of entries."""
    return max(0.0, round(bits, DIGITS))  # of two zeros the first is taken, which has no sign


@outer
def _count(
    codes: NDArray[np.int32],
    chosen: NDArray[np.int64],
    radices: NDArray[np.int64],
    counts: NDArray[np.int64],
    sums: NDArray[np.int64],
) -> None:
    """Add the records of every combination of the chosen attributes, by its mixed-radix number."""
    for i in range(len(counts)):
        key = np.int64(0)
        for j in range(len(chosen)):
            key = key * radices[j] + codes[chosen[j], i]
        sums[key] += counts[i]


SMALL = 1 << 16


def _sum_up(sums: NDArray[np.int64]) -> tuple[int, float, int]:
    """How many counts are above 0, the sum of c log2 c, and how many are 1.

    Equal counts are taken together and added in their order, so that the sum does not depend on that of the counts.
    """
    often = np.bincount(sums[sums < SMALL], minlength=2)
    large = np.sort(sums[sums >= SMALL]).astype(np.float64)
    small = np.arange(1, len(often), dtype=np.float64)
    weighted = float(np.sum(often[1:] * (small * np.log2(small)))) + float(np.sum(large * np.log2(large)))
    return len(sums) - int(often[0]), weighted, int(often[1])


@outer
def _within(
    order: NDArray[np.int64],
    begins: NDArray[np.int64],
    person: NDArray[np.int32],
    mass: NDArray[np.float64],
    held: NDArray[np.float64],
    last_seen: NDArray[np.int64],
    alone: NDArray[np.bool_],
) -> float:
    """What an attacker still does not know; `alone` is marked for people whom some combination has for itself.

    Entries stand in `order` by combination. The rest is the sum over combinations j and people i of
    -p(i, j) log2( p(i, j) / p(j) ).
    """
    remaining = 0.0
    for j in range(len(begins) - 1):
        total = 0.0
        number = 0
        for place in range(begins[j], begins[j + 1]):
            who = person[order[place]]
            if last_seen[who] != j:
                last_seen[who] = j
                held[who] = 0.0
                number += 1
            held[who] += mass[order[place]]
            total += mass[order[place]]
        if number == 1:
            alone[person[order[begins[j]]]] = True
            continue
        for place in range(begins[j], begins[j + 1]):
            who = person[order[place]]
            if held[who] > 0.0:
                remaining -= held[who] * np.log2(held[who] / total)
                held[who] = 0.0
    return remaining
