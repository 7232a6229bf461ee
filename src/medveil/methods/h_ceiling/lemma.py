"""Grouping of the paper: which classes the catalog lists together so that the catalog alone tells no counterfeit.

Lemma 1 (Lee, Kim, Kim and Chung 2017): counterfeits of value s in a class of a group cannot be told if the group's
other classes hold at least as many real records of s. For each value, on its own, the classes that hold counterfeits
of it are put into groups with classes that hold it really; a class is in one group a value. A recipient who wants
truth alone gives up min(c, records of s) in each class of a group of c counterfeits, c of which were counterfeit: as
long as the real records of each group are no fewer than its counterfeits, no grouping loses fewer records than there
are counterfeits, and one cover of at least c records for each class reaches that.

Counterfeits by falling number meet covers by falling number, so that large covers, which leave a record real with the
highest probability, go where they matter most; an index by value makes this near linear. Algorithm 2 of the paper
groups whole classes and compares each with each: its groups grow until nearly every class is in one, and the truthful
table loses what they share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.codes.compiling import outer
from medveil.methods.h_ceiling.people import Codes, Counts


@dataclass(frozen=True)
class Listed:
    """The catalog: row i says that `counts[i]` counterfeits of tuple `tuples[i]` are somewhere in the classes
    `classes[offsets[i]:offsets[i + 1]]`.
    """

    tuples: Codes
    counts: Counts
    offsets: Counts
    classes: Counts

    def __len__(self) -> int:
        return len(self.tuples)

    @property
    def numbers(self) -> Counts:
        """The row of each listed class."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))


@dataclass(frozen=True)
class Grouped:
    """The catalog rows, and which counterfeits (by their position in the input) no group can hide."""

    rows: Listed
    exposed: NDArray[np.bool_]


@outer
def _group_value(
    forged: Counts, own: Counts, covers: Counts, group_of_forged: Counts, group_of_cover: Counts, room: Counts
) -> None:
    """Groups for one value: `forged[i]` counterfeits, by falling number, in classes with `own[i]` real records, and
    the real records `covers[j]` of classes without counterfeits, by falling number. -1: in no group.

    `room` is of two numbers for each group that may come to be: its counterfeits and its real records.
    """
    groups = 0
    next_cover = 0
    left = 0
    for i in range(len(forged)):
        last = next_cover
        total = 0
        while last < len(covers) and total < forged[i]:
            total += covers[last]
            last += 1
        if total < forged[i]:
            group_of_forged[i] = -1
            left += 1
            continue
        for j in range(next_cover, last):
            group_of_cover[j] = groups
        next_cover = last
        group_of_forged[i] = groups
        room[2 * groups] = forged[i]
        room[2 * groups + 1] = total + own[i]
        groups += 1
    if left == 0:
        return
    # Covers are used up: join the group that has most real records to spare, first within an even share of
    # counterfeits, then as far as the lemma alone allows.
    for strict in range(2):
        for i in range(len(forged)):
            if group_of_forged[i] >= 0:
                continue
            best, spare = -1, np.int64(-1)
            for g in range(groups):
                real, false = room[2 * g + 1], room[2 * g]
                if real >= forged[i] and (strict == 1 or real + own[i] >= false + forged[i]) and real - false > spare:
                    best, spare = g, real - false
            if best < 0 and strict == 1:
                for g in range(groups):
                    if room[2 * g + 1] >= forged[i] and (best < 0 or room[2 * g + 1] > room[2 * best + 1]):
                        best = g
            if best >= 0:
                group_of_forged[i] = best
                room[2 * best] += forged[i]
                room[2 * best + 1] += own[i]
                left -= 1
    if left == 0:
        return
    # Those that are still left may hide one another.
    false, real = np.int64(0), np.int64(0)
    for i in range(len(forged)):
        if group_of_forged[i] < 0:
            false += forged[i]
            real += own[i]
    for i in range(len(forged)):
        if group_of_forged[i] < 0 and real - own[i] < forged[i]:
            return
    for i in range(len(forged)):
        if group_of_forged[i] < 0:
            group_of_forged[i] = groups


def group(
    forged_classes: Counts,
    forged_tuples: Codes,
    forged_counts: Counts,
    real_classes: Counts,
    real_tuples: Codes,
    real_counts: Counts,
) -> Grouped:
    """Groups for counterfeits, given as distinct (class, tuple, count), among real records given alike."""
    width = int(max(forged_tuples.max(initial=0), real_tuples.max(initial=0))) + 1
    forged_keys = forged_classes * width + forged_tuples
    real_keys = real_classes * width + real_tuples
    by_key = np.argsort(real_keys, kind="stable")
    place = np.minimum(np.searchsorted(real_keys[by_key], forged_keys), max(len(real_keys) - 1, 0))
    own = np.zeros(len(forged_keys), dtype=np.int64)
    is_cover = np.ones(len(real_keys), dtype=np.bool_)
    if len(real_keys):
        met = by_key[place]
        same = real_keys[met] == forged_keys
        own[same] = real_counts[met[same]]
        is_cover[met[same]] = False
    asked = np.zeros(width, dtype=np.bool_)
    asked[forged_tuples] = True
    covers = np.flatnonzero(is_cover & asked[real_tuples])
    demand_order = np.lexsort((-own, -forged_counts, forged_tuples))
    cover_order = covers[np.lexsort((-real_counts[covers], real_tuples[covers]))]
    values = np.unique(forged_tuples)
    demand_bounds = np.searchsorted(forged_tuples[demand_order], np.append(values, width))
    cover_bounds = np.searchsorted(real_tuples[cover_order], np.append(values, width), side="left")
    cover_ends = np.searchsorted(real_tuples[cover_order], values, side="right")

    group_of_forged = np.full(len(forged_keys), -1, dtype=np.int64)
    group_of_cover = np.full(len(cover_order), -1, dtype=np.int64)
    first = 0
    for number in range(len(values)):
        demands = demand_order[demand_bounds[number] : demand_bounds[number + 1]]
        chosen = slice(cover_bounds[number], cover_ends[number])
        of_forged = np.full(len(demands), -1, dtype=np.int64)
        of_cover = np.full(chosen.stop - chosen.start, -1, dtype=np.int64)
        _group_value(
            forged_counts[demands],
            own[demands],
            real_counts[cover_order[chosen]],
            of_forged,
            of_cover,
            np.zeros(2 * len(demands) + 2, dtype=np.int64),
        )
        group_of_forged[demands] = np.where(of_forged >= 0, of_forged + first, -1)
        group_of_cover[chosen] = np.where(of_cover >= 0, of_cover + first, -1)
        first += int(of_forged.max(initial=-1)) + 1
    exposed = group_of_forged < 0
    held, used = ~exposed, group_of_cover >= 0
    groups = np.concatenate((group_of_forged[held], group_of_cover[used]))
    classes = np.concatenate((forged_classes[held], real_classes[cover_order[used]]))
    order = np.lexsort((classes, groups))
    tuples = np.zeros(first, dtype=np.int32)
    tuples[group_of_forged[held]] = forged_tuples[held]
    counts = np.bincount(group_of_forged[held], forged_counts[held], minlength=first).astype(np.int64)
    offsets = np.searchsorted(groups[order], np.arange(first + 1)).astype(np.int64)
    return Grouped(Listed(tuples, counts, offsets, classes[order].astype(np.int64)), exposed)
