"""The full-domain generalization space: a node is one level for each quasi-identifier."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medveil.errors import PolicyError
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.lattice import kernels

Levels = tuple[int, ...]
"""A node: the level of each quasi-identifier, in the order of the cells' columns."""


@dataclass(frozen=True)
class Space:
    """All nodes between `bottom` and `top`, both included.

    A node's id is its mixed-radix number, the first quasi-identifier most significant, so that ids are in the
    lexicographic order of levels. `size` is exact for any number of nodes; ids as arrays need `size` below 2^63.
    """

    hierarchies: tuple[Hierarchy, ...]
    bottom: Levels
    top: Levels

    @classmethod
    def of(
        cls,
        hierarchies: Sequence[Hierarchy],
        lowest: Sequence[int | None] | None = None,
        highest: Sequence[int | None] | None = None,
        names: Sequence[str] | None = None,
    ) -> Space:
        """The space over these hierarchies, each limited to levels from `lowest` to `highest` (None: no limit)."""
        count = len(hierarchies)
        bottom, top = [], []
        for position, hierarchy in enumerate(hierarchies):
            low = (lowest[position] if lowest else None) or 0
            limit = highest[position] if highest else None
            high = hierarchy.height if limit is None else limit
            if not 0 <= low <= high <= hierarchy.height:
                name = names[position] if names else f"number {position + 1}"
                raise PolicyError(
                    f"Quasi-identifier '{name}' has levels 0 to {hierarchy.height}, so it cannot be held between "
                    f"level {low} and level {high}.",
                    "Change 'min_level' or 'max_level'.",
                )
            bottom.append(low)
            top.append(high)
        if count == 0:
            raise PolicyError("There is no quasi-identifier to generalize.", "Give at least one column 'role: quasi'.")
        return cls(tuple(hierarchies), tuple(bottom), tuple(top))

    def __len__(self) -> int:
        return len(self.bottom)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many levels each quasi-identifier may take."""
        return tuple(high - low + 1 for low, high in zip(self.bottom, self.top, strict=True))

    @cached_property
    def size(self) -> int:
        """The number of nodes."""
        return math.prod(self.shape)

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """What one level more adds to the id, for each quasi-identifier."""
        return tuple(itertools.accumulate(self.shape[:0:-1], lambda product, extent: product * extent, initial=1))[::-1]

    def id_of(self, levels: Sequence[int]) -> int:
        """The id of one node, exact for a space of any size."""
        return sum((level - low) * stride for level, low, stride in zip(levels, self.bottom, self.strides, strict=True))

    def node(self, number: int) -> Levels:
        """The levels of the node with this id."""
        return tuple(
            low + number // stride % extent
            for low, stride, extent in zip(self.bottom, self.strides, self.shape, strict=True)
        )

    def ids(self, nodes: ArrayLike) -> NDArray[np.int64]:
        """The ids of many nodes, one a column."""
        offsets = np.asarray(nodes, dtype=np.int64).T - np.asarray(self.bottom, dtype=np.int64)
        return np.asarray(offsets @ np.asarray(self.strides, dtype=np.int64), dtype=np.int64)

    def nodes(self, ids: ArrayLike) -> NDArray[np.int8]:
        """The levels of many nodes, one a column."""
        columns = np.unravel_index(np.asarray(ids, dtype=np.int64), self.shape)
        return np.stack([c.astype(np.int8) + np.int8(low) for c, low in zip(columns, self.bottom, strict=True)])

    def every_node(self) -> NDArray[np.int8]:
        """The levels of all nodes, one a column, by ascending id; only for a space that fits in memory."""
        grid = np.empty((len(self), *self.shape), dtype=np.int8)
        for position, (low, extent) in enumerate(zip(self.bottom, self.shape, strict=True)):
            axis = [1] * len(self)
            axis[position] = extent
            grid[position] = np.arange(low, low + extent, dtype=np.int8).reshape(axis)
        return grid.reshape(len(self), self.size)

    def contains(self, levels: Sequence[int]) -> bool:
        return len(levels) == len(self) and all(
            low <= level <= high for low, level, high in zip(self.bottom, levels, self.top, strict=True)
        )

    def above(self, levels: Sequence[int]) -> list[Levels]:
        """The direct neighbours one level more general."""
        return [
            (*levels[:i], level + 1, *levels[i + 1 :])
            for i, (level, high) in enumerate(zip(levels, self.top, strict=True))
            if level < high
        ]

    def below(self, levels: Sequence[int]) -> list[Levels]:
        """The direct neighbours one level more specific."""
        return [
            (*levels[:i], level - 1, *levels[i + 1 :])
            for i, (level, low) in enumerate(zip(levels, self.bottom, strict=True))
            if level > low
        ]


def at_most(nodes: NDArray[np.int8], levels: Sequence[int]) -> NDArray[np.bool_]:
    """Which of the nodes (one a column) are the given node or more specific in every quasi-identifier."""
    below = np.empty(nodes.shape[1], dtype=np.bool_)
    kernels.at_most(np.ascontiguousarray(nodes), np.array(levels, dtype=np.int8), below)
    return below


def meet(nodes: NDArray[np.int8]) -> Levels:
    """The componentwise minimum: the most general node that lies below all of these."""
    return tuple(int(level) for level in nodes.min(axis=1))


def join(nodes: NDArray[np.int8]) -> Levels:
    """The componentwise maximum: the most specific node that lies above all of these."""
    return tuple(int(level) for level in nodes.max(axis=1))
