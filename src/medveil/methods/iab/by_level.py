"""Generalization of whole columns: every value of an attribute moves up one level."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.codes.rank import rank
from medveil.hierarchy.hierarchy import ROOT, Hierarchy, Level
from medveil.lattice.space import Levels
from medveil.lattice.tables import PackedTable
from medveil.methods.iab.recoding import Measured, Moves, TableRecoding
from medveil.methods.iab.table import Flags, FullTable
from medveil.methods.problem import label_array


class ByLevel(TableRecoding[Levels]):
    """A state is the level of each quasi-identifier."""

    def __init__(self, table: FullTable) -> None:
        super().__init__(table)
        hierarchies = (*table.hierarchies, _flat(table.rest_size))
        self._heights = tuple(hierarchy.height for hierarchy in table.hierarchies)
        self._base = PackedTable.of(
            hierarchies, (0,) * len(hierarchies), [*table.cells.codes, table.rest], table.cells.counts
        )
        self._focus = self._base

    def root(self) -> Levels:
        return self.table.bottom

    def summit(self) -> Levels:
        return tuple(
            high if position in self.shield else low
            for position, (low, high) in enumerate(zip(self.table.bottom, self.table.top, strict=True))
        )

    def focus(self, levels: Levels) -> None:
        """Merge the rows that are equal at these levels, for the tables above."""
        if self.table.adds_up:
            base = self._focus if self._focus.serves((*levels, 0)) else self._base
            self._focus = base.aggregate((*levels, 0))

    def rows(self, levels: Levels) -> int:
        table = self._serving(levels)
        return len(rank(*table.keys((*levels, 0)))[1])

    def measure(self, state: Levels) -> Measured:
        table = self._serving(state)
        ranks, first = rank(*table.keys((*state, 0)))
        violating: Flags = np.zeros(len(first), dtype=np.bool_)
        violated = []
        known: dict[tuple[int, ...], tuple[NDArray[np.int32], int]] = {}
        if self.table.rest_size == 1:
            known[tuple(range(len(state)))] = (ranks, len(first))
        for index, requirement in enumerate(self.table.requirements):
            if requirement.shield not in known:
                # What is not of the shield goes to the root, where it tells nothing apart.
                levels = [s if p in requirement.shield else self._heights[p] for p, s in enumerate(state)]
                classes, begins = rank(*table.keys((*levels, 1)))
                known[requirement.shield] = (classes, len(begins))
            classes, number = known[requirement.shield]
            fails = self.table.fails(requirement, classes, number, table.counts)
            if fails.any():
                violated.append(index)
                violating |= fails[classes[first]]
        return Measured(len(first), int(np.count_nonzero(violating)), tuple(violated))

    def _serving(self, levels: Levels) -> PackedTable:
        return self._focus if self._focus.serves((*levels, 0)) else self._base

    def steps(self, state: Levels, measured: Measured, moves: Moves) -> Iterator[tuple[int, Levels]]:
        self.focus(state)
        for position in self.attributes(measured.violated, moves):
            if state[position] < self.table.top[position]:
                yield position, (*state[:position], state[position] + 1, *state[position + 1 :])

    def labels(self, state: Levels, codes: NDArray[np.int32]) -> list[pa.Array]:
        chosen = [h.levels[level] for h, level in zip(self.table.hierarchies, state, strict=True)]
        return [label_array(level.labels, level.groups[leaves]) for level, leaves in zip(chosen, codes, strict=True)]

    def levels(self, state: Levels) -> tuple[int, ...] | None:
        return state


def _flat(size: int) -> Hierarchy:
    """What the other columns hold, as one more attribute that is never generalized but where it does not count."""
    return Hierarchy(
        (
            Level(np.arange(size, dtype=np.int32), ("",) * size, np.ones(size)),
            Level(np.zeros(size, dtype=np.int32), (ROOT,), np.array([float(size)])),
        ),
        float(size),
    )
