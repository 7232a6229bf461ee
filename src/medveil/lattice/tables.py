"""Cells at some node, ready for checks: codes packed into few columns, records as counts.

A table at levels w serves every node above w. The codes of several quasi-identifiers are packed into one column as long
as the look-up table of the pack stays small; a check then needs one look-up a pack instead of one a quasi-identifier.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medveil.codes.kernels import add_counts, sort_by_class
from medveil.codes.rank import fold, rank
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.lattice.space import Levels

PACK_SIZE = 1 << 14
"""The largest look-up table of a pack of several quasi-identifiers: it stays in the cache of one core."""

SAMPLED_ABOVE = 1 << 16
SAMPLE_STEP = 8
"""Whether a table would be smaller is first tried on one cell in eight, where there are many."""

LOOKUPS_KEPT = 64
"""How many look-up tables of packs are kept: nodes checked one after the other differ in few levels."""


def parents(hierarchy: Hierarchy, low: int, high: int) -> NDArray[np.int32]:
    """For each group of level `low`, its group at level `high`."""
    lower = hierarchy.levels[low]
    found = np.zeros(len(lower.labels), dtype=np.int32)
    found[lower.groups] = hierarchy.levels[high].groups
    return found


@dataclass(frozen=True)
class Packing:
    """Which quasi-identifiers share a column, how many codes each has, and where each column's look-up table begins."""

    positions: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    starts: NDArray[np.int64]

    @cached_property
    def layout(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The positions pack by pack, where each pack's begin, and the sizes, for compiled loops."""
        begins = np.cumsum([0, *(len(pack) for pack in self.positions)])
        return np.concatenate([np.array(pack) for pack in self.positions]), begins, np.array(self.sizes)

    @classmethod
    def of(cls, sizes: tuple[int, ...], limit: int) -> Packing:
        """First fit by falling size; no column of several quasi-identifiers has more codes than the limit."""
        packs: list[list[int]] = []
        filled: list[int] = []
        for position in sorted(range(len(sizes)), key=lambda p: (-sizes[p], p)):
            for number, pack in enumerate(packs):
                if filled[number] * sizes[position] <= limit:
                    pack.append(position)
                    filled[number] *= sizes[position]
                    break
            else:
                packs.append([position])
                filled.append(sizes[position])
        starts = np.concatenate(([0], np.cumsum(filled))).astype(np.int64)
        return cls(tuple(tuple(sorted(pack)) for pack in packs), sizes, starts)


@dataclass(frozen=True)
class Lookup:
    """How a table's packs become keys of one node: look-up tables, radices and the size of the key space."""

    tables: tuple[NDArray[np.int32], ...]
    radices: tuple[int, ...]
    key_space: int

    def scaled(self, dtype: type[Any]) -> NDArray[Any]:
        """All look-up tables in one, so that the sum of a cell's entries is its key, which must fit the type."""
        scaled: list[NDArray[Any]] = []
        stride = self.key_space
        for table, radix in zip(self.tables, self.radices, strict=True):
            stride //= radix
            scaled.append(table.astype(dtype) * dtype(stride))
        return np.concatenate(scaled)


class PackedTable:
    """Cells without sensitive values at `levels`: packed codes and `counts[i]`, the records of cell i.

    No class of a node at or below `join` lies in two of the `chunks`, which are given by their bounds.
    """

    def __init__(
        self,
        hierarchies: Sequence[Hierarchy],
        levels: Levels,
        packing: Packing,
        packs: NDArray[np.int32],
        counts: NDArray[np.int64],
    ) -> None:
        self.hierarchies = tuple(hierarchies)
        self.levels = levels
        self.packing = packing
        self.packs = packs
        self.counts = counts
        self.join: Levels = tuple(hierarchy.height for hierarchy in hierarchies)
        self.chunks = np.array([0, len(counts)], dtype=np.int64)
        self.largest_chunk = len(counts)
        self._weights: tuple[int, NDArray[np.uint8]] | None = None
        self._lookups: dict[tuple[object, ...], tuple[NDArray[np.int32], int]] = {}
        self._parents: dict[tuple[int, int], tuple[NDArray[np.int32], int]] = {}

    @classmethod
    def of(
        cls,
        hierarchies: Sequence[Hierarchy],
        levels: Levels,
        codes: Sequence[NDArray[np.int32]],
        counts: NDArray[np.int64],
    ) -> PackedTable:
        """The table of these codes, which are groups of each quasi-identifier's level."""
        sizes = tuple(len(h.levels[level].labels) for h, level in zip(hierarchies, levels, strict=True))
        packing = Packing.of(sizes, min(PACK_SIZE, max(256, len(counts) // 8)))
        packs = np.empty((len(packing.positions), len(counts)), dtype=np.int32)
        for number, pack in enumerate(packing.positions):
            packs[number] = codes[pack[0]]
            for position in pack[1:]:
                packs[number] *= np.int32(sizes[position])
                packs[number] += codes[position]
        return cls(hierarchies, levels, packing, packs, counts)

    def __len__(self) -> int:
        return len(self.counts)

    def serves(self, levels: Sequence[int]) -> bool:
        """Whether a node can be checked from this table."""
        return all(low <= level for low, level in zip(self.levels, levels, strict=True))

    def holds_whole(self, levels: Sequence[int]) -> bool:
        """Whether every class of a node lies within one chunk."""
        return all(level <= high for level, high in zip(levels, self.join, strict=True))

    def parents(self, position: int, level: int) -> tuple[NDArray[np.int32], int]:
        """Each group's group at a higher level, and how many groups that level has."""
        found = self._parents.get((position, level))
        if found is None:
            hierarchy = self.hierarchies[position]
            found = (parents(hierarchy, self.levels[position], level), len(hierarchy.levels[level].labels))
            self._parents[position, level] = found
        return found

    def lookup(self, levels: Sequence[int], *, chunked: bool = False) -> Lookup:
        """The look-up tables of a node: for each pack, from pack code to the digit of its generalized values.

        `chunked`: for keys that need to differ within a chunk only, so that levels of the join have no digit.
        """
        tables, radices = [], []
        for pack in self.packing.positions:
            wanted = (pack, chunked, *(levels[position] for position in pack))
            found = self._lookups.get(wanted)
            if found is None:
                if len(self._lookups) >= LOOKUPS_KEPT:
                    self._lookups.clear()
                found = self._lookups[wanted] = self._pack_lookup(pack, levels, chunked=chunked)
            tables.append(found[0])
            radices.append(found[1])
        return Lookup(tuple(tables), tuple(radices), math.prod(radices))

    def _pack_lookup(
        self, pack: tuple[int, ...], levels: Sequence[int], *, chunked: bool
    ) -> tuple[NDArray[np.int32], int]:
        """From the codes of one pack to digits, and how many digits there may be."""
        table, radix = np.zeros(1, dtype=np.int32), 1
        for position in pack:
            groups, number = self.parents(position, levels[position])
            if number == 1 or (chunked and levels[position] == self.join[position]):
                table = np.repeat(table, self.packing.sizes[position])
            else:
                table = (table[:, None] * np.int32(number) + groups).ravel()
                radix *= number
        return table, radix

    def keys(self, levels: Sequence[int]) -> tuple[NDArray[np.int64], int]:
        """The key of each cell at a node, folded where it would be too long, and the size of the key space."""
        lookup = self.lookup(levels)
        return fold(list(self.packs), lookup.tables, lookup.radices, len(self))

    def spread(self, hidden: NDArray[np.int64], levels: Sequence[int]) -> tuple[NDArray[np.int64], ...]:
        """From counts by pack code to counts by group of each quasi-identifier at a node."""
        packing = self.packing
        found: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)] * len(packing.sizes)
        for number, pack in enumerate(packing.positions):
            block = hidden[packing.starts[number] : packing.starts[number + 1]]
            block = block.reshape([packing.sizes[position] for position in pack])
            for axis, position in enumerate(pack):
                by_group = block.sum(axis=tuple(other for other in range(len(pack)) if other != axis))
                groups, groups_above = self.parents(position, levels[position])
                found[position] = np.bincount(groups, by_group, minlength=groups_above).astype(np.int64)
        return tuple(found)

    def shrinks(self, levels: Levels, factor: float) -> bool:
        """Whether the table at a higher node is likely to be that many times smaller, judged by a sample.

        If classes of r cells are sampled one cell in s, the share of distinct ones is (1 - exp(-r / s)) / (r / s).
        """
        if len(self) < SAMPLED_ABOVE:
            return True
        lookup = self.lookup(levels)
        sample = [np.ascontiguousarray(column[::SAMPLE_STEP]) for column in self.packs]
        keys, key_space = fold(sample, lookup.tables, lookup.radices, len(sample[0]))
        _, first = rank(keys, key_space)
        expected = factor / SAMPLE_STEP
        return len(first) / len(keys) <= -math.expm1(-expected) / expected

    def aggregate(self, levels: Levels) -> PackedTable:
        """The table at a higher node."""
        ranks, first = rank(*self.keys(levels))
        counts = np.zeros(len(first), dtype=np.int64)
        add_counts(ranks, self.counts, counts)
        codes: list[NDArray[np.int32]] = [np.zeros(0, dtype=np.int32)] * len(levels)
        for column, pack in zip(self.packs, self.packing.positions, strict=True):
            packed = column[first]
            for position in reversed(pack):
                packed, code = np.divmod(packed, np.int32(self.packing.sizes[position]))
                codes[position] = self.parents(position, levels[position])[0][code]
        return PackedTable.of(self.hierarchies, levels, codes, counts)

    def chunked(self, join: Levels) -> PackedTable:
        """The same cells in chunks, one for each class of the join, those of the fewest records first.

        A node below the join suppresses most in these, so that counting soon ends where it suppresses too much.
        """
        classes, first = rank(*self.keys(join))
        records = np.zeros(len(first), dtype=np.int64)
        add_counts(classes, self.counts, records)
        cells = np.bincount(classes, minlength=len(first))
        by_records = np.argsort(records, kind="stable")
        chunks = np.concatenate(([0], np.cumsum(cells[by_records]))).astype(np.int64)
        begins = np.empty(len(first), dtype=np.int64)
        begins[by_records] = chunks[:-1]
        order = np.empty(len(self), dtype=np.int64)
        sort_by_class(classes, begins, order)
        packs = np.empty_like(self.packs)
        for number, column in enumerate(self.packs):
            np.take(column, order, out=packs[number])
        table = PackedTable(self.hierarchies, self.levels, self.packing, packs, self.counts[order])
        table.join = join
        table.chunks = chunks
        table.largest_chunk = int(cells.max(initial=0))
        return table

    def weights(self, enough: int) -> NDArray[np.uint8]:
        """The records of each cell in one byte: more than `enough` is enough."""
        if self._weights is None or self._weights[0] != enough:
            self._weights = (enough, np.minimum(self.counts, enough).astype(np.uint8))
        return self._weights[1]
