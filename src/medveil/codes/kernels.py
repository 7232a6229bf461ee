"""Compiled loops over codes: keys by look-ups, ranks by direct index or hash, sums by class.

Every kernel is compiled at its first call, cached on disk, and releases the interpreter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medveil.codes.compiling import outer

Codes = NDArray[np.int32]
Keys = NDArray[np.int64]


@outer
def append_digit(keys: Keys, codes: Codes, lookup: Codes, radix: int) -> None:
    """Append one digit, the looked-up code of each cell, to its mixed-radix key."""
    for i in range(len(keys)):
        keys[i] = keys[i] * radix + lookup[codes[i]]


@outer
def rank_direct(keys: Keys, seen: Codes, ranks: Codes, first: NDArray[np.int64]) -> int:
    """Dense ranks of keys, in the order of first appearance, which goes to `first`; `seen` has a -1 for each key."""
    number = 0
    for i in range(len(keys)):
        rank = seen[keys[i]]
        if rank < 0:
            rank = np.int32(number)
            seen[keys[i]] = rank
            first[number] = i
            number += 1
        ranks[i] = rank
    return number


@outer
def rank_hashed(keys: Keys, bits: int, slots: Codes, ranks: Codes, first: NDArray[np.int64]) -> int:
    """The same for keys of any size, by 2^bits slots, each -1 at first and more than there are keys."""
    mask = np.int64((1 << bits) - 1)
    shift = np.uint64(64 - bits)
    number = 0
    for i in range(len(keys)):
        key = keys[i]
        slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> shift)
        rank = slots[slot]
        while rank >= 0 and keys[first[rank]] != key:
            slot = (slot + 1) & mask
            rank = slots[slot]
        if rank < 0:
            rank = np.int32(number)
            slots[slot] = rank
            first[number] = i
            number += 1
        ranks[i] = rank
    return number


@outer
def add_counts(classes: Codes, counts: NDArray[np.int64], sums: NDArray[np.int64]) -> None:
    """Add each cell's count to its class."""
    for i in range(len(classes)):
        sums[classes[i]] += counts[i]


@outer
def sort_by_class(classes: Codes, begins: NDArray[np.int64], order: NDArray[np.int64]) -> None:
    """The cells class by class, where class c begins at `begins[c]`, which is used up."""
    for i in range(len(classes)):
        order[begins[classes[i]]] = i
        begins[classes[i]] += 1
