"""The groups of every code at every level of all quasi-identifiers in one array, for compiled loops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from medveil.hierarchy.hierarchy import Hierarchy
from medveil.lattice import kernels
from medveil.lattice.space import Levels
from medveil.lattice.tables import Packing


class GroupTable:
    """`groups[begins[a, level] + code]` is the group of a code; attribute a has `widths[a, level]` of them there."""

    def __init__(self, hierarchies: Sequence[Hierarchy]) -> None:
        shape = (len(hierarchies), max(len(hierarchy.levels) for hierarchy in hierarchies))
        self.begins = np.zeros(shape, dtype=np.int64)
        self.widths = np.ones(shape, dtype=np.int64)
        found: list[NDArray[np.int32]] = []
        begin = 0
        for a, hierarchy in enumerate(hierarchies):
            for number, level in enumerate(hierarchy.levels):
                self.begins[a, number], self.widths[a, number] = begin, len(level.labels)
                found.append(level.groups)
                begin += len(level.groups)
        self.groups = np.concatenate(found)
        self._begins: list[list[int]] = self.begins.tolist()
        self._widths: list[list[int]] = self.widths.tolist()

    def look_up(self, levels: Levels, packing: Packing, most: int, lookup: NDArray[np.int32]) -> int:
        """Fill a node's look-up table over leaf codes that are packed so; the size of the key space, 0 if too large."""
        positions, packed, sizes = packing.layout
        at = np.array(levels)
        return kernels.look_up(
            at, self.widths, self.groups, self.begins, positions, packed, sizes, packing.starts, most, lookup
        )

    def count(
        self, levels: Levels, codes: NDArray[np.int32], first: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], ...]:
        """For each quasi-identifier, these counts by group at the node's level; `first` has a cell for each count."""
        at = np.array([begins[level] for begins, level in zip(self._begins, levels, strict=True)])
        widths = [each[level] for each, level in zip(self._widths, levels, strict=True)]
        found = np.zeros((len(levels), max(widths)), dtype=np.int64)
        kernels.count_groups(codes, first, counts, self.groups, at, found)
        return tuple(row[:width] for row, width in zip(found, widths, strict=True))
