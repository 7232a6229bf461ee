"""Counterfeits that help a class to keep more than k: l-diversity, t-closeness and whatever else is asked of it.

Thin classes, of too few people, are filled from a twin as in `twins`; of the random choices of its records those are
taken that make the class keep every model. A class of people enough that fails a model takes *all* records of some
tuples, chosen at random among those that it does not hold itself, from a partner which would fail without them: so
either of the two may have been filled from the other, and an attacker who knows all this cannot say which.

Where padding is as published that does not matter, and the tuples which the class lacks most are taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.methods.h_ceiling.holdings import Codes, Contents, Counts, Holdings
from medveil.methods.h_ceiling.plan import NOTHING, Plan
from medveil.methods.h_ceiling.twins import Blocks, list_blocks
from medveil.methods.h_ceiling.verdicts import Asked, stack

BATCH = 24
"""How many partners are looked at together."""
TRIES = 240
"""How many partners a class may try."""
DRAWS = 4
"""How many random choices of a twin's records are looked at."""
MOST_STRANGE = 8
"""The most tuples that a class takes from its partner whole."""


@dataclass(frozen=True)
class _Offer:
    """What a class would take from a partner."""

    partner: int
    tuples: Codes
    counts: Counts


@dataclass
class _Block:
    """What was taken from one partner, and by which classes."""

    offer: _Offer
    records: int
    members: list[int]


def fill_with_help(
    holdings: Holdings,
    needy: Counts,
    enough: Counts,
    asked: Asked,
    most: int,
    allowed: int,
    random: np.random.Generator,
    *,
    mirrored: bool = True,
) -> Plan | None:
    """Fill every needy class so that all models hold, at most `most` of them from one partner; None where that cannot
    be done.
    """
    helper = _Helper(holdings, asked, mirrored)
    free = random.permutation(enough).tolist()
    blocks: list[_Block] = []
    left = allowed
    for number in needy[np.lexsort((random.random(len(needy)), -holdings.records[needy]))].tolist():
        block = helper.join(number, blocks, most) if mirrored else None
        if block is None:
            offer = helper.find(number, free, left, random)
            if offer is None:
                return None
            free.remove(offer.partner)
            block = _Block(offer, int(holdings.records[number]), [])
            blocks.append(block)
        block.members.append(number)
        left -= int(block.offer.counts.sum())
        if left < 0:
            return None
    if not blocks:
        return NOTHING
    made = Blocks(
        np.concatenate([np.array(block.members, dtype=np.int64) for block in blocks]),
        np.repeat(np.arange(len(blocks)), [len(block.members) for block in blocks]),
        np.array([block.offer.partner for block in blocks], dtype=np.int64),
        np.arange(len(blocks)),
    )
    of_block = [np.full(int(block.offer.counts.sum()), i, dtype=np.int64) for i, block in enumerate(blocks)]
    tuples = [np.repeat(block.offer.tuples, block.offer.counts) for block in blocks]
    return list_blocks(holdings, made, np.concatenate(of_block), np.concatenate(tuples))


class _Helper:
    def __init__(self, holdings: Holdings, asked: Asked, mirrored: bool) -> None:
        self.holdings = holdings
        self.k = asked.k
        self.asked = asked
        self.mirrored = mirrored
        self.contents: Contents = holdings.contents()
        self.shares = holdings.tuples.records / holdings.tuples.records.sum()
        self.names = list(holdings.cells.sensitive)

    def of(self, number: int) -> tuple[Codes, Counts]:
        """The tuples that a class holds, with their records."""
        part = slice(self.contents.offsets[number], self.contents.offsets[number + 1])
        return self.contents.tuples[part], self.contents.counts[part]

    def join(self, number: int, blocks: Sequence[_Block], most: int) -> _Block | None:
        """A block of classes like this one with a place left, whose counterfeits make this class pass as well."""
        if self.holdings.people[number] >= self.k:
            return None
        records = int(self.holdings.records[number])
        missing = self.k - int(self.holdings.people[number])
        fitting = [
            block
            for block in blocks
            if block.records == records and len(block.members) < most and int(block.offer.counts.sum()) >= missing
        ]
        found = self._first_that_passes(number, [block.offer for block in fitting], thin=True)
        return next((block for block in fitting if block.offer is found), None)

    def find(self, number: int, free: list[int], allowed: int, random: np.random.Generator) -> _Offer | None:
        """What the first partner has to offer that makes the class pass, near sizes first."""
        thin = bool(self.holdings.people[number] < self.k)
        candidates = np.array(free, dtype=np.int64)
        sizes, own = self.holdings.records[candidates], int(self.holdings.records[number])
        if thin and self.mirrored:
            candidates = candidates[sizes >= own + self.k - int(self.holdings.people[number])]
        near = np.abs(self.holdings.records[candidates] - own)
        candidates = candidates[np.argsort(near, kind="stable")]
        for start in range(0, min(len(candidates), TRIES), BATCH):
            offers = [
                offer
                for partner in candidates[start : start + BATCH].tolist()
                for offer in self._offers(number, partner, random, thin=thin)
                if int(offer.counts.sum()) <= allowed
            ]
            found = self._first_that_passes(number, offers, thin=thin)
            if found is not None:
                return found
        return None

    def _offers(self, number: int, partner: int, random: np.random.Generator, *, thin: bool) -> Iterator[_Offer]:
        if not self.mirrored:
            return self._least_offers(number, partner)
        return self._thin_offers(number, partner, random) if thin else self._thick_offers(number, partner, random)

    def _thin_offers(self, number: int, partner: int, random: np.random.Generator) -> Iterator[_Offer]:
        """As many of the partner's records as bring the class to its size, drawn at random, a few times."""
        wanted = int(self.holdings.records[partner] - self.holdings.records[number])
        tuples, available = self.of(partner)
        for _ in range(DRAWS):
            yield _Offer(partner, tuples, random.multivariate_hypergeometric(available, wanted))

    def _thick_offers(self, number: int, partner: int, random: np.random.Generator) -> Iterator[_Offer]:
        """All of the partner's records of one, two, ... tuples that the class does not hold, in random order."""
        tuples, available = self.of(partner)
        strange = np.flatnonzero(~np.isin(tuples, self.of(number)[0]))
        counts = np.zeros(len(tuples), dtype=np.int64)
        for place in random.permutation(strange)[:MOST_STRANGE].tolist():
            counts = counts.copy()
            counts[place] = available[place]
            if int(available.sum() - counts.sum()) >= self.k:
                yield _Offer(partner, tuples, counts)

    def _least_offers(self, number: int, partner: int) -> Iterator[_Offer]:
        """As few records as k asks for, then more: what the class lacks, one of each tuple first."""
        missing = self.k - int(self.holdings.people[number])
        for wanted in (max(missing, 1) + more for more in (0, 1, 2, 4, 8, 16, 32)):
            tuples, available, lack = self._ranked(number, partner, int(self.holdings.records[number]) + wanted)
            if wanted <= int(available.sum()):
                yield _Offer(partner, tuples, _pick(available, lack, wanted))

    def _ranked(self, number: int, partner: int, size: int) -> tuple[Codes, Counts, NDArray[np.float64]]:
        """The partner's tuples by falling need of them in the class if it were to have `size` records."""
        tuples, available = self.of(partner)
        held_tuples, held = self.of(number)
        own = np.zeros(len(tuples), dtype=np.int64)
        place = np.minimum(np.searchsorted(held_tuples, tuples), len(held_tuples) - 1)
        same = held_tuples[place] == tuples
        own[same] = held[place[same]]
        lack = self.shares[tuples] * size - own
        order = np.lexsort((-lack, own > 0))
        return tuples[order], available[order], lack[order]

    def _first_that_passes(self, number: int, offers: Sequence[_Offer], *, thin: bool) -> _Offer | None:
        if not offers:
            return None
        own_tuples, own_counts = self.of(number)
        people = int(self.holdings.people[number])
        after = stack(
            np.array([people + int(offer.counts.sum()) for offer in offers]),
            [np.concatenate((own_tuples, offer.tuples)) for offer in offers],
            [np.concatenate((own_counts, offer.counts)) for offer in offers],
            self.holdings.tuples.codes,
            self.names,
        )
        passes = self.asked.held(after)
        if self.mirrored and not thin:
            rest = [self._rest(offer) for offer in offers]
            without = stack(
                np.array([int(counts.sum()) for _, counts in rest]),
                [tuples for tuples, _ in rest],
                [counts for _, counts in rest],
                self.holdings.tuples.codes,
                self.names,
            )
            passes &= ~self.asked.held(without)
        good = np.flatnonzero(passes)
        return offers[int(good[0])] if len(good) else None

    def _rest(self, offer: _Offer) -> tuple[Codes, Counts]:
        """What the partner would hold if these were its counterfeits."""
        tuples, held = self.of(offer.partner)
        order = np.argsort(offer.tuples)
        return tuples, held - offer.counts[order]


def _pick(available: Counts, lack: NDArray[np.float64], wanted: int) -> Counts:
    """So many records: of each tuple as many as are lacking, at least one, and then of whatever is left."""
    counts = _cut(np.minimum(available, np.maximum(np.round(lack), 1).astype(np.int64)), wanted)
    return counts + _cut(available - counts, wanted - int(counts.sum()))


def _cut(counts: Counts, total: int) -> Counts:
    """The counts as far as their running sum stays within a total."""
    before = np.cumsum(counts) - counts
    return np.clip(total - before, 0, counts)
