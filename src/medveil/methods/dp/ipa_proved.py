"""IPA as proved: the same aim as published, by a mechanism that is differentially private. Proof: docs/proofs/ipa.md.

Informative values stay as they are. Values with like totals form strata; the dimensions of each stratum are generalized
at a node that is chosen privately, cells under a threshold are suppressed to `*`, and noise inserts records that nobody
can tell from others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from medveil.lattice.space import Levels
from medveil.methods.dp.grid import Grid, Table
from medveil.methods.dp.ipa_score import UNIT, Scoring, even_penalties, node_losses, unit_penalties
from medveil.methods.dp.marginals import counted, group_penalties, leaf_weights, marginal_levels
from medveil.methods.dp.noisy_cells import noisy_cells
from medveil.methods.dp.outcome import Outcome, Part, large_classes
from medveil.methods.dp.stars import paired, shrunk, without_surplus
from medveil.methods.dp.strata import cut, expected_threshold
from medveil.privacy.exact_sampling import MOST_PLACES
from medveil.privacy.integer_noise import GeometricNoise, Selection

Integers = NDArray[np.int64]
Codes = NDArray[np.int32]
Numbers = NDArray[np.float64]
Step = Callable[[float], None]


@dataclass(frozen=True)
class StrataPlan:
    """What steps A, M and B let out: noisy numbers, and what follows from them and the policy.

    values: the released informative values, as codes of the table that went in; `totals` are parallel.
    every_total: the noisy totals of each informative attribute, where there are several.
    marginals: for each dimension the noisy number of records in each group of its marginal level, none below 0.
    strata: positions in `values`.
    """

    values: Codes
    totals: Numbers
    every_total: tuple[Integers, ...]
    marginals: tuple[Integers, ...]
    strata: tuple[Integers, ...]
    number: int

    @cached_property
    def stratum_of(self) -> Codes:
        """The stratum of each value of the table that went in, -1 where it was not released."""
        return self._by_value(lambda stratum, _: stratum)

    @cached_property
    def place_in_stratum(self) -> Codes:
        """Its place there."""
        return self._by_value(lambda _, members: np.arange(len(members)))

    def _by_value(self, told: Callable[[int, Integers], int | Integers]) -> Codes:
        found = np.full(self.number, -1, dtype=np.int32)
        for stratum, members in enumerate(self.strata):
            found[self.values[members]] = told(stratum, members)
        return found

    def records(self, stratum: int) -> float:
        """The noisy number of records of a stratum."""
        return float(self.totals[self.strata[stratum]].sum())

    def within(self, table: Table, stratum: int) -> Table:
        """The records of a stratum, its values renumbered."""
        kept = self.stratum_of[table.values] == stratum
        codes = np.ascontiguousarray(table.codes[:, kept])
        return Table(table.levels, codes, self.place_in_stratum[table.values[kept]], table.counts[kept])


@dataclass(frozen=True)
class Mechanism:
    """The steps A, M, B, C and D. A person adds or removes at most `records` records.

    grid: the declared domain; with several informative attributes a value is a combination, numbered with the last
        attribute running fastest.
    epsilon: by part: totals, marginals, node and cells.
    weights: how much each dimension's detail counts.
    numbers: for each dimension the numbers behind its leaves, None where they have no order.
    informative: how many values each informative attribute has.
    false_cells: how many cells without records may be expected to pass, over all strata; None: so many that the
        expected loss is least.
    delta: 0 where the informative values are declared; otherwise they are learned in step A at this price.
    """

    grid: Grid
    epsilon: Mapping[str, float]
    records: int = 1
    weights: Sequence[float] = ()
    numbers: Sequence[Numbers | None] = ()
    informative: tuple[int, ...] = ()
    false_cells: float | None = None
    delta: float = 0.0

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return self.informative or (self.grid.values,)

    @cached_property
    def total_noise(self) -> GeometricNoise:
        """Step A: a record is counted once for each informative attribute."""
        return GeometricNoise(self.records * len(self.sizes), self.epsilon["totals"])

    @cached_property
    def marginal_noise(self) -> GeometricNoise:
        """Step M: a record is counted once for each dimension."""
        return GeometricNoise(self.records * max(len(self.grid.space), 1), self.epsilon["marginals"])

    @cached_property
    def selection(self) -> Selection:
        """Step C: the losses of a stratum change by at most as many units as its records do; all strata together
        by at most `records` units.
        """
        return Selection(self.records * UNIT, self.epsilon["node"])

    @cached_property
    def cell_noise(self) -> GeometricNoise:
        """Step D: the counts of all cells of all strata change by at most `records` in all."""
        return GeometricNoise(self.records, self.epsilon["cells"])

    @cached_property
    def value_threshold(self) -> int:
        """Step A: what the noisy total of an undeclared informative value must reach.

        Not only delta bounds its chance to pass: also 1 - exp(-epsilon / records), so that a table with the value is
        as likely as one without it to lack it (docs/proofs/ipa.md).
        """
        bound = min(self.delta, -math.expm1(-self.epsilon["totals"] / self.records) / 2)
        return self.total_noise.stable_threshold(self.records, bound)

    # Steps A, M and B

    def plan(self, table: Table) -> StrataPlan:
        """What is learned before any node is looked at."""
        totals = self.noisy_totals(self.totals(table))
        marginals = [without_surplus(noisy) for noisy in self.noisy_marginals(counted(self.grid, table))]
        values = self.released(totals[0]) if self.delta else np.arange(self.grid.values, dtype=np.int32)
        estimated = self.estimated_totals(totals)[values]
        return StrataPlan(values, estimated, tuple(totals), tuple(marginals), self.cut(estimated), self.grid.values)

    def totals(self, table: Table) -> list[Integers]:
        """The records of each value of each informative attribute, exactly."""
        by_value = np.zeros(self.grid.values, dtype=np.int64)
        np.add.at(by_value, table.values, table.counts)
        shaped = by_value.reshape(self.sizes)
        axes = range(len(self.sizes))
        return [shaped.sum(axis=tuple(other for other in axes if other != axis)) for axis in axes]

    def noisy_totals(self, totals: Sequence[Integers]) -> list[Integers]:
        """Step A: noise on the totals of every value of every informative attribute."""
        return _split(self.total_noise.add(np.concatenate(totals)), totals)

    def released(self, noisy: Integers) -> Codes:
        """Step A: the undeclared values whose noisy total is large enough."""
        return np.flatnonzero(noisy >= self.value_threshold).astype(np.int32)

    def noisy_marginals(self, counts: Sequence[Integers]) -> list[Integers]:
        """Step M: noise on the counts of every dimension."""
        return _split(self.marginal_noise.add(np.concatenate(counts)), counts)

    def estimated_totals(self, totals: Sequence[Integers]) -> Numbers:
        """About how many records each combination of informative values has: the noisy total itself where there is one
        attribute, otherwise as if the attributes were independent.
        """
        if len(totals) == 1:
            return totals[0].astype(np.float64)
        records = max(float(np.mean([one.sum() for one in totals])), 0.0)
        found = np.ones(1)
        for one in totals:
            positive = without_surplus(one).astype(np.float64)
            found = np.outer(found, positive / max(positive.sum(), 1.0)).ravel()
        return np.asarray(found * records)

    def cut(self, estimated: Numbers) -> tuple[Integers, ...]:
        """Step B: strata by noisy totals alone."""
        return tuple(cut(estimated, self.total_noise.scale))

    def thresholds(self, plan: StrataPlan, levels: Levels) -> Integers:
        """Step B: the threshold of each stratum at a node, from noisy totals and the size of the declared domain."""
        classes = math.prod(self.grid.groups(levels))
        return np.array(
            [
                self.threshold(classes * len(members), plan.records(stratum), len(plan.strata))
                for stratum, members in enumerate(plan.strata)
            ],
            dtype=np.int64,
        )

    def threshold(self, cells: int, records: float, strata: int = 1) -> int:
        if self.false_cells is not None:
            return self.cell_noise.threshold(cells, self.false_cells / strata)
        return expected_threshold(self.cell_noise, cells, records)

    # Step C

    def scoring(self, plan: StrataPlan) -> Scoring:
        """By what nodes are scored: noisy numbers and the policy."""
        weights = self.weights or (1.0,) * len(self.grid.space)
        numbers = self.numbers or (None,) * len(self.grid.space)
        levels = marginal_levels(self.grid)
        penalties = [
            group_penalties(hierarchy, even_penalties(hierarchy), leaf_weights(hierarchy, level, counts), line)
            for hierarchy, level, counts, line in zip(
                self.grid.hierarchies, levels, plan.marginals, numbers, strict=True
            )
        ]
        return Scoring(
            plan.stratum_of,
            len(plan.strata),
            unit_penalties(penalties, weights),
            lambda levels: self.thresholds(plan, levels),
            math.ceil(self.cell_noise.scale),
        )

    def candidates(self, values: int) -> Integers:
        """The nodes whose domain, with so many values, is small enough to be walked over; the top always is."""
        space = self.grid.space
        sizes = (math.prod(self.grid.groups(space.node(node))) * values for node in range(space.size))
        return np.array([node for node, size in enumerate(sizes) if size < MOST_PLACES], dtype=np.int64)

    def choose(self, plan: StrataPlan, losses: Integers) -> list[Levels]:
        """Step C: for each stratum, whether it has records or not, a node of low loss."""
        chosen = []
        for stratum, members in enumerate(plan.strata):
            candidates = self.candidates(len(members))
            found = self.selection.index(-losses[candidates, stratum])
            chosen.append(self.grid.space.node(int(candidates[found])))
        return chosen

    # Step D

    def publish(self, plan: StrataPlan, stratum: int, table: Table) -> Part:
        """Step D: every cell of a stratum at its node with noise, where it reaches the threshold."""
        members = plan.strata[stratum]
        grid = Grid(self.grid.space, len(members))
        threshold = int(self.thresholds(plan, table.levels)[stratum])
        keys, counts = self.publish_cells(grid.cells(table.levels), threshold, grid.keys(table), table.counts)
        return Part(table.levels, threshold, plan.values[members], keys, counts)

    def publish_cells(self, size: int, threshold: int, keys: Integers, counts: Integers) -> tuple[Integers, Integers]:
        return noisy_cells(self.cell_noise, size, threshold).publish(keys, counts)

    # Together

    def draw(self, table: Table, step: Step = lambda _: None) -> Outcome:
        """One outcome; every random number is drawn anew."""
        return self.draws(table, 1, step)[0]

    def draws(self, table: Table, number: int, step: Step = lambda _: None) -> list[Outcome]:
        """Several independent outcomes, whose nodes are scored in one walk."""
        plans = [self.plan(table) for _ in range(number)]
        losses = node_losses(self.grid, table, [self.scoring(plan) for plan in plans], step)
        return [self.outcome(table, plan, found) for plan, found in zip(plans, losses, strict=True)]

    def outcome(self, table: Table, plan: StrataPlan, losses: Integers) -> Outcome:
        parts = large_classes(self.drawn(table, plan, self.choose(plan, losses)))
        return Outcome(self.grid.space, plan.values, parts, self.stars(plan, parts), plan.marginals)

    def drawn(self, table: Table, plan: StrataPlan, nodes: Sequence[Levels]) -> list[Part]:
        """Step D for every stratum, whether it has records or not."""
        return [
            self.publish(plan, stratum, self.grid.at(plan.within(table, stratum), levels))
            for stratum, levels in enumerate(nodes)
        ]

    def stars(self, plan: StrataPlan, parts: Sequence[Part]) -> Integers:
        """Rows of `*`: what noisy totals are more than what is published, for each released value."""
        published = np.zeros(self.grid.values, dtype=np.int64)
        for part in parts:
            np.add.at(published, part.informative, part.counts)
        variance = 2 * self.total_noise.scale**2
        if len(self.sizes) == 1:
            return without_surplus(shrunk(plan.every_total[0][plan.values] - published[plan.values], variance))
        shaped, axes = published.reshape(self.sizes), range(len(self.sizes))
        lacking = [
            shrunk(total - shaped.sum(axis=tuple(other for other in axes if other != axis)), variance)
            for axis, total in enumerate(plan.every_total)
        ]
        rows = max(round(float(np.mean([one.sum() for one in lacking]))), 0)
        return paired([without_surplus(one, rows) for one in lacking], self.sizes)[plan.values]

    @property
    def noise_rows(self) -> float:
        """About how many rows a table without records is expected to become, at the lowest levels."""
        cells = self.grid.cells(self.grid.space.bottom)
        threshold = self.threshold(cells, 0.0)
        alpha = math.exp(-1 / self.cell_noise.scale)
        false = cells * alpha**threshold / (1 + alpha) * (threshold + self.cell_noise.scale)
        return false + math.sqrt(2 * sum(self.sizes)) * self.total_noise.scale


def _split(joined: Integers, like: Sequence[Integers]) -> list[Integers]:
    return np.split(joined, np.cumsum([len(one) for one in like])[:-1])
