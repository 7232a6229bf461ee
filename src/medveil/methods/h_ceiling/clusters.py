"""Local recoding under a ceiling by clustering: records that are near each other, as long as they stay below h.

k-member clustering (Byun, Kamra, Bertino and Li 2007): a cluster starts with one tuple of quasi-identifiers and takes,
one after the other, the tuple that raises its degree least, until it has k people. Here it also stops where every
tuple would raise it above the ceiling, and what is then too small joins another cluster if one below the ceiling has
room, or is filled with counterfeits. A cluster publishes for each quasi-identifier the lowest group that holds it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from medveil.codes.compiling import outer
from medveil.lattice.space import Levels
from medveil.methods.h_ceiling.boxes import Bounds, Checkpoint
from medveil.methods.h_ceiling.partition import ROUNDING, ClassPartition, group_losses, of_parts
from medveil.methods.h_ceiling.people import Codes, Counts, PopulatedPlaces

Numbers = NDArray[np.float64]


@outer
def _raised(
    code: Codes,
    leaf: int,
    levels: Codes,
    codes: Counts,
    meeting: Codes,
    meeting_starts: Counts,
    losses: Numbers,
    shape: Counts,
) -> float:
    """The summed loss of a cluster (around the tuple `code`, at `levels`) once the tuple `leaf` is in it.

    `meeting` holds for each attribute the lowest level at which two leaves share a group; `losses` the loss of each
    leaf at each level; `shape` the number of leaves of each attribute, followed by where its losses begin.
    """
    width = len(levels)
    total = 0.0
    for a in range(width):
        leaves = shape[a]
        other = codes[a, leaf]
        level = max(levels[a], meeting[meeting_starts[a] + code[a] * leaves + other])
        total += losses[shape[width + a] + level * leaves + code[a]]
    return total


@outer
def _grow(
    seed: int,
    codes: Counts,
    counts: Counts,
    cluster: Counts,
    meeting: Codes,
    meeting_starts: Counts,
    losses: Numbers,
    shape: Counts,
    least: Codes,
    most_loss: float,
    k: int,
    levels: Codes,
) -> int:
    """Grow a cluster from a tuple until it has k people or would pass the ceiling; the cluster's people.

    `cluster[i]` is -1 where tuple i is free; members get the seed's number. `levels` is filled with the cluster's.
    """
    width = len(levels)
    code = np.empty(width, dtype=np.int32)
    for a in range(width):
        code[a] = codes[a, seed]
        levels[a] = least[a]
    cluster[seed] = seed
    size = int(counts[seed])
    while size < k:
        best, lowest = -1, np.inf
        for i in range(len(counts)):
            if cluster[i] < 0:
                total = _raised(code, i, levels, codes, meeting, meeting_starts, losses, shape)
                if total < lowest:
                    best, lowest = i, total
        if best < 0 or lowest > most_loss:
            return size
        cluster[best] = seed
        size += int(counts[best])
        for a in range(width):
            levels[a] = max(levels[a], meeting[meeting_starts[a] + code[a] * shape[a] + codes[a, best]])
    return size


@outer
def _nearest(
    leaf: int,
    codes: Counts,
    seeds: Counts,
    levels: Codes,
    meeting: Codes,
    meeting_starts: Counts,
    losses: Numbers,
    shape: Counts,
    most_loss: float,
) -> int:
    """The cluster that a tuple raises least without passing the ceiling, or -1."""
    width = codes.shape[0]
    code = np.empty(width, dtype=np.int32)
    best, lowest = -1, np.inf
    for c in range(len(seeds)):
        for a in range(width):
            code[a] = codes[a, seeds[c]]
        total = _raised(code, leaf, levels[c], codes, meeting, meeting_starts, losses, shape)
        if total <= most_loss and total < lowest:
            best, lowest = c, total
    return best


def grow_clusters(
    crowd: PopulatedPlaces, bounds: Bounds, h: float, k: int, random: np.random.Generator, watch: Checkpoint
) -> ClassPartition | None:
    """Clusters under the ceiling; None where single tuples at their least levels are above it."""
    codes = np.ascontiguousarray(crowd.codes, dtype=np.int64)
    tables = _tables(crowd, bounds)
    least = np.array([low for low, _ in bounds], dtype=np.int32)
    most_loss = (h + ROUNDING) * len(bounds)
    cluster = np.full(len(crowd), -1, dtype=np.int64)
    full: list[tuple[int, Codes]] = []
    small: list[int] = []
    for seed in random.permutation(len(crowd)).tolist():
        if cluster[seed] >= 0:
            continue
        watch()
        levels = np.zeros(len(bounds), dtype=np.int32)
        size = _grow(seed, codes, crowd.people, cluster, *tables, least, most_loss, k, levels)
        if _alone(codes, seed, tables, least) > most_loss:
            return None
        if size >= k:
            full.append((seed, levels))
        else:
            small.append(seed)
    _place_small(small, full, cluster, codes, tables, most_loss, watch)
    return of_parts(crowd, _parts(cluster, codes, tables, least))


Tables = tuple[Codes, Counts, Numbers, Counts]


def _tables(crowd: PopulatedPlaces, bounds: Bounds) -> Tables:
    """Where leaves meet, and what they lose: see `_raised`. Leaves that meet nowhere meet at an infinite loss."""
    meeting, losses, starts, loss_starts, sizes = [], [], [0], [0], []
    by_group = group_losses(crowd.hierarchies)
    for attribute, (hierarchy, (_, high)) in enumerate(zip(crowd.hierarchies, bounds, strict=True)):
        leaves = len(hierarchy.levels[0].groups)
        sizes.append(leaves)
        lowest = np.full((leaves, leaves), high + 1, dtype=np.int32)
        for level in range(high, -1, -1):
            groups = hierarchy.levels[level].groups
            lowest[groups[:, None] == groups[None, :]] = level
        meeting.append(lowest.ravel())
        of_leaf = [by_group[attribute][level][hierarchy.levels[level].groups] for level in range(high + 1)]
        losses.append(np.concatenate([*of_leaf, np.full(leaves, np.inf)]))
        starts.append(starts[-1] + leaves * leaves)
        loss_starts.append(loss_starts[-1] + len(losses[-1]))
    shape = np.array([*sizes, *loss_starts[:-1]], dtype=np.int64)
    return np.concatenate(meeting), np.array(starts, dtype=np.int64), np.concatenate(losses), shape


def _alone(codes: Counts, tuple_: int, tables: Tables, levels: Codes) -> float:
    """The summed loss of one tuple at these levels."""
    _, _, losses, shape = tables
    width = len(levels)
    return float(sum(losses[shape[width + a] + int(levels[a]) * shape[a] + codes[a, tuple_]] for a in range(width)))


def _place_small(
    small: Sequence[int],
    full: list[tuple[int, Codes]],
    cluster: Counts,
    codes: Counts,
    tables: Tables,
    most_loss: float,
    watch: Checkpoint,
) -> None:
    """Put each tuple of a cluster that stayed too small into the nearest full one, as far as the ceiling allows."""
    if not full:
        return
    meeting, starts, _, shape = tables
    seeds = np.array([seed for seed, _ in full], dtype=np.int64)
    levels = np.stack([of_cluster for _, of_cluster in full])
    for seed in small:
        watch()
        for member in np.flatnonzero(cluster == seed).tolist():
            found = _nearest(member, codes, seeds, levels, *tables, most_loss)
            if found >= 0:
                cluster[member] = seeds[found]
                for a in range(len(shape) // 2):
                    met = meeting[starts[a] + codes[a, seeds[found]] * shape[a] + codes[a, member]]
                    levels[found, a] = max(levels[found, a], met)


def _parts(cluster: Counts, codes: Counts, tables: Tables, least: Codes) -> list[tuple[Counts, Levels]]:
    """The places of each cluster with its levels: for each attribute the lowest at which all of its leaves meet."""
    meeting, starts, _, shape = tables
    numbers, compact = np.unique(cluster, return_inverse=True)
    # Leaves meet pairwise with any one member just where all of them meet: hierarchies are nested.
    member = np.zeros(len(numbers), dtype=np.int64)
    member[compact] = np.arange(len(cluster))
    levels = np.tile(least, (len(numbers), 1))
    for a in range(len(least)):
        met = meeting[starts[a] + codes[a, member[compact]] * shape[a] + codes[a]]
        np.maximum.at(levels[:, a], compact, met)
    order = np.argsort(compact, kind="stable")
    pieces = np.split(order, np.flatnonzero(np.diff(compact[order])) + 1)
    return [(piece, tuple(int(x) for x in levels[compact[piece[0]]])) for piece in pieces]
