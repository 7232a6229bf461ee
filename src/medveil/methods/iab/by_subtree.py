"""Generalization by subtree: only the values under one common parent move up to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medveil.codes.rank import fold, rank
from medveil.methods.iab.recoding import Measured, Moves, Nodes, TableRecoding
from medveil.methods.iab.table import Flags, FullTable, distinct
from medveil.methods.problem import label_array

Cut = tuple[bytes, ...]
"""For each attribute of the shield, the level of every leaf."""


class BySubtree(TableRecoding[Cut]):
    """A state is a cut through each hierarchy. A step takes one value of a row and moves everything under its parent,
    at whatever level it is, up to that parent.

    A row is freed of its violation only if one of its own values moves, and then all that lies under the parent moves
    as well: the steps at any one violating row lead to every cut that is worth reaching.
    """

    def __init__(self, table: FullTable) -> None:
        super().__init__(table)
        self._nodes = [Nodes(table.hierarchies[p], table.top[p]) for p in self.shield]
        self._leaves = [np.ascontiguousarray(table.cells.codes[p]) for p in self.shield]
        # Leaves that no row has would only make more cuts of the same table.
        self._present = [np.unique(leaves) for leaves in self._leaves]
        others = [
            table.hierarchies[p].levels[table.bottom[p]].groups[codes]
            for p, codes in enumerate(table.cells.codes)
            if p not in self.shield
        ]
        self._others, self._others_size = distinct([*others, table.rest], len(table.cells))
        self._shields = [
            tuple(self.shield.index(position) for position in requirement.shield) for requirement in table.requirements
        ]

    def _uniform(self, levels: Sequence[int]) -> Cut:
        cut = []
        for position, nodes in zip(self.shield, self._nodes, strict=True):
            leaves = np.arange(nodes.ids.shape[1], dtype=np.int32)
            cut.append(nodes.settled(np.full(len(leaves), levels[position], dtype=np.int8), leaves).tobytes())
        return tuple(cut)

    def root(self) -> Cut:
        return self._uniform(self.table.bottom)

    def summit(self) -> Cut:
        return self._uniform(self.table.top)

    def measure(self, state: Cut) -> Measured:
        lookups = self._lookups(state)
        columns = [*self._leaves, self._others]
        sizes = [*(len(nodes.labels) for nodes in self._nodes), self._others_size]
        every = [*lookups, np.arange(self._others_size, dtype=np.int32)]
        _, first = rank(*fold(columns, every, sizes, len(self.table.cells)))
        flags = self._violating(lookups)
        violating = np.zeros(len(self.table.cells), dtype=np.bool_)
        for flag in flags:
            violating |= flag
        return Measured(
            len(first),
            int(np.count_nonzero(violating[first])),
            tuple(index for index, flag in enumerate(flags) if flag.any()),
        )

    def _lookups(self, state: Cut) -> list[NDArray[np.int32]]:
        """For each attribute of the shield, the label of each leaf."""
        found = []
        for nodes, levels in zip(self._nodes, state, strict=True):
            at = np.frombuffer(levels, dtype=np.int8)
            found.append(np.ascontiguousarray(nodes.ids[at, np.arange(len(at))]))
        return found

    def _violating(self, lookups: Sequence[NDArray[np.int32]]) -> list[Flags]:
        """For each requirement, the rows that violate it."""
        cells = self.table.cells
        found = []
        for requirement, shield in zip(self.table.requirements, self._shields, strict=True):
            classes, begins = rank(
                *fold(
                    [self._leaves[i] for i in shield],
                    [lookups[i] for i in shield],
                    [len(self._nodes[i].labels) for i in shield],
                    len(cells),
                )
            )
            found.append(self.table.fails(requirement, classes, len(begins), cells.counts)[classes])
        return found

    def steps(self, state: Cut, measured: Measured, moves: Moves) -> Iterator[tuple[int, Cut]]:  # noqa: ARG002
        flags = [] if moves is Moves.EVERY else self._violating(self._lookups(state))
        if moves is Moves.EVERY:
            moving = dict(enumerate(self._present))
        elif moves is Moves.VIOLATING:
            moving = {index: self._moving(index, flags) for index in range(len(self.shield))}
        else:
            moving = self._narrowest(state, flags)
        for index, leaves in sorted(moving.items()):
            position = self.shield[index]
            for moved in self._raised(index, np.frombuffer(state[index], dtype=np.int8), leaves):
                yield position, (*state[:index], moved, *state[index + 1 :])

    def _narrowest(self, state: Cut, flags: Sequence[Flags]) -> dict[int, NDArray[np.int32]]:
        """One violating row with the fewest values that can still move, and the leaves of those of its values that
        its requirement is about; of several rows the first by its values.
        """
        best: tuple[int, tuple[int, ...], int] | None = None
        for requirement, (flag, shield) in enumerate(zip(flags, self._shields, strict=True)):
            rows = np.flatnonzero(flag)
            if not len(rows):
                continue
            free = np.zeros(len(rows), dtype=np.int64)
            for index in shield:
                at = np.frombuffer(state[index], dtype=np.int8)[self._leaves[index][rows]]
                free += at < self._nodes[index].top
            rows = rows[free == free.min()]
            leaves = np.stack([self._leaves[index][rows] for index in shield])
            first = leaves[:, np.lexsort(leaves[::-1])[0]]
            found = (int(free.min()), tuple(int(leaf) for leaf in first), requirement)
            best = found if best is None else min(best, found)
        if best is None:
            return {}
        _, leaves_of_row, requirement = best
        return {
            index: np.array([leaf], dtype=np.int32)
            for index, leaf in zip(self._shields[requirement], leaves_of_row, strict=True)
        }

    def _moving(self, index: int, flags: Sequence[Flags]) -> NDArray[np.int32]:
        """The leaves of rows that violate a requirement which this attribute is in."""
        violating = np.zeros(len(self.table.cells), dtype=np.bool_)
        for flag, shield in zip(flags, self._shields, strict=True):
            if index in shield:
                violating |= flag
        return np.asarray(np.unique(self._leaves[index][violating]), dtype=np.int32)

    def _raised(self, index: int, levels: NDArray[np.int8], leaves: NDArray[np.int32]) -> Iterator[bytes]:
        """The cuts in which the parent of one of these leaves' labels takes in everything under it."""
        nodes = self._nodes[index]
        every = np.arange(len(levels), dtype=np.int32)
        groups = self.table.hierarchies[self.shield[index]].levels
        seen: set[tuple[int, int]] = set()
        for leaf in leaves:
            above = int(levels[leaf]) + 1
            if above > nodes.top or (above, int(groups[above].groups[leaf])) in seen:
                continue
            seen.add((above, int(groups[above].groups[leaf])))
            under = groups[above].groups == groups[above].groups[leaf]
            raised = np.where(under, np.maximum(levels, np.int8(above)), levels).astype(np.int8)
            yield nodes.settled(raised, every).tobytes()

    def labels(self, state: Cut, codes: NDArray[np.int32]) -> list[pa.Array]:
        lookups = dict(zip(self.shield, self._lookups(state), strict=True))
        found = []
        for position, leaves in enumerate(codes):
            if position in lookups:
                found.append(label_array(self._nodes[self.shield.index(position)].labels, lookups[position][leaves]))
            else:
                level = self.table.hierarchies[position].levels[self.table.bottom[position]]
                found.append(label_array(level.labels, level.groups[leaves]))
        return found
