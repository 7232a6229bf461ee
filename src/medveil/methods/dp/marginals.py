"""Noisy one-way marginals of the dimensions, and what they say of a group: how far its records lie apart.

Step M of docs/proofs/ipa.md. A record is in one group of each dimension, so that the counts of all d dimensions change
by at most d times as much as the records do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from medveil.hierarchy.hierarchy import Hierarchy
from medveil.lattice.tables import parents
from medveil.methods.dp.grid import Grid, Table
from medveil.table.domain import Domain
from medveil.table.schema import Kind

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]

MOST_GROUPS = 100_000
"""A dimension of more leaves than this is counted at its lowest level of fewer groups."""


def line_of(domain: Domain) -> Numbers | None:
    """The numbers behind a domain's values, None where they have no order or some value is not a number."""
    if domain.kind not in {Kind.NUMBER, Kind.DATE} or np.isnan(domain.numbers).any():
        return None
    return domain.numbers


def marginal_levels(grid: Grid) -> tuple[int, ...]:
    """The level at which each dimension is counted: the lowest allowed one that has not too many groups."""
    return tuple(
        next(level for level in range(lowest, h.height + 1) if len(h.levels[level].labels) <= MOST_GROUPS)
        for h, lowest in zip(grid.hierarchies, grid.space.bottom, strict=True)
    )


def counted(grid: Grid, table: Table) -> list[Integers]:
    """How many records are in each group of each dimension, exactly."""
    found = []
    for position, level in enumerate(marginal_levels(grid)):
        hierarchy = grid.hierarchies[position]
        codes = parents(hierarchy, table.levels[position], level)[table.codes[position]]
        counts = np.bincount(codes, table.counts, minlength=len(hierarchy.levels[level].labels))
        found.append(counts.astype(np.int64))
    return found


def leaf_weights(hierarchy: Hierarchy, level: int, counts: Integers) -> Numbers:
    """The counts of a level's groups, spread evenly over their leaves."""
    groups = hierarchy.levels[level].groups
    sizes = np.bincount(groups, minlength=len(counts))
    return np.asarray((counts / np.maximum(sizes, 1))[groups], dtype=np.float64)


def dispersions(hierarchy: Hierarchy, weights: Numbers, numbers: Numbers | None) -> list[Numbers]:
    """For each level and group, how far two of its records lie apart, as a share of two records of the whole domain.

        D(g) = min(1, E[d(x, y) | x, y in g] / E[d(x, y)])

    x, y: leaves, drawn independently in proportion to their `weights`. d(x, y): |x - y| where leaves are `numbers`,
    otherwise 1 for two different leaves. Rao 1982, Diversity and dissimilarity coefficients.
    """
    everything = np.zeros(len(weights), dtype=np.int64)
    whole = _apart(everything, 1, weights, numbers)[0]
    return [
        np.minimum(_apart(level.groups, len(level.labels), weights, numbers) / whole, 1.0)
        if whole > 0
        else (np.asarray(level.covered) > 1).astype(np.float64)
        for level in hierarchy.levels
    ]


def _apart(groups: NDArray[np.int32 | np.int64], number: int, weights: Numbers, numbers: Numbers | None) -> Numbers:
    """E[d(x, y)] in each of so many groups; evenly weighted where a group has no weight."""
    total = np.bincount(groups, weights, minlength=number)
    sizes = np.bincount(groups, minlength=number)
    even = total[groups] <= 0
    shares = np.where(even, 1.0 / np.maximum(sizes[groups], 1), weights / np.where(even, 1.0, total[groups]))
    if numbers is None:
        return np.asarray(np.maximum(1.0 - np.bincount(groups, shares**2, minlength=number), 0.0))
    # For numbers in order, E|x - y| = 2 * the sum over gaps of P[below] P[above] times the gap.
    order = np.lexsort((numbers, groups))
    owner, line, share = groups[order], numbers[order], shares[order]
    starts = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]]))
    running = np.cumsum(share)
    before = np.repeat(running[starts] - share[starts], np.diff(np.append(starts, len(owner))))
    below = np.clip(running - before, 0.0, 1.0)
    gaps = np.where(np.append(owner[1:] == owner[:-1], False), np.append(np.diff(line), 0.0), 0.0)
    apart: Numbers = np.bincount(owner, 2 * below * (1 - below) * gaps, minlength=number).astype(np.float64)
    return apart


def group_penalties(
    hierarchy: Hierarchy, even: Sequence[Numbers], weights: Numbers, numbers: Numbers | None
) -> list[Numbers]:
    """What a record in each group loses: the share of the domain that the group covers, where labels are spread evenly,
    or how far its records lie apart by the marginals, whichever is less.
    """
    by_marginals = dispersions(hierarchy, weights, numbers)
    return [np.minimum(first, second) for first, second in zip(even, by_marginals, strict=True)]
