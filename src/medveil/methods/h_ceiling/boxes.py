"""Local recoding under a ceiling: boxes made of groups of the hierarchies, cut until none is above h.

Mondrian (LeFevre, DeWitt and Ramakrishnan 2006) cuts a box as long as its parts have k records. Here a box is one group
of each hierarchy, and a cut puts the children of one group in its place. A box above the ceiling is cut in any case,
where that leaves the fewest people missing; one below it only where every part has k people.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from medveil.lattice.space import Levels
from medveil.methods.h_ceiling.partition import ROUNDING, ClassPartition, group_losses, of_parts
from medveil.methods.h_ceiling.people import Codes, Counts, PopulatedPlaces

Checkpoint = Callable[[], None]
Bounds = Sequence[tuple[int, int]]
"""The least and the greatest level of each quasi-identifier."""


def cut_boxes(crowd: PopulatedPlaces, bounds: Bounds, h: float, k: int, watch: Checkpoint) -> ClassPartition | None:
    """Boxes under the ceiling; None where even the smallest allowed boxes are above it."""
    width = len(crowd.hierarchies)
    losses = group_losses(crowd.hierarchies)
    start = tuple(high for _, high in bounds)
    waiting = [(part, start) for part in _parts(crowd, np.arange(len(crowd)), start)]
    done: list[tuple[Counts, Levels]] = []
    while waiting:
        members, levels = waiting.pop()
        watch()
        degree = sum(float(losses[a][levels[a]][_group(crowd, members[0], a, levels[a])]) for a in range(width))
        forced = degree / width > h + ROUNDING
        cut = _best_cut(crowd, bounds, members, levels, losses, k, forced)
        if cut is None:
            if forced:
                return None
            done.append((members, levels))
            continue
        attribute, of_member = cut
        lower = (*levels[:attribute], levels[attribute] - 1, *levels[attribute + 1 :])
        order = np.argsort(of_member, kind="stable")
        ends = np.flatnonzero(np.diff(of_member[order])) + 1
        waiting.extend((members[part], lower) for part in np.split(order, ends))
    return of_parts(crowd, done)


def _group(crowd: PopulatedPlaces, place: int, attribute: int, level: int) -> int:
    return int(crowd.hierarchies[attribute].levels[level].groups[crowd.codes[attribute, place]])


def _parts(crowd: PopulatedPlaces, members: Counts, levels: Levels) -> list[Counts]:
    """The members by their groups at these levels: a greatest level below the root starts with several boxes."""
    keys = np.zeros(len(members), dtype=np.int64)
    for attribute, level in enumerate(levels):
        groups = crowd.hierarchies[attribute].levels[level].groups[crowd.codes[attribute, members]]
        _, keys = np.unique(keys * (int(groups.max()) + 1) + groups, return_inverse=True)
    order = np.argsort(keys, kind="stable")
    return [members[part] for part in np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)]


def _best_cut(
    crowd: PopulatedPlaces,
    bounds: Bounds,
    members: Counts,
    levels: Levels,
    losses: Sequence[Sequence[NDArray[np.float64]]],
    k: int,
    forced: bool,
) -> tuple[int, Codes] | None:
    """The attribute to cut by and the part of each member: no more people missing than before, or where forced as few
    as can be for what the cut brings down the degree; among equals the one that brings it down most.
    """
    best: tuple[tuple[float, float], int, Codes] | None = None
    already = max(k - int(_people(crowd, members, np.zeros(len(members), dtype=np.int64), 1)[0]), 0)
    for attribute, (low, _) in enumerate(bounds):
        level = levels[attribute]
        if level <= low:
            continue
        before = float(losses[attribute][level][_group(crowd, int(members[0]), attribute, level)])
        groups = crowd.hierarchies[attribute].levels[level - 1].groups[crowd.codes[attribute, members]]
        present, of_member = np.unique(groups, return_inverse=True)
        people = _people(crowd, members, of_member, len(present))
        missing = int(np.maximum(k - people, 0).sum()) - already
        gain = before - float(np.average(losses[attribute][level - 1][present], weights=people))
        if not forced and (missing or gain <= 0.0):
            continue
        key = (missing / max(gain, 1e-12) if missing else 0.0, -gain)
        if best is None or key < best[0]:
            best = (key, attribute, of_member.astype(np.int32))
    return None if best is None else (best[1], best[2])


def _people(crowd: PopulatedPlaces, members: Counts, of_member: NDArray[np.int64], number: int) -> Counts:
    """The people of each part."""
    return np.bincount(of_member, crowd.people[members], minlength=number).astype(np.int64)
