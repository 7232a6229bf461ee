"""Counting how many records lie in classes of fewer than k: the check that every search makes most often.

Sizes up to k need one byte each. Three things keep a count cheap: it runs on the smallest table that serves the
node; large key spaces are hashed into few counters first, which can only make classes look larger; and where cells
are kept in chunks that no class crosses, rare ones first, counting ends as soon as too many are found.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from medveil.codes.rank import KEY_LIMIT, fold, rank
from medveil.lattice import kernels
from medveil.lattice.scratch import Scratch
from medveil.lattice.space import Levels, Space
from medveil.lattice.tables import Lookup, PackedTable

DIRECT = 1 << 20
"""Key spaces up to here, or four times the cells of a chunk, have a counter of one byte for each key."""

SKETCH_BITS = 21
"""Larger ones are first hashed into so many bits' counters, which stay in the cache and rule most bad nodes out."""

DIRECT_LIMIT = 1 << 26
"""What they do not rule out is counted by direct index up to here, else by rank."""

WORTHWHILE = 1.5
"""How many times smaller than the table that serves so far a new one must be."""

TABLES_KEPT = 4
"""How many coarser tables, and how many in chunks, are kept beside that of the cells themselves."""


class SizeCounter:
    """Counts records in classes of fewer than `enough` (at most 255) records, at any node of a space."""

    def __init__(self, space: Space, codes: NDArray[np.int32], counts: NDArray[np.int64], enough: int) -> None:
        self.enough = enough
        self.space = space
        self.table = PackedTable.of(space.hierarchies, (0,) * len(space), list(codes), counts)
        self._coarser: list[PackedTable] = []
        self._chunked: list[PackedTable] = []
        self._tried: set[Levels] = {self.table.levels}
        self._read_in_vain: list[int] = []
        self._scratch = Scratch()

    def focus(self, levels: Levels) -> None:
        """Keep a table at this node, to serve the nodes above it, if it is much smaller than what serves them now."""
        if levels not in self._tried:
            self._tried.add(levels)
            base = self.serving(levels)
            if base.shrinks(levels, WORTHWHILE):
                table = base.aggregate(levels)
                if len(table) * WORTHWHILE <= len(base):
                    self._coarser = [*self._coarser[1 - TABLES_KEPT :], table]

    def chunk(self, meet: Levels, join: Levels) -> None:
        """Keep the cells in chunks for checks of nodes from `meet` to `join`."""
        self._chunked = [*self._chunked[1 - TABLES_KEPT :], self.serving(meet).chunked(join)]
        self._read_in_vain.clear()

    def has_chunks(self, join: Levels) -> bool:
        return any(table.join == join for table in self._chunked)

    def read_in_vain(self, levels: Levels) -> float:
        """How often, since chunks were last made, failures took reading a whole table such as serves this node."""
        return sum(self._read_in_vain) / len(self.serving(levels))

    def serving(self, levels: Sequence[int]) -> PackedTable:
        """The smallest table from which a node can be counted."""
        return min((t for t in self._coarser if t.serves(levels)), key=len, default=self.table)

    def serving_in_chunks(self, levels: Sequence[int]) -> PackedTable | None:
        """The table of the most chunks from which a node can be counted, if there is one."""
        fitting = (t for t in self._chunked if t.serves(levels) and t.holds_whole(levels))
        return max(fitting, key=lambda table: len(table.chunks), default=None)

    def check(
        self, levels: Levels, most: int, telling: int, *, in_detail: bool
    ) -> tuple[int, tuple[NDArray[np.int64], ...] | None]:
        """The records in too small classes; if they are no more than `most` and it is asked for, by group as well.

        Where there are more than `telling`, which is at least `most`, the number is only a lower bound; also where
        large key spaces are sketched.
        """
        chunked = self.serving_in_chunks(levels)
        table = chunked or self.serving(levels)
        lookup = table.lookup(levels, chunked=True)
        direct = lookup.key_space <= max(DIRECT, 4 * table.largest_chunk)
        if in_detail and direct and chunked is None:
            return self._in_detail(table, lookup, levels, most)
        small = 0 if lookup.key_space > KEY_LIMIT else self._quickly(table, lookup, telling, direct=direct)
        if small > most or not in_detail:
            return small, None
        table = self.serving(levels)
        return self._in_detail(table, table.lookup(levels), levels, most)

    def _quickly(self, table: PackedTable, lookup: Lookup, telling: int, *, direct: bool) -> int:
        """The number, or a lower bound, without any trace of which records they are."""
        bits = 0 if direct else min(max((4 * table.largest_chunk).bit_length(), 16), SKETCH_BITS)
        small, read = kernels.count_small(
            table.packs,
            lookup.scaled(np.int64),
            table.packing.starts,
            table.weights(self.enough),
            table.chunks,
            self.enough,
            telling,
            bits,
            self._scratch.room("zeros", lookup.key_space if direct else 1 << bits, np.uint8),
            self._scratch.room("slots", table.largest_chunk, np.int32),
        )
        if small > telling:
            self._read_in_vain.append(read)
        return small

    def _in_detail(
        self, table: PackedTable, lookup: Lookup, levels: Levels, most: int
    ) -> tuple[int, tuple[NDArray[np.int64], ...] | None]:
        """The number and, if it is no more than `most`, the records by group of each quasi-identifier."""
        weights, starts = table.weights(self.enough), table.packing.starts
        if lookup.key_space <= max(DIRECT, min(DIRECT_LIMIT, 64 * len(table))):
            keys = self._scratch.room("slots", len(table), np.int32)
            counters = self._scratch.room("counters", lookup.key_space, np.uint8)
            counters[:] = 0
            kernels.count_direct(table.packs, lookup.scaled(np.int32), starts, weights, self.enough, counters, keys)
        else:
            keys, first = rank(*fold(list(table.packs), lookup.tables, lookup.radices, len(table)))
            counters = self._scratch.room("counters", len(first), np.uint8)
            counters[:] = 0
            kernels.count_keys(keys, weights, self.enough, counters)
        small = kernels.sum_small(counters, self.enough)
        if small > most:
            self._read_in_vain.append(len(table))
            return small, None
        by_code = np.zeros(int(starts[-1]), dtype=np.int64)
        if small:
            kernels.hidden_by_code(table.packs, starts, keys, weights, self.enough, counters, by_code)
        return small, table.spread(by_code, levels)
