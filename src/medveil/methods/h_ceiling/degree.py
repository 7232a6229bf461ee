"""How strongly a record is generalized, and which nodes of the lattice stay under a ceiling.

    D(r) = mean over quasi-identifiers of (U - L) / (U_max - L_max)    for numbers
                                          (|M| - 1) / (|M_max| - 1)    for categories

U, L: the ends of the published interval; |M|: the leaves below the published group; with index max: of the whole
domain. Over whole numbers both are (leaves covered - 1) / (leaves - 1). A node keeps the ceiling h if D(r) <= h for
each of its records; more general nodes have no smaller degrees (Lee, Kim, Kim and Chung 2017, definition 1).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numba import njit
from numpy.typing import NDArray

from medveil.codes.rank import fold, rank
from medveil.lattice.space import Levels, Space

ROUNDING = 1e-9


@njit(cache=True, nogil=True)
def _worst(codes: NDArray[np.int32], losses: NDArray[np.float64], starts: NDArray[np.int64]) -> float:
    """The largest sum over the rows of `codes` of the loss of each code."""
    worst = 0.0
    for i in range(codes.shape[1]):
        total = 0.0
        for j in range(codes.shape[0]):
            total += losses[starts[j] + codes[j, i]]
        worst = max(worst, total)
    return worst


class Degrees:
    """The degree of nodes: of their worst record."""

    def __init__(self, space: Space, codes: NDArray[np.int32]) -> None:
        self.space = space
        sizes = [len(hierarchy.levels[0].groups) for hierarchy in space.hierarchies]
        keys, key_space = fold(list(codes), [np.arange(size, dtype=np.int32) for size in sizes], sizes, codes.shape[1])
        self._codes = np.ascontiguousarray(codes[:, rank(keys, key_space)[1]], dtype=np.int32)
        self._starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)

    def of(self, levels: Levels) -> float:
        """The degree of the worst record at a node."""
        losses = np.concatenate([h.losses[level] for h, level in zip(self.space.hierarchies, levels, strict=True)])
        return _worst(self._codes, losses, self._starts) / len(self.space)

    @cached_property
    def _most(self) -> list[NDArray[np.float64]]:
        """For each quasi-identifier and level, the largest loss of a value that occurs."""
        present = [np.unique(codes) for codes in self._codes]
        return [
            np.array([float(loss[leaves].max()) for loss in hierarchy.losses])
            for hierarchy, leaves in zip(self.space.hierarchies, present, strict=True)
        ]

    def within(self, nodes: NDArray[np.int8], h: float) -> NDArray[np.bool_]:
        """Which nodes (one a column, with everything below them) keep the ceiling.

        A node whose columns' worst values could meet in one record keeps it for sure; the others are looked at from
        the most specific upwards, and one that does not keep it rules out everything above.
        """
        bound = np.zeros(nodes.shape[1])
        for most, levels in zip(self._most, nodes, strict=True):
            bound += most[levels]
        sure = bound / len(self.space) <= h + ROUNDING
        undecided = ~sure
        kept = sure.copy()
        for number in np.argsort(nodes.sum(axis=0, dtype=np.int64), kind="stable"):
            if not undecided[number]:
                continue
            levels = tuple(int(level) for level in nodes[:, number])
            if self.of(levels) <= h + ROUNDING:
                kept[number] = True
                undecided[number] = False
            else:
                undecided &= ~np.all(nodes >= nodes[:, number : number + 1], axis=0)
        return kept
