"""How much every node of the lattice would lose, by stratum: integers that one record changes by at most one unit.

The loss of a node for a stratum is the sum over its cells of what the cell's c records are expected to lose there,

    h(c) = min(c, max(c * L + b, 2T - c))   in units of one record,

    L: the share of a record that generalization to the cell's class costs, the weighted mean over dimensions of what
       its groups cost, between 0 and 1: the normalized certainty penalty NCP = |group| / |domain| (0 for a leaf), or
       how far records of the group lie apart by the noisy marginals, whichever is less
    T: the threshold under which cells of the stratum are suppressed at this node
    b: the noise that a published cell bears, about its scale

A suppressed cell (c < T) loses all its records, h(c) = c. A published one loses c * L + b; between the two h falls with
slope -1. As the minimum and maximum of functions whose slopes lie between -1 and 1 it changes by at most one when c
does, and h(0) = 0, so cells without records need not be visited. One record lies in one cell of each node, in one
stratum: it changes the loss of every node by at most one there and not at all elsewhere, which is the sensitivity that
step C of docs/proofs/ipa.md rests on.

Lee and Chung 2020, Differentially private release of medical microdata; Xu and others 2006, Utility-based
anonymization using local recoding (NCP).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from medveil.codes.compiling import outer
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.lattice.space import Levels
from medveil.loss.generalization import certainty_penalty
from medveil.methods.dp.grid import Grid, Table

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]

UNIT = 1 << 10
"""A record, in the units in which losses are counted."""


def penalties(hierarchy: Hierarchy, level: int) -> NDArray[np.float64]:
    """The NCP of each group of a level: the share of the domain that it covers, 0 for a single leaf."""
    return certainty_penalty(hierarchy.levels[level].covered, hierarchy.size)


def even_penalties(hierarchy: Hierarchy) -> list[Numbers]:
    """The NCP of each level's groups."""
    return [penalties(hierarchy, level) for level in range(hierarchy.height + 1)]


def unit_penalties(
    penalties_of: Sequence[Sequence[Numbers]], weights: Sequence[float]
) -> tuple[tuple[Integers, ...], ...]:
    """For each dimension and level, each group's weighted penalty in units, rounded down: all of one record's add up
    to at most one unit.
    """
    total = sum(Fraction(weight) for weight in weights)
    shares = [Fraction(weight) / total for weight in weights]
    return tuple(
        tuple(
            np.array([int(share * Fraction(penalty) * UNIT) for penalty in level.tolist()], dtype=np.int64)
            for level in levels
        )
        for levels, share in zip(penalties_of, shares, strict=True)
    )


@dataclass(frozen=True)
class Scoring:
    """By what nodes are scored; nothing of it may come from the data but through noise that was paid for.

    stratum_of: for each informative value its stratum, -1 where the value was not released.
    penalties: for each dimension, level and group, what a record there loses, in units.
    thresholds: for a node the threshold of each stratum.
    noise: b, in records.
    """

    stratum_of: NDArray[np.int32]
    strata: int
    penalties: tuple[tuple[Integers, ...], ...]
    thresholds: Callable[[Levels], Integers]
    noise: int


def node_losses(
    grid: Grid, table: Table, scorings: Sequence[Scoring], step: Callable[[float], None] = lambda _: None
) -> list[Integers]:
    """For each scoring the loss of every node (by ascending id) for every stratum, in units, from one walk."""
    losses = [np.zeros((grid.space.size, scoring.strata), dtype=np.int64) for scoring in scorings]
    for number, here in enumerate(grid.every_table(table)):
        step(number / grid.space.size)
        node = grid.space.id_of(here.levels)
        for scoring, found in zip(scorings, losses, strict=True):
            chosen = [lookup[level] for lookup, level in zip(scoring.penalties, here.levels, strict=True)]
            starts = np.cumsum([0, *map(len, chosen)])[:-1].astype(np.int64)
            thresholds = scoring.thresholds(here.levels)
            _add_losses(
                here.codes,
                here.values,
                here.counts,
                scoring.stratum_of,
                np.concatenate(chosen),
                starts,
                thresholds,
                scoring.noise,
                UNIT,
                found[node],
            )
    return losses


@outer
def _add_losses(
    codes: NDArray[np.int32],
    values: NDArray[np.int32],
    counts: Integers,
    stratum_of: NDArray[np.int32],
    penalty: Integers,
    starts: Integers,
    thresholds: Integers,
    noise: int,
    unit: int,
    losses: Integers,
) -> None:
    dimensions, cells = codes.shape
    for i in range(cells):
        stratum = stratum_of[values[i]]
        if stratum < 0:
            continue
        count = counts[i]
        general = 0
        for j in range(dimensions):
            general += penalty[starts[j] + codes[j, i]]
        published = max(count * general + noise * unit, (2 * thresholds[stratum] - count) * unit)
        losses[stratum] += min(count * unit, published)
