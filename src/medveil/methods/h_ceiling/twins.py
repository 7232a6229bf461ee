"""Concealed padding: every class that is filled stands beside one that is not, and nothing published tells them apart.

Classes E_1 ... E_t of too few people, all of the same number m of records, are filled up to the size n of a class D
that has people enough of its own, with copies of the sensitive tuples of n - m records of D, drawn at random, the same
for each of them. The catalog lists the t + 1 classes together. Then "all but D were filled from D" and "all but E_j
were filled from E_j" explain the same table and the same catalog. Write x_s for the published records of tuple s in a
class X, c_s for the copies of s in each filled class. To an attacker who takes records for exchangeable, the story in
which X is the real one has the probability

    n!/prod x_s!  *  prod over the others Y of m!/prod (y_s - c_s)!  *  prod C(x_s, c_s) / C(n, m)

up to the same factor, and since x_s! = C(x_s, c_s) c_s! (x_s - c_s)!, that is

    n! m!^t / C(n, m)  *  prod 1/c_s!  *  prod over all t + 1 classes Z of 1/prod (z_s - c_s)!

whichever X is. So a class that the catalog lists holds counterfeits with probability t/(t + 1), exactly, and its size
or its contents add nothing. The smallest classes that are large enough serve as D: that takes the fewest counterfeits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from medveil.methods.h_ceiling.holdings import Codes, Counts, Holdings
from medveil.methods.h_ceiling.plan import Plan, Rows, merged

MOST_STRATA = 64
"""The most published values of a quasi-identifier that classes of a block may be asked to share."""

BEARABLE = 1.25
"""How many times the counterfeits it may take so that the classes of a block share a value."""


@dataclass(frozen=True)
class Blocks:
    """Classes to be listed together: `thin[i]` is filled up to the size of `twin[block[i]]`.

    Blocks of the same `kind` may exchange thin classes.
    """

    thin: Counts
    block: Counts
    twin: Counts
    kind: Counts

    def counterfeits(self, holdings: Holdings) -> int:
        """How many it takes to fill them."""
        return int((holdings.records[self.twin][self.block] - holdings.records[self.thin]).sum())


def choose_twins(least: Counts, sizes: Counts) -> Counts | None:
    """The positions of the sizes that serve, one for each least size; None where some cannot be served.

    Least sizes come by falling size: each takes the smallest size left that is large enough, and no choice has a
    smaller sum.
    """
    order = np.argsort(sizes, kind="stable")
    ascending = sizes[order]
    free = np.ones(len(order), dtype=np.bool_)
    chosen = np.empty(len(least), dtype=np.int64)
    start, previous = 0, None
    for i, needed in enumerate(least.tolist()):
        if needed != previous:
            start, previous = int(np.searchsorted(ascending, needed)), needed
        while start < len(order) and not free[start]:
            start += 1
        if start == len(order):
            return None
        free[start] = False
        chosen[i] = order[start]
    return chosen


def make_blocks(
    holdings: Holdings,
    thin: Counts,
    needed: Counts,
    enough: Counts,
    most: int,
    allowed: int,
    random: np.random.Generator,
) -> Blocks | None:
    """Blocks of at most `most` thin classes, each of which needs that many more people, and one twin out of `enough`.

    None where there are too few twins, or more than `allowed` counterfeits would be needed. The classes of a block
    have the same number of records, need the same number of people and otherwise meet by chance, for whatever else
    brought them together might tell the twin; but where it costs little more they also share the published value that
    says most about the sensitive ones, so that copies look at home.
    """
    same = np.zeros(len(holdings), dtype=np.int64)
    plain = _blocks(holdings, thin, needed, enough, most, same, random)
    if plain is None or plain.counterfeits(holdings) > allowed:
        return None
    bearable = min(allowed, plain.counterfeits(holdings) * BEARABLE)
    for attribute in _telling(holdings):
        alike = _blocks(holdings, thin, needed, enough, most, holdings.groups[attribute].astype(np.int64), random)
        if alike is not None and alike.counterfeits(holdings) <= bearable:
            return alike
    return plain


def _blocks(
    holdings: Holdings,
    thin: Counts,
    needed: Counts,
    enough: Counts,
    most: int,
    stratum: Counts,
    random: np.random.Generator,
) -> Blocks | None:
    """Blocks within strata of the classes, or None where a stratum has too few twins."""
    records = holdings.records
    thin, needed = _shuffled(random, thin, needed)
    enough = random.permutation(enough)
    kinds, kind, members = np.unique(
        np.stack((stratum[thin], records[thin], needed)), axis=1, return_inverse=True, return_counts=True
    )
    kind = kind.reshape(-1)
    # Thin classes of a kind in chance order, cut into runs of `most`.
    order = np.argsort(kind, kind="stable")
    nth = np.empty(len(thin), dtype=np.int64)
    nth[order] = np.arange(len(thin)) - np.repeat(np.cumsum(members) - members, members)
    first = np.cumsum(-(-members // most)) - (-(-members // most))
    block = first[kind] + nth // most
    places = np.bincount(block)
    of_block = np.repeat(np.arange(len(members)), -(-members // most))
    twin = np.full(len(places), -1, dtype=np.int64)
    for value in np.unique(kinds[0]):
        here = np.flatnonzero(kinds[0][of_block] == value)
        least = (kinds[1] + kinds[2])[of_block[here]]
        here = here[np.lexsort((-places[here], -least))]
        candidates = enough[stratum[enough] == value]
        chosen = choose_twins((kinds[1] + kinds[2])[of_block[here]], records[candidates])
        if chosen is None:
            return None
        twin[here] = candidates[chosen]
    return Blocks(thin, block, twin, of_block)


def _shuffled(random: np.random.Generator, *columns: Counts) -> list[Counts]:
    order = random.permutation(len(columns[0]))
    return [column[order] for column in columns]


def _telling(holdings: Holdings) -> list[int]:
    """Quasi-identifiers by falling mutual information of their published values with the sensitive tuples."""
    cells = holdings.cells
    found = []
    for attribute, groups in enumerate(holdings.groups):
        number = int(groups.max()) + 1
        if 1 < number <= MOST_STRATA:
            of_cell = groups[holdings.class_of_cell].astype(np.int64)
            keys, joint = np.unique(of_cell * len(holdings.tuples) + holdings.tuples.of_cell, return_inverse=True)
            both = np.bincount(joint, cells.counts)
            value, sensitive = np.divmod(keys, len(holdings.tuples))
            of_value = np.bincount(of_cell, cells.counts, minlength=number)
            expected = of_value[value] * (holdings.tuples.records[sensitive] / holdings.tuples.records.sum())
            present = both > 0
            found.append((-float((both[present] * np.log(both[present] / expected[present])).sum()), attribute))
    return [attribute for _, attribute in sorted(found)]


def list_blocks(holdings: Holdings, blocks: Blocks, block: Counts, tuples: Codes) -> Plan:
    """The plan in which every thin class of a block holds one counterfeit of each tuple given for the block."""
    number, value, counts = merged(block, tuples, len(holdings.tuples))
    by_block = np.argsort(blocks.block, kind="stable")
    first = np.searchsorted(blocks.block[by_block], np.arange(len(blocks.twin) + 1))
    members = np.diff(first)[number]
    entry = np.repeat(np.arange(len(number)), members)
    nth = np.arange(len(entry)) - np.repeat(np.cumsum(members) - members, members)
    classes = blocks.thin[by_block[first[number[entry]] + nth]]
    # Each row lists the members of its block and then the twin, in no telling order once ids are random.
    row = np.concatenate((entry, np.arange(len(number))))
    listed = np.concatenate((classes, blocks.twin[number]))
    order = np.lexsort((listed, row))
    offsets = np.concatenate(([0], np.cumsum(members + 1)))
    rows = Rows(value, counts * members, offsets.astype(np.int64), listed[order])
    return Plan(classes, value[entry], counts[entry], rows, blocks.twin[number[entry]])
