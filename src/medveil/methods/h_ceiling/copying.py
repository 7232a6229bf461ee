"""Which of a twin's records are copied: at random, and so that copies look at home where that tells nothing.

A tuple looks odd in a class if it is nowhere seen with one of the class's published values, outside the classes that
the catalog lists: what is seen there does not depend on which classes were filled. Blocks whose copies look odd are
made again, with other thin classes and other records, since how odd the copies look in all classes of a block, the
twin included, does not depend either on which of them was real: whatever is accepted by that measure, each of them is
still as likely as the next.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from medveil.methods.h_ceiling.holdings import Codes, Counts, Holdings
from medveil.methods.h_ceiling.plan import NOTHING, Plan
from medveil.methods.h_ceiling.twins import Blocks, list_blocks, make_blocks

LIMITS = (0.0, 0.0, 0.0, 0.05, 0.05, 0.1, 0.1, 0.2, 0.2, 0.4, 1.0)
"""The share of odd copies that a block may have, round by round."""

MOST_PLAUSIBLE = 1 << 26
"""The largest table of (published value, tuple) that is made to see what occurs together."""


def fill_to_twins(
    holdings: Holdings,
    thin: Counts,
    needed: Counts,
    enough: Counts,
    most: int,
    allowed: int,
    random: np.random.Generator,
) -> Plan | None:
    """Fill each thin class up to the size of a twin with copies of the twin's records; None where that cannot be."""
    if not len(thin):
        return NOTHING
    blocks = make_blocks(holdings, thin, needed, enough, most, allowed, random)
    if blocks is None:
        return None
    records = _Records(holdings, blocks)
    seen = Seen(holdings, np.concatenate((blocks.thin, blocks.twin)))
    waiting = np.ones(len(blocks.twin), dtype=np.bool_)
    number, tuples = [], []
    for limit in LIMITS:
        block, drawn = records.draw(random)
        odd = _odd_shares(seen, blocks, block, drawn)
        done = waiting & (odd <= limit)
        number.append(block[done[block]])
        tuples.append(drawn[done[block]])
        waiting &= ~done
        if not waiting.any():
            break
        blocks = _exchange(blocks, waiting, random)
    return list_blocks(holdings, blocks, np.concatenate(number), np.concatenate(tuples))


class _Records:
    """Every record of every twin, one by one, in the order of the blocks."""

    def __init__(self, holdings: Holdings, blocks: Blocks) -> None:
        sizes = holdings.records[blocks.twin]
        thin_size = np.zeros(len(sizes), dtype=np.int64)
        thin_size[blocks.block] = holdings.records[blocks.thin]
        contents = holdings.contents(blocks.twin)
        place = np.searchsorted(contents.classes, blocks.twin)
        pair_starts = np.concatenate(([0], np.cumsum(contents.counts)))[contents.offsets]
        pair_of_record = np.repeat(np.arange(len(contents.counts)), contents.counts)
        self.block = np.repeat(np.arange(len(sizes)), sizes)
        nth = np.arange(len(self.block)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        self.tuples = contents.tuples[pair_of_record[pair_starts[place[self.block]] + nth]]
        self.taken = nth < (sizes - thin_size)[self.block]

    def draw(self, random: np.random.Generator) -> tuple[Counts, Codes]:
        """As many random records of each block's twin as its thin classes need: block and tuple."""
        order = np.lexsort((random.random(len(self.block)), self.block))
        # The order keeps blocks together, so that positions within each are as before.
        return self.block[self.taken], self.tuples[order][self.taken]


class Seen:
    """Which tuples are seen with which published values, outside some classes."""

    def __init__(self, holdings: Holdings, outside: Counts) -> None:
        self.holdings = holdings
        left = np.ones(len(holdings), dtype=np.bool_)
        left[outside] = False
        cells = np.flatnonzero(left[holdings.class_of_cell])
        width = len(holdings.tuples)
        self.together: list[NDArray[np.bool_] | None] = []
        for groups in holdings.groups:
            number = int(groups.max(initial=0)) + 1
            if number * width > MOST_PLAUSIBLE:
                self.together.append(None)
                continue
            table = np.zeros(number * width, dtype=np.bool_)
            keys = groups[holdings.class_of_cell[cells]].astype(np.int64) * width + holdings.tuples.of_cell[cells]
            table[keys] = True
            self.together.append(table)

    def odd(self, classes: Counts, tuples: Codes) -> NDArray[np.bool_]:
        """Whether each tuple is nowhere seen with one of the published values of the class beside it."""
        found = np.zeros(len(classes), dtype=np.bool_)
        for groups, table in zip(self.holdings.groups, self.together, strict=True):
            if table is not None:
                found |= ~table[groups[classes].astype(np.int64) * len(self.holdings.tuples) + tuples]
        return found


def _odd_shares(seen: Seen, blocks: Blocks, block: Counts, tuples: Codes) -> NDArray[np.float64]:
    """The share of odd ones among the copies of each block in all of its classes, the twin included."""
    members = np.concatenate((blocks.thin, blocks.twin))
    of_member = np.concatenate((blocks.block, np.arange(len(blocks.twin))))
    by_block = np.argsort(of_member, kind="stable")
    first = np.searchsorted(of_member[by_block], np.arange(len(blocks.twin) + 1))
    sizes = np.diff(first)[block]
    entry = np.repeat(np.arange(len(block)), sizes)
    nth = np.arange(len(entry)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    classes = members[by_block[first[block[entry]] + nth]]
    odd = seen.odd(classes, tuples[entry])
    total = np.bincount(block[entry], minlength=len(blocks.twin))
    return np.asarray(np.bincount(block[entry], odd, minlength=len(blocks.twin)) / np.maximum(total, 1))


def _exchange(blocks: Blocks, waiting: NDArray[np.bool_], random: np.random.Generator) -> Blocks:
    """Thin classes of waiting blocks change places at random with others of their kind."""
    moving = np.flatnonzero(waiting[blocks.block])
    kind = blocks.kind[blocks.block[moving]]
    before = np.lexsort((np.arange(len(moving)), kind))
    after = np.lexsort((random.random(len(moving)), kind))
    block = blocks.block.copy()
    block[moving[after]] = blocks.block[moving[before]]
    return replace(blocks, block=block)
