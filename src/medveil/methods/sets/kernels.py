"""Supports of sets of labels: people are bits, and a set of labels is had by the people whose bit is in all of them."""

from __future__ import annotations

import numba as nb
import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]


@nb.njit(cache=True, nogil=True)
def _ones(word: np.uint64) -> int:  # pragma: no cover - compiled
    """How many bits are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@nb.njit(cache=True, nogil=True)
def common(first: Words, second: Words, enough: int) -> int:  # pragma: no cover - compiled
    """How many people are in both, counted no further than `enough`."""
    count = 0
    for i in range(len(first)):
        word = first[i] & second[i]
        if word:
            count += _ones(word)
            if count >= enough:
                return count
    return count


@nb.njit(cache=True, nogil=True)
def rare_with(bits: Words, active: NDArray[np.int64], own: int, k: int, m: int) -> bool:  # pragma: no cover - compiled
    """Whether a set of at most m labels, `own` among them, is had by somebody and by fewer than k."""
    mine = bits[own]
    if 0 < common(mine, mine, k) < k:
        return True
    if m < 2:
        return False
    both = np.empty_like(mine)
    for i in range(len(active)):
        if active[i] == own:
            continue
        count = common(mine, bits[active[i]], k)
        if 0 < count < k:
            return True
        if m < 3 or count == 0:
            continue
        both[:] = mine & bits[active[i]]
        for j in range(i + 1, len(active)):
            if active[j] != own and 0 < common(both, bits[active[j]], k) < k:
                return True
    return False


@nb.njit(cache=True, nogil=True)
def rare_sets(
    bits: Words, active: NDArray[np.int64], k: int, size: int, found: NDArray[np.int64]
) -> int:  # pragma: no cover - compiled
    """The sets of exactly `size` labels (1 to 3) that fewer than k people have, and somebody: how many, up to the rows
    of `found`, which they are written to.
    """
    number = 0
    both = np.empty_like(bits[0])
    for i in range(len(active)):
        first = bits[active[i]]
        if size == 1:
            if 0 < common(first, first, k) < k and number < len(found):
                found[number, 0] = active[i]
                number += 1
            continue
        for j in range(i + 1, len(active)):
            second = bits[active[j]]
            if size == 2:
                if 0 < common(first, second, k) < k:
                    found[number, 0], found[number, 1] = active[i], active[j]
                    number += 1
                    if number == len(found):
                        return number
                continue
            if common(first, second, 1) == 0:
                continue
            both[:] = first & second
            for h in range(j + 1, len(active)):
                if 0 < common(both, bits[active[h]], k) < k:
                    found[number, 0], found[number, 1], found[number, 2] = active[i], active[j], active[h]
                    number += 1
                    if number == len(found):
                        return number
    return number


@nb.njit(cache=True, nogil=True)
def covering(
    rare: NDArray[np.int64], price: NDArray[np.float64], most: int
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Labels that are in every one of these sets: again and again the one that is in most sets which are left for its
    price, the first of equals; no more than `most`.
    """
    number, size = rare.shape
    in_sets = np.zeros(len(price), dtype=np.int64)
    for i in range(number):
        for j in range(size):
            in_sets[rare[i, j]] += 1
    left, remaining = np.ones(number, dtype=np.bool_), number
    chosen = np.empty(most, dtype=np.int64)
    count = 0
    while remaining and count < most:
        best, value = 0, -1.0
        for label in range(len(price)):
            if in_sets[label] > 0 and in_sets[label] / price[label] > value:
                best, value = label, in_sets[label] / price[label]
        chosen[count] = best
        count += 1
        for i in range(number):
            if left[i]:
                held = False
                for j in range(size):
                    held |= rare[i, j] == best
                if held:
                    left[i] = False
                    remaining -= 1
                    for j in range(size):
                        in_sets[rare[i, j]] -= 1
    return chosen[:count]


@nb.njit(cache=True, nogil=True)
def rare_pairs(
    starts: NDArray[np.int64],
    leaves: NDArray[np.int64],
    place: NDArray[np.int64],
    active: NDArray[np.int64],
    k: int,
    found: NDArray[np.int64],
) -> int:  # pragma: no cover - compiled
    """What `rare_sets` finds for pairs, counted person by person: `leaves[starts[p]:starts[p + 1]]` are those of a
    person, and `place` is where the label of a leaf stands among the active ones.
    """
    size = len(active)
    people = np.zeros((size, size), dtype=np.int32)
    last = np.full(size, -1, dtype=np.int64)
    own = np.empty(size, dtype=np.int64)
    for person in range(len(starts) - 1):
        number = 0
        for i in range(starts[person], starts[person + 1]):
            label = place[leaves[i]]
            if last[label] != person:
                last[label] = person
                own[number] = label
                number += 1
        for i in range(number):
            for j in range(i):
                people[min(own[i], own[j]), max(own[i], own[j])] += 1
    count = 0
    for i in range(size):
        for j in range(i + 1, size):
            if 0 < people[i, j] < k and count < len(found):
                found[count, 0], found[count, 1] = active[i], active[j]
                count += 1
    return count
