"""What a noisy table loses against its original: NCP, EMD and Rate, counted on the grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from medveil.lattice.space import Space
from medveil.loss.information_loss import Losses, information_loss
from medveil.methods.dp.grid import Grid, Table
from medveil.methods.dp.ipa_score import penalties
from medveil.methods.dp.outcome import Part

Integers = NDArray[np.int64]


def class_penalties(grid: Grid, levels: tuple[int, ...], codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """The mean NCP over the dimensions of classes given by their groups."""
    each = [penalties(h, level)[row] for h, level, row in zip(grid.hierarchies, levels, codes, strict=True)]
    return np.asarray(np.mean(each, axis=0), dtype=np.float64)


def noisy_losses(grid: Grid, truth: Table, keys: Integers, counts: Integers, stars: Integers) -> Losses:
    """The losses of cells published with these counts and rows of `*` by informative value.

    truth: the records at the same levels.
    """
    values = np.arange(grid.values, dtype=np.int32)
    return losses_of_parts(grid, truth, [Part(truth.levels, 1, values, keys, counts)], values, stars)


def losses_of_parts(
    grid: Grid, table: Table, parts: Sequence[Part], released: NDArray[np.int32], stars: Integers
) -> Losses:
    """The losses of cells that are published by stratum, and rows of `*` by released value.

    A record whose cell is published is in that cell of the original's distribution, any other among the `*` of its
    value: what suppression costs is counted by NCP alone. A class is what has the same labels, of whichever strata.
    """
    hidden = np.zeros(grid.values, dtype=np.int64)
    np.add.at(hidden, table.values, table.counts)
    trues: list[Integers] = []
    numbered: dict[tuple[tuple[int, ...], int], int] = {}
    owners: list[Integers] = []
    class_penalty: list[float] = []
    for part in parts:
        true = true_counts(grid, table, part)
        np.subtract.at(hidden, part.informative, true)
        trues.append(true)
        number, first, owner = np.unique(part.classes, return_index=True, return_inverse=True)
        codes = Grid(grid.space, max(len(part.values), 1)).decoded(part.levels, part.keys[first])[0]
        penalty = class_penalties(grid, part.levels, codes) if len(first) else np.zeros(0)
        known = np.empty(len(number), dtype=np.int64)
        for position, (one, loss) in enumerate(zip(number.tolist(), penalty.tolist(), strict=True)):
            known[position] = numbered.setdefault((part.levels, one), len(numbered))
            if known[position] == len(class_penalty):
                class_penalty.append(loss)
        owners.append(known[owner])
    counts = np.concatenate([part.counts for part in parts]) if parts else np.zeros(0, dtype=np.int64)
    true = np.concatenate(trues) if parts else counts
    owner = np.concatenate(owners) if parts else counts
    number_of_classes = len(class_penalty)
    every_star = np.zeros(grid.values, dtype=np.int64)
    every_star[released] = stars
    return information_loss(
        penalty=np.array(class_penalty),
        rows=np.bincount(owner, counts, minlength=number_of_classes).astype(np.int64),
        counterfeit=np.bincount(owner, np.maximum(counts - true, 0), minlength=number_of_classes).astype(np.int64),
        stars=int(stars.sum()),
        original=np.concatenate([true, hidden]).astype(np.float64),
        published=np.concatenate([counts, every_star]).astype(np.float64),
    )


def true_counts(grid: Grid, table: Table, part: Part) -> Integers:
    """How many records are in each published cell of a part."""
    own, counts = stratum_cells(grid.space, table, part)
    place = np.minimum(np.searchsorted(own, part.keys), max(len(own) - 1, 0))
    there = own[place] == part.keys if len(own) else np.zeros(len(part.keys), dtype=np.bool_)
    found = np.zeros(len(part.keys), dtype=np.int64)
    found[there] = counts[place[there]]
    return found


def stratum_cells(space: Space, table: Table, part: Part) -> tuple[Integers, Integers]:
    """The cells that a stratum's records are in at its node, numbered as the part's are, and how many are in each."""
    place = np.full(int(max(table.values.max(initial=-1), part.values.max(initial=-1))) + 1, -1, dtype=np.int32)
    place[part.values] = np.arange(len(part.values), dtype=np.int32)
    kept = place[table.values] >= 0
    grid = Grid(space, max(len(part.values), 1))
    restricted = Table(
        table.levels, np.ascontiguousarray(table.codes[:, kept]), place[table.values[kept]], table.counts[kept]
    )
    here = grid.at(restricted, part.levels)
    keys = grid.keys(here)
    order = np.argsort(keys)
    return keys[order], here.counts[order]
