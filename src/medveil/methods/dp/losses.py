"""What a noisy table loses against its original: NCP, EMD and Rate, counted on the grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medveil.loss.information_loss import Losses, information_loss
from medveil.methods.dp.grid import Grid, Table
from medveil.methods.dp.ipa_score import penalties

Integers = NDArray[np.int64]


def class_penalties(grid: Grid, levels: tuple[int, ...], codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """The mean NCP over the dimensions of classes given by their groups."""
    each = [penalties(h, level)[row] for h, level, row in zip(grid.hierarchies, levels, codes, strict=True)]
    return np.asarray(np.mean(each, axis=0), dtype=np.float64)


def noisy_losses(grid: Grid, truth: Table, keys: Integers, counts: Integers, stars: Integers) -> Losses:
    """The losses of cells published with these counts and rows of `*` by informative value.

    truth: the records at the same levels. A record whose cell is published is in that cell of the original's
    distribution, any other among the `*` of its value: what suppression costs is counted by NCP alone.
    """
    order = np.argsort(grid.keys(truth))
    own = grid.keys(truth)[order]
    place = np.minimum(np.searchsorted(own, keys), max(len(own) - 1, 0))
    there = own[place] == keys if len(own) else np.zeros(len(keys), dtype=np.bool_)
    true = np.zeros(len(keys), dtype=np.int64)
    true[there] = truth.counts[order][place[there]]
    hidden = np.bincount(truth.values, truth.counts, minlength=grid.values).astype(np.int64)
    codes, values = grid.decoded(truth.levels, keys)
    hidden -= np.bincount(values, true, minlength=grid.values).astype(np.int64)
    _, first, owner = np.unique(keys // max(grid.values, 1), return_index=True, return_inverse=True)
    number = len(first)
    return information_loss(
        penalty=class_penalties(grid, truth.levels, codes[:, first]) if number else np.zeros(0),
        rows=np.bincount(owner, counts, minlength=number).astype(np.int64),
        counterfeit=np.bincount(owner, np.maximum(counts - true, 0), minlength=number).astype(np.int64),
        stars=int(stars.sum()),
        original=np.concatenate([true, hidden]).astype(np.float64),
        published=np.concatenate([counts, stars]).astype(np.float64),
    )
