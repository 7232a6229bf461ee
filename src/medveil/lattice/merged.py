"""Cells in which those that no node to be checked can tell apart are one, so that checks read fewer of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from medveil.cells import Cells
from medveil.codes.kernels import add_counts
from medveil.codes.rank import rank, rank_combinations
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.lattice.space import Levels
from medveil.lattice.tables import PackedTable


@dataclass(frozen=True)
class Combinations:
    """The distinct combinations of quasi-identifiers, with codes and records, and which one each cell has.

    `values`: the sensitive values of the cells, by attribute; `counts`: their records.
    """

    table: PackedTable
    codes: NDArray[np.int32]
    of_cell: NDArray[np.int32]
    values: dict[str, NDArray[np.int32]]
    counts: NDArray[np.int64]


@dataclass(frozen=True)
class MergedCells:
    """Cells of which each stands for all that agree with it at `levels` and in their sensitive values.

    Each keeps the codes of the first of them, so that hierarchies apply as before.
    """

    cells: Cells
    hierarchies: tuple[Hierarchy, ...]
    levels: Levels

    def __len__(self) -> int:
        return len(self.cells)

    def serves(self, levels: Sequence[int]) -> bool:
        """Whether a node can be checked on these cells."""
        return all(low <= level for low, level in zip(self.levels, levels, strict=True))

    def classes_at(
        self, levels: Sequence[int], shield: Collection[int] | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The class of each cell at a node, over all quasi-identifiers or a shield's only, and each class's first cell.

        What is outside of the shield is generalized to its root, where nothing can be told apart.
        """
        if shield is not None:
            levels = [
                level if position in shield else hierarchy.height
                for position, (level, hierarchy) in enumerate(zip(levels, self.hierarchies, strict=True))
            ]
        return rank(*self._table.keys(levels))

    @cached_property
    def _table(self) -> PackedTable:
        leaves = (0,) * len(self.hierarchies)
        codes = [np.ascontiguousarray(column, dtype=np.int32) for column in self.cells.codes]
        return PackedTable.of(self.hierarchies, leaves, codes, self.cells.counts)

    @cached_property
    def combinations(self) -> Combinations:
        """The same cells by what they have in their quasi-identifiers."""
        cells = self.cells
        of_cell, first = self.classes_at(self.levels)
        codes = np.ascontiguousarray(cells.codes[:, first], dtype=np.int32)
        counts = np.ascontiguousarray(cells.counts, dtype=np.int64)
        records = _summed(of_cell, counts, len(first))
        return Combinations(
            PackedTable.of(self.hierarchies, (0,) * len(self.hierarchies), list(codes), records),
            codes,
            of_cell,
            {name: np.ascontiguousarray(values, dtype=np.int32) for name, values in cells.sensitive.items()},
            counts,
        )

    def merge(self, levels: Levels) -> MergedCells:
        """The cells of a higher node."""
        cells = self.cells
        classes, _ = self.classes_at(levels)
        ranks, first = rank_combinations([classes, *cells.sensitive.values()], None, len(cells))
        merged = Cells(
            cells.quasi,
            np.ascontiguousarray(cells.codes[:, first]),
            _summed(ranks, cells.counts, len(first)),
            {name: codes[first] for name, codes in cells.sensitive.items()},
            cells.domains,
            None,
            None if cells.population is None else _summed(ranks, cells.population, len(first)),
        )
        return MergedCells(merged, self.hierarchies, levels)


def _summed(ranks: NDArray[np.int32], counts: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    sums = np.zeros(number, dtype=np.int64)
    add_counts(ranks, counts, sums)
    return sums
