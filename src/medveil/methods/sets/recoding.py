"""A global recoding of a set-valued attribute under k^m-anonymity: each code becomes one of its groups, everywhere.

The idea is that of apriori: sets of one label are looked at first, then pairs, then triples, since a set is no more
frequent than its parts. Labels of sets that too few people have are raised to their groups, those first that take most
rare sets away for the least loss; a group holds what was raised to it, while common codes beside keep their own label.
Raising merges labels, which never makes a frequent set rare: once all sets of a size are frequent they stay so. Then
each code is lowered again as far as nothing becomes rare.

After Terrovitis, Mamoulis and Kalnis 2008, Privacy-preserving anonymization of set-valued data, who raise whole
subtrees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.errors import UnreachableError
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.methods.sets.kernels import Words, covering, rare_pairs, rare_sets, rare_with

Codes = NDArray[np.int64]
MOST_RARE = 200_000
"""So many rare sets are looked at in one round."""
MOST_LABELS = 5_000
"""Pairs of no more labels are counted in a table, which has a cell for each."""


@dataclass(frozen=True)
class Recoding:
    """The level of each leaf, and the mean loss over the distinct values that people have."""

    levels: Codes
    loss: float
    rounds: int
    lowered: int


class SetRecoder:
    """People and the leaves that they have, each pair once; `labels[level][leaf]` is what a leaf is called there."""

    def __init__(
        self,
        people: Codes,
        leaves: Codes,
        hierarchy: Hierarchy,
        *,
        k: int,
        m: int,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self.k, self.m, self.check = k, m, check
        self.hierarchy = hierarchy
        number = len(hierarchy.levels[0].groups)
        self.counts = np.bincount(leaves, minlength=number)
        self.levels = np.zeros(number, dtype=np.int64)
        self.top = hierarchy.height
        names: dict[str | None, int] = {}
        # A label is what recipients see: groups that are called alike are one.
        self.label_of = np.array(
            [
                [names.setdefault(level.labels[group], len(names)) for group in level.groups.tolist()]
                for level in hierarchy.levels
            ],
            dtype=np.int64,
        ).reshape(len(hierarchy.levels), number)
        self.labels = len(names)
        order = np.argsort(people, kind="stable")
        self.leaves = leaves[order]
        self.starts = np.append(0, np.cumsum(np.bincount(people))).astype(np.int64)
        self.own = _bits(people, leaves, number)
        self.bits = np.zeros((self.labels, self.own.shape[1]), dtype=np.uint64)
        for leaf in range(number):
            self.bits[self.label_of[0, leaf]] |= self.own[leaf]
        self.present = self.counts > 0

    def solve(self) -> Recoding:
        """A recoding under which every set of at most m labels has k people or none."""
        everybody = np.bitwise_or.reduce(self.own, axis=0) if len(self.own) else np.zeros(1, dtype=np.uint64)
        if 0 < int(np.unpackbits(everybody.view(np.uint8)).sum()) < self.k:
            raise UnreachableError(
                "Fewer than k people have any value of the set-valued attribute.", "Ask for a smaller k."
            )
        rounds = 0
        for size in range(1, self.m + 1):
            while True:
                self.check()
                rare = self._rare(size)
                if not len(rare):
                    break
                self._raise(self._chosen(rare))
                rounds += 1
        lowered = self._lower()
        return Recoding(self.levels.copy(), self.loss(), rounds, lowered)

    def loss(self) -> float:
        losses = np.array([self.hierarchy.losses[level][leaf] for leaf, level in enumerate(self.levels.tolist())])
        total = int(self.counts.sum())
        return float(losses @ self.counts) / total if total else 0.0

    # What is rare

    def _current(self) -> Codes:
        """The label of each leaf."""
        found: Codes = self.label_of[self.levels, np.arange(len(self.levels))]
        return found

    def _active(self) -> Codes:
        found: Codes = np.unique(self._current()[self.present])
        return found

    def _rare(self, size: int) -> Codes:
        found = np.empty((MOST_RARE, size), dtype=np.int64)
        active = self._active()
        if size == 2 and len(active) <= MOST_LABELS:
            place = np.searchsorted(active, self._current())
            number = rare_pairs(self.starts, self.leaves, place, active, self.k, found)
        else:
            number = rare_sets(self.bits, active, self.k, size, found)
        return found[:number]

    # Raising

    def _chosen(self, rare: Codes) -> Codes:
        """Labels to raise, so that something changes in every rare set: again and again the one that is in most sets
        that are left for its price, the loss of raising what it holds.
        """
        price = self._prices()
        # A round raises what is clear; prices of the rest depend on it.
        found: Codes = covering(rare, price, max(8, len(price) // 50))
        return found

    def _prices(self) -> NDArray[np.float64]:
        """What raising each label would cost, in loss over all values that people have; the root cannot be raised."""
        current = self._current()
        leaves = np.flatnonzero(self.present)
        above = np.minimum(self.levels[leaves] + 1, self.top)
        losses = np.stack(self.hierarchy.losses)
        extra = (losses[above, leaves] - losses[self.levels[leaves], leaves]) * self.counts[leaves]
        price = np.bincount(current[leaves], extra, minlength=self.labels) + 1e-9 * max(int(self.counts.sum()), 1)
        at_top = np.bincount(current[leaves], self.levels[leaves] >= self.top, minlength=self.labels) > 0
        return np.where(at_top, np.inf, price)

    def _raise(self, chosen: Codes) -> None:
        current = self._current()
        members = np.isin(current, chosen) & self.present
        if not (members & (self.levels < self.top)).any():
            # The root alone is rare: what is cheapest joins it.
            self._join_root(current)
            return
        moved = members & (self.levels < self.top)
        self._move(moved, self.levels[moved] + 1)

    def _join_root(self, current: Codes) -> None:
        others = np.flatnonzero(self.present & (self.levels < self.top))
        cheapest = others[np.argmin(self.counts[others])]
        moved = (current == current[cheapest]) & self.present
        self._move(moved, np.full(int(moved.sum()), self.top))

    def _move(self, moved: NDArray[np.bool_], levels: Codes) -> None:
        before = self._current()
        self.levels[moved] = levels
        touched = np.union1d(before[moved], self._current()[moved])
        self._refresh(touched)

    def _refresh(self, labels: Sequence[int] | Codes) -> None:
        """The people of labels anew."""
        current = self._current()
        for label in labels:
            members = np.flatnonzero((current == label) & self.present)
            self.bits[label] = np.bitwise_or.reduce(self.own[members], axis=0) if len(members) else 0

    # Lowering

    def _lower(self) -> int:
        """Lower each leaf as far as every set stays frequent, those first of which most is gained, until none can be
        lowered alone; how many times one was. What one leaf leaves may be what another could not join.
        """
        losses = np.stack(self.hierarchy.losses)
        lowered, before = 0, -1
        while lowered > before:
            before = lowered
            leaves = np.flatnonzero(self.present & (self.levels > 0))
            gain = losses[self.levels[leaves], leaves] * self.counts[leaves]
            for leaf in leaves[np.argsort(-gain, kind="stable")].tolist():
                self.check()
                lowered += self._lower_leaf(leaf)
        return lowered

    def _lower_leaf(self, leaf: int) -> bool:
        before = int(self.levels[leaf])
        old = int(self.label_of[before, leaf])
        for level in range(before):
            new = int(self.label_of[level, leaf])
            if new == old:
                self.levels[leaf] = level
                return False
            self.levels[leaf] = level
            joined, left = self.bits[new].copy(), self.bits[old].copy()
            self.bits[new] |= self.own[leaf]
            # What others of the old label have is asked only where the new one is frequent beside all the rest.
            if self._frequent([new], but=old):
                self._refresh([old])
                if self._frequent([old, new]):
                    return True
            self.levels[leaf] = before
            self.bits[new], self.bits[old] = joined, left
        return False

    def _frequent(self, labels: Sequence[int], but: int | None = None) -> bool:
        """Whether every set with one of these labels is frequent; sets with the label `but` are not looked at."""
        active = self._active()
        active = active if but is None else active[active != but]
        return not any(label in active and rare_with(self.bits, active, label, self.k, self.m) for label in labels)


def _bits(people: Codes, leaves: Codes, number: int) -> Words:
    """For each leaf, a bit for each person."""
    count = int(people.max(initial=-1)) + 1
    words = (count + 63) // 64 or 1
    bits = np.zeros((number, words), dtype=np.uint64)
    np.bitwise_or.at(bits, (leaves, people // 64), np.uint64(1) << (people % 64).astype(np.uint64))
    return bits
