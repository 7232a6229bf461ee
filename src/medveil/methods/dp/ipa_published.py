"""IPA as published: suppression, insertion, choice of values and choice of a node, step by step as in the paper.

It is not differentially private, whatever its parts spend: records of classes that are kept are published as they are,
suppressed records keep their informative value, and only classes that the data hold are ever considered
(docs/methods/ipa.md). It claims nothing and is here to be compared with, and to be caught by the audit.

Lee and Chung 2020, Differentially private release of medical microdata, Algorithms 1 and 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.codes.rank import KEY_LIMIT
from medveil.errors import PolicyError
from medveil.lattice.space import Levels
from medveil.loss.information_loss import Losses, information_loss
from medveil.methods.dp.grid import Grid, Table
from medveil.methods.dp.ipa_score import penalties

Integers = NDArray[np.int64]

PUBLISHED_SHARES = {"suppression": 0.1, "insertion": 0.3, "value": 0.3, "node": 0.3}
LOSS_SENSITIVITY = 3
"""Of NCP + EMD + Rate, by the paper's account."""


@dataclass(frozen=True)
class Draws:
    """The random numbers of Algorithm 1."""

    random: np.random.Generator
    epsilon: Mapping[str, float]

    def thresholds(self, threshold: int, classes: int) -> NDArray[np.float64]:
        """Line 7: t + Lap((t - 1) / epsilon), a new one for each class."""
        return threshold + self.random.laplace(0.0, (threshold - 1) / self.epsilon["suppression"], classes)

    def insertions(self, classes: int) -> Integers:
        """Line 17: Lap(1 / epsilon) records for each class; negative noise is cut off, as in the authors' program."""
        noise = self.random.laplace(0.0, 1 / self.epsilon["insertion"], classes)
        return np.maximum(np.rint(noise), 0).astype(np.int64)

    def values(self, classes: ClassTable, owner: Integers, known: NDArray[np.int32]) -> NDArray[np.int32]:
        """Line 19: an informative value for each inserted record of class `owner`, out of the `known` ones.

        P[v] ~ exp(epsilon S(v) / 2),  S(v) = count(v) / (|E| + 1) where the class E has v,
                                       1 / ((|E| + 1) (|known| - |values of E|)) otherwise
        """
        half = self.epsilon["value"] / 2
        size = classes.sizes[classes.owner]
        weight = np.exp(half * classes.counts / (size + 1))
        present = np.diff(classes.offsets)
        absent = len(known) - present
        each = np.exp(half / ((classes.sizes + 1) * np.maximum(absent, 1)))
        up_to = np.concatenate([[0.0], np.cumsum(weight)])
        inside = up_to[classes.offsets[1:]] - up_to[classes.offsets[:-1]]
        point = self.random.random(len(owner)) * (inside + absent * each)[owner]
        chosen = np.full(len(owner), -1, dtype=np.int32)
        old = point < inside[owner]
        place = np.searchsorted(up_to, up_to[classes.offsets[owner[old]]] + point[old], side="right") - 1
        last = classes.offsets[owner[old] + 1] - 1
        chosen[old] = classes.values[np.clip(place, classes.offsets[owner[old]], last)]
        # A value that the class does not have: uniform over the known ones, again where the class has it.
        pairs = classes.owner * (int(known.max(initial=0)) + 1) + classes.values
        missing = np.flatnonzero(chosen < 0)
        while len(missing):
            tried = known[self.random.integers(0, len(known), len(missing))]
            fresh = ~np.isin(owner[missing] * (int(known.max()) + 1) + tried, pairs)
            chosen[missing[fresh]] = tried[fresh]
            missing = missing[~fresh]
        return chosen


@dataclass(frozen=True)
class ClassTable:
    """The cells of a table sorted by class: class i has the cells `offsets[i]:offsets[i + 1]`."""

    keys: Integers
    """The number of each class on the grid."""
    offsets: Integers
    owner: Integers
    """The class of each cell."""
    values: NDArray[np.int32]
    counts: Integers
    sizes: Integers
    penalty: NDArray[np.float64]
    """The mean NCP of each class over the dimensions."""

    @classmethod
    def of(cls, grid: Grid, table: Table) -> ClassTable:
        cells = grid.keys(table)
        order = np.argsort(cells, kind="stable")
        classes, first = np.unique(cells[order] // grid.values, return_index=True)
        offsets = np.append(first, len(order)).astype(np.int64)
        owner = np.repeat(np.arange(len(classes), dtype=np.int64), np.diff(offsets))
        counts = table.counts[order]
        codes = table.codes[:, order[first]]
        penalty = np.mean(
            [penalties(h, level)[c] for h, level, c in zip(grid.hierarchies, table.levels, codes, strict=True)], axis=0
        )
        sizes = np.bincount(owner, counts, minlength=len(classes)).astype(np.int64)
        return cls(classes, offsets, owner, table.values[order], counts, sizes, penalty)


@dataclass(frozen=True)
class Candidate:
    """What Algorithm 1 makes of a table at one node."""

    levels: Levels
    kept: NDArray[np.bool_]
    """Which classes are not suppressed."""
    owner: Integers
    """The class of each inserted record."""
    values: NDArray[np.int32]
    """Its informative value."""
    losses: Losses


def perturb(levels: Levels, classes: ClassTable, threshold: int, known: NDArray[np.int32], draws: Draws) -> Candidate:
    """Algorithm 1: suppress small classes, then insert records into those that are kept."""
    kept = classes.sizes > draws.thresholds(threshold, len(classes.sizes))
    extra = np.where(kept, draws.insertions(len(classes.sizes)), 0)
    owner = np.repeat(np.arange(len(classes.sizes), dtype=np.int64), extra)
    values = draws.values(classes, owner, known)
    return Candidate(levels, kept, owner, values, _losses(classes, kept, extra, owner, values))


def _losses(
    classes: ClassTable,
    kept: NDArray[np.bool_],
    extra: Integers,
    owner: Integers,
    values: NDArray[np.int32],
) -> Losses:
    """NCP, EMD and Rate of a candidate (equations 5 to 9); suppressed records are in both distributions as `*`.

    All cells that nothing was inserted into keep their proportions, so that they are one cell of the two distributions.
    """
    width = int(max(classes.values.max(initial=0), values.max(initial=0))) + 1
    real = classes.owner * width + classes.values
    changed, inserted = np.unique(owner * width + values, return_counts=True)
    place = np.minimum(np.searchsorted(real, changed), max(len(real) - 1, 0))
    before = np.where(real[place] == changed, classes.counts[place], 0) if len(real) else np.zeros(0, dtype=np.int64)
    untouched = int(classes.sizes.sum() - before.sum())
    return information_loss(
        penalty=classes.penalty,
        rows=np.where(kept, classes.sizes + extra, 0),
        counterfeit=extra,
        stars=int(classes.sizes[~kept].sum()),
        original=np.append(before, untouched).astype(np.float64),
        published=np.append(before + inserted, untouched).astype(np.float64),
    )


@dataclass(frozen=True)
class Published:
    """The chosen candidate as cells with counts, rows of `*` by informative value, and every candidate's losses."""

    levels: Levels
    keys: Integers
    counts: Integers
    stars: Integers
    losses: list[Losses]


def choice_of_nodes(epsilon: float, losses: Sequence[Losses]) -> NDArray[np.float64]:
    """How likely each node is chosen by its candidate's losses.

    P[node] ~ exp(epsilon u / (2 * 3)),  u = 3 - (NCP + EMD + Rate)
    """
    score = np.array([LOSS_SENSITIVITY - loss.total for loss in losses])
    weight = np.exp(epsilon / (2 * LOSS_SENSITIVITY) * (score - score.max()))
    return np.asarray(weight / weight.sum())


def publish(
    grid: Grid,
    table: Table,
    epsilon: Mapping[str, float],
    threshold: int,
    random: np.random.Generator,
    step: Callable[[float], None] = lambda _: None,
) -> Published:
    """Algorithm 2: perturb the table at every node and choose one of the results by its loss."""
    if grid.cells(grid.space.bottom) > KEY_LIMIT:
        raise PolicyError("The declared domain has more than 2^62 cells.", "Raise 'min_level', or declare less.")
    known = np.unique(table.values)
    # Every candidate has a seed of its own, so that the chosen one can be made again instead of keeping them all.
    seeds = random.integers(0, 2**63, grid.space.size)

    def candidate(number: int, classes: ClassTable, levels: Levels) -> Candidate:
        return perturb(levels, classes, threshold, known, Draws(np.random.default_rng(seeds[number]), epsilon))

    found: dict[int, Losses] = {}
    for visited, here in enumerate(grid.every_table(table)):
        step(visited / grid.space.size)
        number = grid.space.id_of(here.levels)
        found[number] = candidate(number, ClassTable.of(grid, here), here.levels).losses
    losses = [found[number] for number in range(grid.space.size)]
    number = int(random.choice(grid.space.size, p=choice_of_nodes(epsilon["node"], losses)))
    levels = grid.space.node(number)
    classes = ClassTable.of(grid, grid.at(table, levels))
    return Published(levels, *rows_of(grid, classes, candidate(number, classes, levels)), losses)


def rows_of(grid: Grid, classes: ClassTable, candidate: Candidate) -> tuple[Integers, Integers, Integers]:
    """The candidate's cells and their counts, ascending, and the rows of `*` for each informative value."""
    stays = candidate.kept[classes.owner]
    real = classes.keys[classes.owner[stays]] * grid.values + classes.values[stays]
    inserted = classes.keys[candidate.owner] * grid.values + candidate.values
    keys, place = np.unique(np.concatenate([real, inserted]), return_inverse=True)
    counts = np.concatenate([classes.counts[stays], np.ones(len(inserted), dtype=np.int64)])
    stars = np.bincount(classes.values[~stays], classes.counts[~stays], minlength=grid.values)
    return keys, np.bincount(place, counts, minlength=len(keys)).astype(np.int64), stars.astype(np.int64)
