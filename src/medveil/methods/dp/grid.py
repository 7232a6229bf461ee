"""The declared domain as a grid of numbered cells at every node, and the records counted on it.

A cell is a class (a group of each dimension) with an informative value. At a node its number is a mixed-radix key of
the groups and the value, so that "every cell of the domain" is a range of numbers and no list.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from medveil.codes.kernels import add_counts
from medveil.codes.rank import KEY_LIMIT, fold, rank
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.lattice.space import Levels, Space
from medveil.lattice.tables import parents

Codes = NDArray[np.int32]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Table:
    """Records counted by cell at some levels: `codes[j, i]` is the group of cell i in dimension j, `values[i]` its
    informative value, `counts[i]` its records. Every cell is there once.
    """

    levels: Levels
    codes: Codes
    values: Codes
    counts: Integers

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True)
class Grid:
    """The declared domain: the space of levels over the dimensions' hierarchies, and how many informative values."""

    space: Space
    values: int

    @cached_property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        return self.space.hierarchies

    def groups(self, levels: Sequence[int]) -> tuple[int, ...]:
        """How many groups each dimension has at these levels."""
        return tuple(len(h.levels[level].labels) for h, level in zip(self.hierarchies, levels, strict=True))

    def cells(self, levels: Sequence[int]) -> int:
        """How many cells the whole domain has at these levels."""
        return math.prod(self.groups(levels)) * self.values

    def base(self, codes: Codes, values: Codes, counts: Integers) -> Table:
        """The table at the lowest levels, from leaf codes; cells that are the same there become one."""
        groups = [h.levels[level].groups for h, level in zip(self.hierarchies, self.space.bottom, strict=True)]
        lowest = np.stack([group[column] for group, column in zip(groups, codes, strict=True)]).astype(np.int32)
        return self._merged(self.space.bottom, lowest, values.astype(np.int32), counts)

    def rolled_up(self, table: Table, position: int, level: int) -> Table:
        """The table with one dimension at a higher level."""
        codes = table.codes.copy()
        codes[position] = parents(self.hierarchies[position], table.levels[position], level)[codes[position]]
        levels = (*table.levels[:position], level, *table.levels[position + 1 :])
        return self._merged(levels, codes, table.values, table.counts)

    def at(self, table: Table, levels: Levels) -> Table:
        """The table at higher levels."""
        for position, level in enumerate(levels):
            if level > table.levels[position]:
                table = self.rolled_up(table, position, level)
        return table

    def every_table(self, table: Table) -> Iterator[Table]:
        """The table at every node, in one walk: each is rolled up from a neighbour, and at most one a dimension lives.

        Dimensions of few values are rolled up last: a table is then made from one that is not much larger.
        """
        sizes = self.groups(self.space.bottom)
        yield from self._walk(table, sorted(range(len(self.space)), key=lambda position: -sizes[position]))

    def _walk(self, table: Table, positions: Sequence[int]) -> Iterator[Table]:
        if not positions:
            yield table
            return
        position, *others = positions
        for level in range(self.space.bottom[position], self.space.top[position] + 1):
            if level > table.levels[position]:
                table = self.rolled_up(table, position, level)
            yield from self._walk(table, others)

    def keys(self, table: Table) -> Integers:
        """The number of each cell; for a domain of at most 2^62 cells."""
        keys = np.zeros(len(table), dtype=np.int64)
        for codes, groups in zip(table.codes, self.groups(table.levels), strict=True):
            keys *= groups
            keys += codes
        keys *= self.values
        keys += table.values
        return keys

    def decoded(self, levels: Levels, keys: Integers) -> tuple[Codes, Codes]:
        """The groups of numbered cells, one row a dimension, and their informative values."""
        rest, values = np.divmod(keys, self.values)
        codes = np.empty((len(levels), len(keys)), dtype=np.int32)
        for position, groups in reversed(list(enumerate(self.groups(levels)))):
            rest, codes[position] = np.divmod(rest, groups)
        return codes, values.astype(np.int32)

    def _merged(self, levels: Levels, codes: Codes, values: Codes, counts: Integers) -> Table:
        table = Table(levels, codes, values, counts)
        if self.cells(levels) <= KEY_LIMIT:
            keys, key_space = self.keys(table), self.cells(levels)
        else:
            radices = (*self.groups(levels), self.values)
            same = [np.arange(radix, dtype=np.int32) for radix in radices]
            keys, key_space = fold([*codes, values], same, radices, len(counts))
        ranks, first = rank(keys, key_space)
        if len(first) == len(counts):
            return table
        sums = np.zeros(len(first), dtype=np.int64)
        add_counts(ranks, counts, sums)
        return Table(levels, codes.take(first, axis=1), values.take(first), sums)
