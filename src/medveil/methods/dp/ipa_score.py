"""How much every node of the lattice would lose: integers that one record changes by at most one unit.

The loss of a node is the sum over its cells of what the cell's c records are expected to lose there,

    h(c) = min(c, max(c * L + b, 2T - c))   in units of one record,

    L: the share of a record that generalization to the cell's class costs, the weighted mean over dimensions of the
       normalized certainty penalty NCP = |group| / |domain| (0 for a leaf), between 0 and 1
    T: the threshold under which cells are suppressed at this node
    b: the noise that a published cell bears, about its scale

A suppressed cell (c < T) loses all its records, h(c) = c. A published one loses c * L + b; between the two h falls with
slope -1. As the minimum and maximum of functions whose slopes lie between -1 and 1 it changes by at most one when c
does, and h(0) = 0, so cells without records need not be visited. One record lies in one cell of each node, so it
changes the loss of every node by at most one: this is the sensitivity that step 1 of docs/proofs/ipa.md rests on.

Lee and Chung 2020, Differentially private release of medical microdata; Xu and others 2006, Utility-based
anonymization using local recoding (NCP).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numba import njit
from numpy.typing import NDArray

from medveil.hierarchy.hierarchy import Hierarchy
from medveil.lattice.space import Levels
from medveil.loss.generalization import certainty_penalty
from medveil.methods.dp.grid import Grid, Table

UNIT = 1 << 10
"""A record, in the units in which losses are counted."""


def penalties(hierarchy: Hierarchy, level: int) -> NDArray[np.float64]:
    """The NCP of each group of a level: the share of the domain that it covers, 0 for a single leaf."""
    return certainty_penalty(hierarchy.levels[level].covered, hierarchy.size)


def unit_penalties(hierarchies: Sequence[Hierarchy], weights: Sequence[float]) -> list[list[NDArray[np.int64]]]:
    """For each dimension and level, each group's weighted penalty in units, rounded down: all of one record's add up
    to at most one unit.
    """
    total = sum(Fraction(weight) for weight in weights)
    shares = [Fraction(weight) / total for weight in weights]
    return [
        [
            np.array([int(share * Fraction(penalty) * UNIT) for penalty in penalties(hierarchy, level).tolist()])
            for level in range(hierarchy.height + 1)
        ]
        for hierarchy, share in zip(hierarchies, shares, strict=True)
    ]


def node_losses(
    grid: Grid,
    table: Table,
    weights: Sequence[float],
    thresholds: Callable[[Levels], int],
    noise: int,
    step: Callable[[float], None] = lambda _: None,
) -> NDArray[np.int64]:
    """The loss of every node in units, by ascending id, from one walk over the cells."""
    lookups = unit_penalties(grid.hierarchies, weights)
    losses = np.zeros(grid.space.size, dtype=np.int64)
    for number, here in enumerate(grid.every_table(table)):
        step(number / grid.space.size)
        chosen = [lookup[level] for lookup, level in zip(lookups, here.levels, strict=True)]
        starts = np.cumsum([0, *map(len, chosen)])[:-1].astype(np.int64)
        losses[grid.space.id_of(here.levels)] = _loss(
            here.codes, here.counts, np.concatenate(chosen), starts, thresholds(here.levels), noise, UNIT
        )
    return losses


@njit(cache=True, nogil=True)
def _loss(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    penalty: NDArray[np.int64],
    starts: NDArray[np.int64],
    threshold: int,
    noise: int,
    unit: int,
) -> int:
    dimensions, cells = codes.shape
    total = 0
    for i in range(cells):
        count = counts[i]
        general = 0
        for j in range(dimensions):
            general += penalty[starts[j] + codes[j, i]]
        published = max(count * general + noise * unit, (2 * threshold - count) * unit)
        total += min(count * unit, published)
    return total
