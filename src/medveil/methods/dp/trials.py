"""What an audit of differential privacy tries: small tables on which a fault would show.

Every trial calls the functions that make releases, with the policy's own epsilon, split and bounds. Parts of the
budget are tried where their ratio is largest, so that noise of half the scale shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from medveil.hierarchy.hierarchy import Hierarchy, build
from medveil.lattice.space import Space
from medveil.methods.dp.grid import Grid, Table
from medveil.methods.dp.ipa_published import ClassTable, Draws, perturb, publish
from medveil.methods.privacy_trial import Draw, Integers, PrivacyTrial

if TYPE_CHECKING:
    from medveil.methods.dp.sampling import Sampling

PublishCells = Callable[[int, int, Integers, Integers], tuple[Integers, Integers]]
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


# Cells


def cell_trials(
    part: str,
    epsilon: float,
    publish: PublishCells,
    threshold: int,
    records: int,
    runs: int,
) -> list[PrivacyTrial]:
    """Cells of a small domain with c and c + records: without any, at the threshold, and above it.

    Cells have independent noise, so that a table of many equal cells is as many runs at once.

    publish: from the number of cells, a threshold, and cells with their counts to those that pass.
    """
    group = group_for(epsilon)
    more = group * records

    def draw(count: int) -> Draw:
        def many(runs: int) -> Integers:
            keys = np.arange(runs if count else 0, dtype=np.int64)
            counts = np.full(len(keys), count, dtype=np.int64)
            found, rows = publish(runs, threshold, keys, counts)
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
