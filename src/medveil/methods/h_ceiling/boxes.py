"""Local recoding under a ceiling: boxes made of groups of the hierarchies, cut until none is above h.

Mondrian (LeFevre, DeWitt and Ramakrishnan 2006) cuts a box as long as its parts have k records. Here a box is one group
of each hierarchy, and a cut puts the children of one group in its place. A box above the ceiling is cut in any case,
where that leaves the fewest people missing; one below it only where every part has k people.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medveil.cells import Cells
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.methods.h_ceiling.degree import ROUNDING
from medveil.methods.h_ceiling.holdings import Codes, Counts

Watch = Callable[[], None]


@dataclass(frozen=True)
class Recoding:
    """The class of each cell, and for each quasi-identifier and class the level and the group that it publishes."""

    class_of_cell: Codes
    levels: Codes
    groups: Codes


class Scale:
    """What the groups of the hierarchies cover, as a recipient reads them.

    A label that stands at several levels is read as the widest of them, so that a degree is never understated.
    """

    def __init__(self, hierarchies: Sequence[Hierarchy]) -> None:
        self.hierarchies = tuple(hierarchies)
        self.covered: list[list[NDArray[np.float64]]] = []
        for hierarchy in hierarchies:
            widest: dict[str | None, float] = {}
            for level in hierarchy.levels:
                for label, covered in zip(level.labels, level.covered.tolist(), strict=True):
                    widest[label] = max(widest.get(label, 0.0), covered)
            self.covered.append([np.array([widest[label] for label in level.labels]) for level in hierarchy.levels])

    def losses(self, attribute: int, level: int) -> NDArray[np.float64]:
        """(leaves covered - 1) / (leaves - 1) of each group of a level."""
        span = max(self.hierarchies[attribute].size - 1.0, 1.0)
        return np.asarray((self.covered[attribute][level] - 1.0) / span, dtype=np.float64)

    def points(self, recoding: Recoding) -> NDArray[np.float64]:
        """For each quasi-identifier and class, how many values of the domain its label covers."""
        found = np.ones(recoding.groups.shape)
        for attribute, by_level in enumerate(self.covered):
            for level, covered in enumerate(by_level):
                here = recoding.levels[attribute] == level
                found[attribute, here] = covered[recoding.groups[attribute, here]]
        return found


def cut_boxes(
    cells: Cells,
    scale: Scale,
    bounds: Sequence[tuple[int, int]],
    h: float,
    k: int,
    watch: Watch,
) -> Recoding | None:
    """Boxes under the ceiling; None where even the smallest allowed boxes are above it.

    `bounds`: the least and the greatest level of each quasi-identifier.
    """
    width = len(scale.hierarchies)
    losses = [[scale.losses(a, level) for level in range(high + 1)] for a, (_, high) in enumerate(bounds)]
    start = tuple(high for _, high in bounds)
    waiting = [(part, start) for part in _parts(cells, scale, np.arange(len(cells)), start)]
    done: list[tuple[Counts, tuple[int, ...]]] = []
    while waiting:
        members, levels = waiting.pop()
        watch()
        degree = sum(float(losses[a][levels[a]][_group(cells, scale, members[0], a, levels[a])]) for a in range(width))
        forced = degree / width > h + ROUNDING
        cut = _best_cut(cells, scale, bounds, members, levels, losses, k, forced)
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
    return recoding_of(cells, scale, done)


def recoding_of(cells: Cells, scale: Scale, parts: Sequence[tuple[Counts, tuple[int, ...]]]) -> Recoding:
    """Parts of the cells with the level of every quasi-identifier; what publishes the same labels is one class."""
    known: dict[tuple[str | None, ...], int] = {}
    class_of_cell = np.empty(len(cells), dtype=np.int32)
    levels: list[tuple[int, ...]] = []
    groups: list[tuple[int, ...]] = []
    for members, of_part in parts:
        here = tuple(_group(cells, scale, members[0], a, level) for a, level in enumerate(of_part))
        labels = tuple(
            h.levels[level].labels[group] for h, level, group in zip(scale.hierarchies, of_part, here, strict=True)
        )
        number = known.setdefault(labels, len(known))
        class_of_cell[members] = number
        if number == len(levels):
            levels.append(of_part)
            groups.append(here)
    return Recoding(class_of_cell, np.array(levels, dtype=np.int32).T.copy(), np.array(groups, dtype=np.int32).T.copy())


def _group(cells: Cells, scale: Scale, cell: int, attribute: int, level: int) -> int:
    return int(scale.hierarchies[attribute].levels[level].groups[cells.codes[attribute, cell]])


def _parts(cells: Cells, scale: Scale, members: Counts, levels: tuple[int, ...]) -> list[Counts]:
    """The members by their groups at these levels: a greatest level below the root starts with several boxes."""
    keys = np.zeros(len(members), dtype=np.int64)
    for attribute, level in enumerate(levels):
        groups = scale.hierarchies[attribute].levels[level].groups[cells.codes[attribute, members]]
        _, keys = np.unique(keys * (int(groups.max()) + 1) + groups, return_inverse=True)
    order = np.argsort(keys, kind="stable")
    return [members[part] for part in np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)]


def _best_cut(
    cells: Cells,
    scale: Scale,
    bounds: Sequence[tuple[int, int]],
    members: Counts,
    levels: tuple[int, ...],
    losses: Sequence[Sequence[NDArray[np.float64]]],
    k: int,
    forced: bool,
) -> tuple[int, Codes] | None:
    """The attribute to cut by and the part of each member: no more people missing than before, or where forced as few
    as can be for what the cut brings down the degree; among equals the one that brings it down most.
    """
    best: tuple[tuple[float, float], int, Codes] | None = None
    already = max(k - int(_people(cells, members, np.zeros(len(members), dtype=np.int64), 1)[0]), 0)
    for attribute, (low, _) in enumerate(bounds):
        level = levels[attribute]
        if level <= low:
            continue
        before = float(losses[attribute][level][_group(cells, scale, int(members[0]), attribute, level)])
        groups = scale.hierarchies[attribute].levels[level - 1].groups[cells.codes[attribute, members]]
        present, of_member = np.unique(groups, return_inverse=True)
        people = _people(cells, members, of_member, len(present))
        missing = int(np.maximum(k - people, 0).sum()) - already
        gain = before - float(np.average(losses[attribute][level - 1][present], weights=people))
        if not forced and (missing or gain <= 0.0):
            continue
        key = (missing / max(gain, 1e-12) if missing else 0.0, -gain)
        if best is None or key < best[0]:
            best = (key, attribute, of_member.astype(np.int32))
    return None if best is None else (best[1], best[2])


def _people(cells: Cells, members: Counts, of_member: NDArray[np.int64], number: int) -> Counts:
    """The people of each part; records where no subject is declared."""
    if cells.subjects is None:
        return np.bincount(of_member, cells.counts[members], minlength=number).astype(np.int64)
    offsets = cells.subjects.offsets
    sizes = offsets[members + 1] - offsets[members]
    part = np.repeat(of_member, sizes)
    nth = np.arange(len(part)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    person = cells.subjects.codes[np.repeat(offsets[members], sizes) + nth].astype(np.int64)
    distinct = np.unique(part * cells.subjects.count + person)
    return np.bincount(distinct // cells.subjects.count, minlength=number).astype(np.int64)
