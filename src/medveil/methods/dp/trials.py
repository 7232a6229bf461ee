"""What an audit of differential privacy tries: small tables on which a fault would show.

Every trial calls the functions that make releases, with the policy's own epsilon, split and bounds. Parts of the
budget are tried where their ratio is largest, so that noise of half the scale shows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from medveil.hierarchy.hierarchy import Hierarchy, build
from medveil.lattice.space import Space
from medveil.methods.dp.grid import Grid, Table
from medveil.methods.dp.ipa_proved import Mechanism
from medveil.methods.dp.ipa_published import ClassTable, Draws, perturb, publish
from medveil.methods.dp.noisy_cells import NoisyCells
from medveil.methods.privacy_trial import Draw, Integers, PrivacyTrial
from medveil.privacy.integer_noise import GeometricNoise

if TYPE_CHECKING:
    from medveil.methods.dp.sampling import Sampling

CROWD = 40
"""Records of the class into which a rare one is planted."""
RARE = 99
"""The informative value that nobody else has."""
BATCH = 10_000
MOST_RUNS = 2_000_000


def group_for(epsilon: float) -> int:
    """So many people that their joint epsilon is about 1, which few runs show."""
    return max(round(1 / epsilon), 1)


def small_grid(values: int) -> Grid:
    """One dimension of two leaves, and so many informative values."""
    return Grid(Space.of([two_leaves()]), values)


def two_leaves() -> Hierarchy:
    return build(["a", "b"], [], None, 2.0, "dimension")


def table_on(grid: Grid, cells: Sequence[tuple[int, int, int]]) -> Table:
    """A table from (leaf, value, records), those without records left out."""
    filled = [cell for cell in cells if cell[2]]
    leaves, values, counts = (np.array([cell[i] for cell in filled], dtype=np.int64) for i in range(3))
    return grid.base(leaves[None, :].astype(np.int32), values.astype(np.int32), counts)


# The proved form


def proved_trials(mechanism: Mechanism, epsilon: float, runs: int) -> list[PrivacyTrial]:
    """The whole on small tables, and each part of the budget where its ratio is largest."""
    records = mechanism.records
    trials = [*whole_trials(mechanism, epsilon, runs), node_trial(mechanism, 10 * runs)]
    trials += cell_trials(
        "cells", mechanism.epsilon["cells"], mechanism.cell_noise, mechanism.false_cells, records, 20 * runs, mechanism
    )
    trials.append(total_trial(mechanism, 20 * runs))
    return trials


def whole_trials(mechanism: Mechanism, epsilon: float, runs: int) -> list[PrivacyTrial]:
    grid, records = mechanism.grid, mechanism.records
    threshold = mechanism.threshold(grid, grid.space.bottom)
    crowd = (0, 0, CROWD)
    scenarios = {
        "a planted rare record": ([crowd], [crowd, (0, 1, records)]),
        "a cell at the threshold": ([(0, 0, max(threshold - records, 0))], [(0, 0, max(threshold, records))]),
        "a small domain without records": ([], [(0, 0, records)]),
        "the totals of *": ([crowd, (1, 1, 1)], [crowd, (1, 1, 1 + records)]),
    }
    trials = []
    for scenario, (without, with_) in scenarios.items():
        trials.append(
            PrivacyTrial(
                "whole",
                scenario,
                epsilon,
                mechanism.delta,
                outcome_features(grid),
                outcomes(mechanism, table_on(grid, without)),
                outcomes(mechanism, table_on(grid, with_)),
                runs,
            )
        )
    return trials


def outcome_features(grid: Grid) -> tuple[str, ...]:
    cells = [f"rows of cell {number} at level 0" for number in range(grid.cells((0,)))]
    tops = [f"rows of cell {number} at level 1" for number in range(grid.cells((1,)))]
    stars = [f"rows of * with value {value}" for value in range(grid.values)]
    return ("the level", "all rows", *cells, *tops, *stars)


def outcomes(mechanism: Mechanism, table: Table) -> Draw:
    """Runs of the whole mechanism on one table."""
    grid = mechanism.grid
    prepared = mechanism.prepare(table)
    lower, upper = grid.cells((0,)), grid.cells((1,))

    def draw(runs: int) -> Integers:
        found = np.zeros((runs, 2 + lower + upper + grid.values), dtype=np.int64)
        for run in found:
            outcome = mechanism.draw(prepared)
            (level,) = outcome.levels
            run[0] = level
            run[1] = outcome.counts.sum() + outcome.stars.sum()
            # Cells are numbered over the released values: back to the numbers of all values.
            classes, values = np.divmod(outcome.keys, max(len(outcome.values), 1))
            if len(outcome.keys):
                keys = classes * grid.values + outcome.values[values]
                run[2 + level * lower + keys] = outcome.counts
            run[2 + lower + upper + outcome.values] = outcome.stars
        return found

    return draw


def node_trial(mechanism: Mechanism, runs: int) -> PrivacyTrial:
    """The choice of a node where one record makes one node better and the other worse.

    A cell at its threshold T loses T records at both levels; every further record there makes the lower level better
    by one and the upper one worse by one, as long as it stays below 2T - b.
    """
    epsilon = mechanism.epsilon["node"]
    group = group_for(epsilon)
    values = 2
    while True:
        grid = small_grid(values)
        threshold = mechanism.threshold(grid, (0,))
        if threshold - np.ceil(mechanism.cell_noise.scale) > group * mechanism.records:
            break
        values *= 4
    tables = [table_on(grid, [(0, 0, threshold + extra)]) for extra in (0, group * mechanism.records)]
    losses = [mechanism.losses(grid, table) for table in tables]

    def draw(given: Integers) -> Draw:
        return lambda runs: np.array([mechanism.choose(grid, given) for _ in range(runs)], dtype=np.int64)

    return PrivacyTrial(
        "node",
        "records that move two nodes apart",
        epsilon,
        0.0,
        ("the level",),
        draw(losses[0]),
        draw(losses[1]),
        runs,
        group,
    )


def cell_trials(
    part: str,
    epsilon: float,
    noise: GeometricNoise,
    false_cells: float,
    records: int,
    runs: int,
    mechanism: Mechanism | None = None,
) -> list[PrivacyTrial]:
    """Cells of a small domain with c and c + records: without any, at the threshold, and above it.

    Cells have independent noise, so that a table of many equal cells is as many runs at once; the threshold is that
    of a domain of four.
    """
    threshold = noise.threshold(4, false_cells)
    group = group_for(epsilon)
    more = group * records

    def draw(count: int) -> Draw:
        def many(runs: int) -> Integers:
            keys = np.arange(runs if count else 0, dtype=np.int64)
            counts = np.full(len(keys), count, dtype=np.int64)
            if mechanism is None:
                found, rows = NoisyCells(noise, runs, threshold).publish(keys, counts)
            else:
                found, rows = mechanism.publish_cells(runs, threshold, keys, counts)
            seen = np.zeros((runs, 1), dtype=np.int64)
            seen[found, 0] = rows
            return seen

        return many

    scenarios = {
        "a cell without records": 0,
        "a cell at the threshold": max(threshold - more, 0),
        "a cell above the threshold": threshold + more,
    }
    return [
        PrivacyTrial(part, scenario, epsilon, 0.0, ("rows of the cell",), draw(count), draw(count + more), runs, group)
        for scenario, count in scenarios.items()
    ]


def total_trial(mechanism: Mechanism, runs: int) -> PrivacyTrial:
    """The noisy totals: as many informative values as runs, each with so many records or `records` more."""
    group = group_for(mechanism.epsilon["totals"])
    more = group * mechanism.records
    least = mechanism.value_threshold if mechanism.delta else CROWD + more

    def draw(count: int) -> Draw:
        def many(runs: int) -> Integers:
            values, noisy = mechanism.noisy_totals(np.full(runs, count, dtype=np.int64))
            seen = np.full((runs, 1), -1, dtype=np.int64)
            seen[values, 0] = noisy
            return seen

        return many

    return PrivacyTrial(
        "totals",
        "the total of an informative value",
        mechanism.epsilon["totals"],
        mechanism.delta,
        ("the noisy total",),
        draw(least - more),
        draw(least),
        runs,
        group,
    )


# The published form


def published_trials(
    total: float, epsilon: Mapping[str, float], suppression_threshold: int, runs: int
) -> list[PrivacyTrial]:
    """One class of forty records, with and without a value that only one of them has; and a class of two.

    total: the epsilon that is claimed, of which `epsilon` are the parts.
    """
    grid = small_grid(RARE + 1)
    random = np.random.default_rng()
    common = [(0, value, 1 + (value < CROWD // 4)) for value in range(CROWD * 3 // 4)]
    common = [*common[:-1], (0, common[-1][1], common[-1][2] + CROWD - 1 - sum(cell[2] for cell in common))]

    def draw(table: Table) -> Draw:
        def many(runs: int) -> Integers:
            found = np.zeros((runs, 3), dtype=np.int64)
            for run in found:
                made = publish(grid, table, epsilon, suppression_threshold, random)
                run[0] = made.counts[made.keys % grid.values == RARE].sum() + made.stars[RARE]
                run[1] = made.counts.sum() + made.stars.sum()
                run[2] = made.stars[RARE]
            return found

        return many

    rare = (0, RARE, 1)
    scenarios = {
        "a planted rare record": (common, [*common, rare]),
        "a class of two": ([(0, 0, 1)], [(0, 0, 1), rare]),
    }
    features = ("rows with the rare value", "all rows", "rows of * with the rare value")
    return [
        PrivacyTrial(
            "whole",
            scenario,
            total,
            0.0,
            features,
            draw(table_on(grid, without)),
            draw(table_on(grid, with_)),
            max(runs // 4, 250),
        )
        for scenario, (without, with_) in scenarios.items()
    ] + [_one_node_trial(total, epsilon, suppression_threshold, common, max(runs, 2_000))]


def _one_node_trial(
    total: float,
    epsilon: Mapping[str, float],
    suppression_threshold: int,
    common: Sequence[tuple[int, int, int]],
    runs: int,
) -> PrivacyTrial:
    """The planted record where the lattice has one node, so that a release is what Algorithm 1 makes of its classes.

    Classes are perturbed independently: a table of many equal classes is as many releases at once, and enough of them
    for a large epsilon. An event that is never seen in n runs shows about ln(n / 10).
    """
    random = np.random.default_rng()
    known = np.array([value for _, value, _ in common], dtype=np.int32)

    def draw(*, planted: bool) -> Draw:
        cells = [*common, (0, RARE, 1)] if planted else list(common)
        values = np.append(known, np.int32(RARE)) if planted else known

        def many(runs: int) -> Integers:
            return np.concatenate([batch(min(BATCH, runs - start)) for start in range(0, runs, BATCH)])

        def batch(runs: int) -> Integers:
            owner = np.repeat(np.arange(runs, dtype=np.int64), len(cells))
            counts = np.tile(np.array([count for _, _, count in cells], dtype=np.int64), runs)
            classes = ClassTable(
                keys=np.arange(runs, dtype=np.int64),
                offsets=np.arange(runs + 1, dtype=np.int64) * len(cells),
                owner=owner,
                values=np.tile(values, runs),
                counts=counts,
                sizes=np.full(runs, counts[: len(cells)].sum(), dtype=np.int64),
                penalty=np.zeros(runs),
            )
            made = perturb((0,), classes, suppression_threshold, values, Draws(random, epsilon))
            inserted = np.bincount(made.owner[made.values == RARE], minlength=runs)
            return np.stack([inserted + int(planted), np.where(made.kept, 0, int(planted))], axis=1)

        return many

    return PrivacyTrial(
        "whole",
        "a planted rare record, one node",
        total,
        0.0,
        ("rows with the rare value", "rows of * with the rare value"),
        draw(planted=False),
        draw(planted=True),
        max(runs, min(math.ceil(40 * math.exp(total)), MOST_RUNS)),
    )


# Sampling


def sampling_trials(sampling: Sampling, delta: float, runs: int) -> list[PrivacyTrial]:
    """A cell of n records against n + 1, where the sample is about as large as the least that is published."""

    def draw(count: int) -> Draw:
        def many(runs: int) -> Integers:
            return sampling.sampled(np.full(runs, count, dtype=np.int64))[:, None]

        return many

    near = round(sampling.k / float(sampling.share))
    scenarios = {"a cell of k - 1 records": sampling.k - 1, "a cell about as large as is published": near}
    return [
        PrivacyTrial(
            "sampling",
            scenario,
            sampling.epsilon,
            delta,
            ("rows of the cell",),
            draw(count),
            draw(count + 1),
            runs,
        )
        for scenario, count in scenarios.items()
    ]
