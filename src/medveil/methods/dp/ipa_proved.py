"""IPA as proved: the same aim as published, by a mechanism that is differentially private. Proof: docs/proofs/ipa.md.

Dimensions are generalized at a node that is chosen privately, informative values stay as they are, cells under a
threshold are suppressed to `*`, and noise inserts records that nobody can tell from others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from medveil.lattice.space import Levels
from medveil.methods.dp.grid import Grid, Table
from medveil.methods.dp.ipa_score import UNIT, node_losses
from medveil.methods.dp.noisy_cells import noisy_cells
from medveil.privacy.exact_sampling import MOST_PLACES
from medveil.privacy.integer_noise import GeometricNoise, Selection

Integers = NDArray[np.int64]

SHARES = {"node": 0.1, "cells": 0.8, "totals": 0.1}
"""How epsilon is divided where the policy does not say."""


def parts(epsilon: float, shares: Mapping[str, float]) -> dict[str, float]:
    """Epsilon divided by shares, in floats that add up to no more than epsilon.

    >>> parts(2.0, {"node": 0.25, "cells": 0.5, "totals": 0.25})
    {'node': 0.5, 'cells': 1.0, 'totals': 0.5}
    >>> parts(1.0, {"node": 0.1, "cells": 0.9})
    {'node': 0.09999999999999999, 'cells': 0.8999999999999999}
    """
    whole = sum(Fraction(str(share)) for share in shares.values())
    divided = {}
    for name, share in shares.items():
        exact = Fraction(epsilon) * Fraction(str(share)) / whole
        nearest = float(exact)
        divided[name] = nearest if Fraction(nearest) <= exact else math.nextafter(nearest, 0.0)
    return divided


@dataclass(frozen=True)
class Outcome:
    """What the mechanism lets out: the node, the cells that passed with their noisy counts, and the `*` rows.

    values: the informative values that were released, as codes of the table that went in.
    keys, counts: the published cells, numbered on the grid at `levels` over the released values, ascending.
    stars: for each released value, how many rows have `*` in every dimension.
    """

    levels: Levels
    threshold: int
    values: NDArray[np.int32]
    keys: Integers
    counts: Integers
    stars: Integers


@dataclass
class Prepared:
    """A table with its node losses, kept while many outcomes are drawn from it."""

    table: Table
    losses: Integers | None
    at: dict[Levels, Table] = field(default_factory=dict)


@dataclass(frozen=True)
class Mechanism:
    """The four steps. A person adds or removes at most `records` records.

    delta: 0 where the informative values are declared; otherwise they are learned in step 0 at this price.
    false_cells: the threshold of a node is the least one that fewer cells without records are expected to pass.
    """

    grid: Grid
    epsilon: Mapping[str, float]
    records: int = 1
    weights: Sequence[float] = ()
    false_cells: float = 1.0
    delta: float = 0.0

    @cached_property
    def selection(self) -> Selection:
        """Step 1: scores change by at most `records` units."""
        return Selection(self.records * UNIT, self.epsilon["node"])

    @cached_property
    def cell_noise(self) -> GeometricNoise:
        """Step 2: the counts of all cells change by at most `records` in all."""
        return GeometricNoise(self.records, self.epsilon["cells"])

    @cached_property
    def total_noise(self) -> GeometricNoise:
        """Steps 0 and 3: so do the totals of all informative values."""
        return GeometricNoise(self.records, self.epsilon["totals"])

    @cached_property
    def value_threshold(self) -> int:
        """Step 0: what the noisy total of an undeclared informative value must reach.

        Not only delta bounds its chance to pass: also 1 - exp(-epsilon / records), so that a table with the value is
        as likely as one without it to lack it (docs/proofs/ipa.md).
        """
        bound = min(self.delta, -math.expm1(-self.epsilon["totals"] / self.records) / 2)
        return self.total_noise.stable_threshold(self.records, bound)

    def threshold(self, grid: Grid, levels: Levels) -> int:
        return self.cell_noise.threshold(grid.cells(levels), self.false_cells)

    @property
    def noise_rows(self) -> float:
        """About how many rows a table without records is expected to become, at the lowest levels."""
        cells = self.grid.cells(self.grid.space.bottom)
        threshold = self.threshold(self.grid, self.grid.space.bottom)
        false = min(self.false_cells, cells) * (threshold + self.cell_noise.scale)
        return false + math.sqrt(2 * self.grid.values) * self.total_noise.scale

    def prepare(self, table: Table, step: Callable[[float], None] = lambda _: None) -> Prepared:
        """What depends on the table alone. With undeclared values nothing does: step 0 comes before everything."""
        return Prepared(table, None if self.delta else self.losses(self.grid, table, step))

    def losses(self, grid: Grid, table: Table, step: Callable[[float], None] = lambda _: None) -> Integers:
        weights = self.weights or (1.0,) * len(grid.space)
        noise = math.ceil(self.cell_noise.scale)
        return node_losses(grid, table, weights, lambda levels: self.threshold(grid, levels), noise, step)

    def draw(self, prepared: Prepared, step: Callable[[float], None] = lambda _: None) -> Outcome:
        """One outcome; every random number is drawn anew."""
        grid, table, losses, at = self.grid, prepared.table, prepared.losses, prepared.at
        totals = np.bincount(table.values, table.counts, minlength=grid.values).astype(np.int64)
        values, noisy_totals = self.noisy_totals(totals)
        if losses is None:
            grid, table, at = Grid(grid.space, len(values)), _restricted(table, values, grid.values), {}
            losses = self.losses(grid, table, step)
        levels = self.choose(grid, losses)
        if levels not in at:
            at[levels] = grid.at(table, levels)
        keys, counts = self.publish(grid, at[levels])
        published = np.bincount(keys % max(grid.values, 1), counts, minlength=len(values)).astype(np.int64)
        stars = without_surplus(noisy_totals - published)
        return Outcome(levels, self.threshold(grid, levels), values, keys, counts, stars)

    def released(self, table: Table, outcome: Outcome) -> tuple[Grid, Table]:
        """The grid that an outcome's cells are numbered on, and the records on it: to compare, not to publish."""
        grid = Grid(self.grid.space, len(outcome.values))
        return grid, grid.at(_restricted(table, outcome.values, self.grid.values), outcome.levels)

    def noisy_totals(self, totals: Integers) -> tuple[NDArray[np.int32], Integers]:
        """Steps 0 and 3: the noisy number of records by informative value; undeclared ones only where it is large."""
        noisy = self.total_noise.add(totals)
        values = np.arange(len(totals), dtype=np.int32)
        if self.delta:
            values = values[noisy >= self.value_threshold]
        return values, noisy[values]

    def candidates(self, grid: Grid) -> NDArray[np.int64]:
        """The nodes whose domain is small enough to be walked over; the top always is."""
        nodes = range(grid.space.size)
        return np.array([node for node in nodes if grid.cells(grid.space.node(node)) < MOST_PLACES], dtype=np.int64)

    def choose(self, grid: Grid, losses: Integers) -> Levels:
        """Step 1: a node of low loss."""
        candidates = self.candidates(grid)
        return grid.space.node(int(candidates[self.selection.index(-losses[candidates])]))

    def publish(self, grid: Grid, table: Table) -> tuple[Integers, Integers]:
        """Step 2: every cell of the domain with noise, where it passes the threshold."""
        threshold = self.threshold(grid, table.levels)
        return self.publish_cells(grid.cells(table.levels), threshold, grid.keys(table), table.counts)

    def publish_cells(self, size: int, threshold: int, keys: Integers, counts: Integers) -> tuple[Integers, Integers]:
        return noisy_cells(self.cell_noise, size, threshold).publish(keys, counts)


def without_surplus(differences: Integers) -> Integers:
    """Numbers of rows that add up to the sum of the differences (0 where that is negative), near each of them.

    Cutting negative noise off would leave all the positive noise in, a surplus of rows; so the same amount t is taken
    from every difference first: max(0, d - t), with the t that gives the right sum. Post-processing, free.

    >>> without_surplus(np.array([5, -3, 4, 0])).tolist(), without_surplus(np.array([1, -4])).tolist()
    ([4, 0, 2, 0], [0, 0])
    """
    total = int(differences.sum())
    if total <= 0:
        return np.zeros(len(differences), dtype=np.int64)
    order = np.argsort(-differences, kind="stable")
    falling = differences[order]
    # With the first i kept, t = (their sum - total) / i; the largest i whose last one stays above t is the one.
    excess = np.cumsum(falling) - total
    kept = int(np.flatnonzero(falling * np.arange(1, len(falling) + 1) > excess)[-1]) + 1
    whole, rest = divmod(int(excess[kept - 1]), kept)
    rows = np.zeros(len(differences), dtype=np.int64)
    rows[order[:kept]] = falling[:kept] - whole
    # What t is more than a whole number is one row less for the smallest of those kept.
    rows[order[kept - rest : kept]] -= 1
    return rows


def _restricted(table: Table, values: NDArray[np.int32], number: int) -> Table:
    """The records whose informative value was released, renumbered."""
    position = np.full(number, -1, dtype=np.int32)
    position[values] = np.arange(len(values), dtype=np.int32)
    kept = position[table.values] >= 0
    return Table(
        table.levels, np.ascontiguousarray(table.codes[:, kept]), position[table.values[kept]], table.counts[kept]
    )
