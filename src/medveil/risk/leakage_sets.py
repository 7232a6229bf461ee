"""The sets of attributes that leak most, found without trying all of them.

For sets T < S and a in S: L(T) <= L(S) <= L(S - a) + h(a | S - a), where h is the entropy of a's values given those
of other attributes. h only falls as more is given, so h(a | b) from pairs bounds h(a | S - a) for every S that holds b.
With one record a person L is the entropy of the values itself, and h(a) is what a leaks alone. With several it is not:
what a set leaks may then exceed the sum over its attributes (two values that say nothing each may together be one
person's), but an attribute never adds more than the entropy of its own values, which is why both are kept.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from medveil.errors import PolicyError
from medveil.risk.leakage_count import Counter, Division, Positions

SETS_LIMIT = 500_000
"""More sets than this are not even listed."""

SLACK = 1e-9
"""Sums of logarithms are rounded: what is better by less than so many bits is not better."""

BATCH = 2
"""Sets counted at a time; fixed, so that every run examines the same sets."""

Bounds = NDArray[np.float64]


class Explorer:
    """Sets of some attributes of entries, with what was counted of them so far."""

    def __init__(self, counter: Counter, among: Sequence[int]) -> None:
        self.counter = counter
        self.among = tuple(sorted(among))
        self.known: dict[Positions, Division] = {}

    @property
    def examined(self) -> int:
        return len(self.known)

    def examine(self, sets: Sequence[Positions]) -> None:
        """Count these sets, two at a time."""
        new = [positions for positions in dict.fromkeys(sets) if positions not in self.known]
        if len(new) == 1:
            self.known[new[0]] = self.counter.divide(new[0])
        elif new:
            with ThreadPoolExecutor(BATCH) as executor:
                self.known.update(zip(new, executor.map(self.counter.divide, new), strict=True))

    def number_of_sets(self, up_to: int) -> int:
        return sum(math.comb(len(self.among), size) for size in range(1, up_to + 1))

    def every_set(self, up_to: int) -> list[Positions]:
        number = self.number_of_sets(up_to)
        if number > SETS_LIMIT:
            raise PolicyError(
                f"{len(self.among)} columns have {number:,} sets of up to {up_to}.",
                "Name fewer columns, or ask for smaller sets.",
            )
        return [s for size in range(1, up_to + 1) for s in itertools.combinations(self.among, size)]

    def all(self, up_to: int) -> list[Positions]:
        """All sets of at most `up_to` attributes, the most leaking first."""
        sets = self.every_set(up_to)
        self.examine(sets)
        return sorted(sets, key=self._rank)

    def _rank(self, positions: Positions) -> tuple[float, int, Positions]:
        return -self.known[positions].loss, len(positions), positions

    def top(self, up_to: int, number: int) -> list[Positions]:
        """So many sets of at most `up_to` attributes that leak most, the most leaking first."""
        sets = self.every_set(up_to)
        bounds = self._bounds(sets, up_to)
        best = [self.known[s].loss for s in self.known if len(s) <= up_to]
        heapq.heapify(best)
        for chosen in self._by_bound(sets, bounds):
            while len(best) > number:
                heapq.heappop(best)
            enough = best[0] + SLACK if len(best) == number else -math.inf
            if all(bound <= enough for _, bound in chosen):
                break
            # A set leaks no more than any that holds it.
            hopeful = [s for s, bound in chosen if bound > enough and self._least_above(s) > enough]
            self.examine(hopeful)
            for positions in hopeful:
                heapq.heappush(best, self.known[positions].loss)
        return sorted((s for s in self.known if len(s) <= up_to), key=self._rank)[:number]

    def _by_bound(self, sets: Sequence[Positions], bounds: Bounds) -> Iterator[list[tuple[Positions, float]]]:
        """The sets that are not counted yet, by falling bound, a few at a time."""
        order = [i for i in np.argsort(-bounds, kind="stable") if sets[i] not in self.known]
        for begin in range(0, len(order), BATCH):
            yield [(sets[i], float(bounds[i])) for i in order[begin : begin + BATCH]]

    def _least_above(self, positions: Positions) -> float:
        members = set(positions)
        return min(
            (d.loss for s, d in self.known.items() if len(s) > len(positions) and members.issubset(s)),
            default=math.inf,
        )

    def _bounds(self, sets: Sequence[Positions], up_to: int) -> Bounds:
        """What each set leaks at most, from single attributes and, where larger sets are asked for, from pairs."""
        self.examine([(a,) for a in self.among])
        if up_to > 2:
            self.examine(list(itertools.combinations(self.among, 2)))
        width = max(self.among, default=0) + 1
        alone = np.zeros(width)
        given = np.full((width, width), np.inf)
        for a in self.among:
            alone[a] = self.known[a,].entropy
        for a, b in itertools.permutations(self.among, 2):
            pair = self.known.get((min(a, b), max(a, b)))
            given[a, b] = alone[a] if pair is None else min(pair.entropy - alone[b], alone[a])
        found = {s: d.loss for s, d in self.known.items()}
        initial = self.counter.entries.initial
        bounds = np.empty(len(sets))
        for i, positions in enumerate(sets):
            exact = found.get(positions)
            if exact is None:
                exact = initial
                for a in positions:
                    rest = tuple(b for b in positions if b != a)
                    exact = min(exact, found[rest] + min(given[a, b] for b in rest))
                found[positions] = exact
            bounds[i] = exact
        return bounds

    def smallest_unique(self, share: float) -> Positions | None:
        """The smallest set by which more than this share of the people are alone with some combination of values; of
        several the one by which most are. None where all attributes together do not suffice.

        No set has more such people than combinations, nor than a set that holds it, so where all attributes but
        one or two do not suffice, a set that does holds one of those. With one record a person, all
        equally likely, each of them adds log2(n) / n to the loss, so their share is at most the normalized loss.
        """
        self.examine([self.among])
        entries = self.counter.entries
        people = max(entries.people, 1)
        everything = self.known[self.among].unique / people
        if everything <= share:
            return None
        plain = entries.person is None and entries.mass is None
        needed = self._needed(share)
        for size in range(1, len(self.among)):
            sets = self.every_set(size)
            losses = self._bounds(sets, size)
            bounds = np.array(
                [
                    min(
                        everything,
                        math.prod(entries.sizes[a] for a in positions) / people,
                        loss / entries.initial if plain and entries.initial > 0 else 1.0,
                    )
                    for positions, loss in zip(sets, losses, strict=True)
                ]
            )
            hopeful = [i for i, s in enumerate(sets) if len(s) == size and not any(one.isdisjoint(s) for one in needed)]
            found = self._most_unique([sets[i] for i in hopeful], bounds[hopeful], share)
            if found is not None:
                return found
        return self.among

    def _needed(self, share: float) -> list[frozenset[int]]:
        """Attributes, and pairs of them, of which a set must hold one: all the others together do not suffice."""
        people = self.counter.entries.people
        found: list[frozenset[int]] = []
        for size in (1, 2):
            missing = [frozenset(m) for m in itertools.combinations(self.among, size)]
            missing = [m for m in missing if not any(needed <= m for needed in found)]
            others = {m: tuple(b for b in self.among if b not in m) for m in missing if size < len(self.among)}
            self.examine(list(others.values()))
            found += [m for m, rest in others.items() if self.known[rest].unique / people <= share]
        return found

    def _most_unique(self, sets: Sequence[Positions], bounds: Bounds, share: float) -> Positions | None:
        people = self.counter.entries.people
        best, found = share, None
        for i in np.argsort(-bounds, kind="stable"):
            if bounds[i] + SLACK < best or bounds[i] + SLACK <= share:
                break
            self.examine([sets[i]])
            unique = self.known[sets[i]].unique / people
            if unique > best:
                best, found = unique, sets[i]
        return found
