"""Keys of combinations of codes and their ranks by first appearance: compiled, for what a search does many times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from medveil.codes import kernels

KEY_LIMIT = 1 << 62
"""Keys are folded, that is ranked densely, before they would pass this."""


def rank(keys: NDArray[np.int64], key_space: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The dense rank of each key by first appearance, and the position where each rank appears first."""
    ranks = np.empty(len(keys), dtype=np.int32)
    first = np.empty(len(keys), dtype=np.int64)
    if key_space <= max(4 * len(keys), 1 << 16):
        number = kernels.rank_direct(keys, np.full(key_space, -1, dtype=np.int32), ranks, first)
    else:
        bits = max(len(keys).bit_length() + 1, 4)
        number = kernels.rank_hashed(keys, bits, np.full(1 << bits, -1, dtype=np.int32), ranks, first)
    return ranks, first[:number].copy()


def fold(
    columns: Sequence[NDArray[np.int32]], lookups: Sequence[NDArray[np.int32]], radices: Sequence[int], cells: int
) -> tuple[NDArray[np.int64], int]:
    """One key for each cell from any number of digits, and the size of the key space.

    Before a key would need more than 62 bits the keys so far are replaced by their dense ranks, of which there are no
    more than cells: the key space starts again at that number.
    """
    keys = np.zeros(cells, dtype=np.int64)
    key_space = 1
    for column, lookup, radix in zip(columns, lookups, radices, strict=True):
        if key_space * radix > KEY_LIMIT:
            ranks, first = rank(keys, key_space)
            keys, key_space = ranks.astype(np.int64), len(first)
        kernels.append_digit(keys, column, lookup, radix)
        key_space *= radix
    return keys, key_space


def rank_combinations(
    columns: Sequence[NDArray[np.int32]], lookups: Sequence[NDArray[np.int32]] | None, cells: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The rank of each cell's combination of looked-up codes (the codes themselves without look-ups) by first
    appearance, and the position where each appears first.
    """
    if lookups is None:
        lookups = [np.arange(int(column.max(initial=0)) + 1, dtype=np.int32) for column in columns]
    radices = [int(lookup.max(initial=0)) + 1 for lookup in lookups]
    return rank(*fold([np.ascontiguousarray(column) for column in columns], lookups, radices, cells))
