"""Classes of places: who publishes the same labels, and what those labels cover."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medveil.codes.rank import rank_combinations
from medveil.hierarchy.hierarchy import Hierarchy
from medveil.lattice.space import Levels
from medveil.loss.generalization import loss_metric
from medveil.methods.h_ceiling.people import Codes, Counts, PopulatedPlaces

Numbers = NDArray[np.float64]

ROUNDING = 1e-9
"""What rounding may add to a degree."""


@dataclass(frozen=True)
class ClassPartition:
    """The class of each place; for each quasi-identifier and class the level and the group that it publishes."""

    crowd: PopulatedPlaces
    class_of_place: Codes
    levels: Codes
    groups: Codes

    def __len__(self) -> int:
        return self.levels.shape[1]

    @cached_property
    def people(self) -> Counts:
        """How many people live in each class."""
        return np.bincount(self.class_of_place, self.crowd.people, minlength=len(self)).astype(np.int64)

    @cached_property
    def points(self) -> Numbers:
        """For each quasi-identifier and class, how many values of the domain its label covers."""
        return np.asarray(self._looked_up(widest(self.crowd.hierarchies)), dtype=np.float64)

    @cached_property
    def degrees(self) -> Numbers:
        """How strongly each class is generalized: the mean over quasi-identifiers of (covered - 1) / (leaves - 1)."""
        return np.asarray(self.losses.mean(axis=0), dtype=np.float64)

    @cached_property
    def losses(self) -> Numbers:
        """For each quasi-identifier and class (leaves covered - 1) / (leaves - 1)."""
        sizes = [hierarchy.size for hierarchy in self.crowd.hierarchies]
        return np.stack([loss_metric(points, size) for points, size in zip(self.points, sizes, strict=True)])

    @cached_property
    def places(self) -> Counts:
        """For each quasi-identifier and class, the first leaf that its label stands for: where it is in order."""
        first = []
        for hierarchy in self.crowd.hierarchies:
            of_levels = []
            for level in hierarchy.levels:
                leaf = np.full(len(level.labels), len(level.groups), dtype=np.int64)
                np.minimum.at(leaf, level.groups, np.arange(len(level.groups)))
                of_levels.append(leaf)
            first.append(of_levels)
        return np.asarray(self._looked_up(first), dtype=np.int64)

    def _looked_up(self, tables: Sequence[Sequence[NDArray[Any]]]) -> NDArray[Any]:
        """For each quasi-identifier and class the entry of its level's table at its group."""
        found = np.zeros(self.groups.shape, dtype=tables[0][0].dtype if len(tables) else np.float64)
        for attribute, by_level in enumerate(tables):
            for level in np.unique(self.levels[attribute]).tolist():
                here = self.levels[attribute] == level
                found[attribute, here] = by_level[level][self.groups[attribute, here]]
        return found

    def fits(self, codes: Codes, classes: Counts) -> NDArray[np.bool_]:
        """Whether the labels of the class beside it stand for each combination of leaf codes."""
        found = np.ones(len(classes), dtype=np.bool_)
        for attribute, hierarchy in enumerate(self.crowd.hierarchies):
            stacked = np.stack([level.groups for level in hierarchy.levels])
            here = stacked[self.levels[attribute, classes], codes[attribute]]
            found &= here == self.groups[attribute, classes]
        return found


def widest(hierarchies: Sequence[Hierarchy]) -> list[list[Numbers]]:
    """How many leaves each label stands for as a recipient reads it: where it is of several levels, at the widest."""
    found = []
    for hierarchy in hierarchies:
        covers: dict[str | None, float] = {}
        for level in hierarchy.levels:
            for label, covered in zip(level.labels, level.covered.tolist(), strict=True):
                covers[label] = max(covers.get(label, 0.0), covered)
        found.append([np.array([covers[label] for label in level.labels]) for level in hierarchy.levels])
    return found


def group_losses(hierarchies: Sequence[Hierarchy]) -> list[list[Numbers]]:
    """For each quasi-identifier and level, (leaves covered - 1) / (leaves - 1) of each group."""
    return [
        [loss_metric(covered, hierarchy.size) for covered in by_level]
        for hierarchy, by_level in zip(hierarchies, widest(hierarchies), strict=True)
    ]


def at_node(crowd: PopulatedPlaces, levels: Levels) -> ClassPartition:
    """The classes of one level a column."""
    chosen = [hierarchy.levels[level] for hierarchy, level in zip(crowd.hierarchies, levels, strict=True)]
    lookups = [np.ascontiguousarray(level.groups) for level in chosen]
    class_of_place, first = rank_combinations(list(crowd.codes), lookups, len(crowd))
    groups = [level.groups[codes[first]] for level, codes in zip(chosen, crowd.codes, strict=True)]
    return ClassPartition(
        crowd,
        class_of_place,
        np.tile(np.array(levels, dtype=np.int32)[:, None], (1, len(first))),
        np.array(groups, dtype=np.int32).reshape(len(levels), len(first)),
    )


def of_parts(crowd: PopulatedPlaces, parts: Sequence[tuple[Counts, Levels]]) -> ClassPartition:
    """Parts of the places with the level of every quasi-identifier; what publishes the same labels is one class."""
    known: dict[tuple[str | None, ...], int] = {}
    class_of_place = np.empty(len(crowd), dtype=np.int32)
    levels: list[Levels] = []
    groups: list[Levels] = []
    for members, of_part in parts:
        at = [hierarchy.levels[level] for hierarchy, level in zip(crowd.hierarchies, of_part, strict=True)]
        here = tuple(int(level.groups[crowd.codes[a, members[0]]]) for a, level in enumerate(at))
        number = known.setdefault(tuple(level.labels[group] for level, group in zip(at, here, strict=True)), len(known))
        class_of_place[members] = number
        if number == len(levels):
            levels.append(of_part)
            groups.append(here)
    return ClassPartition(
        crowd, class_of_place, np.array(levels, dtype=np.int32).T.copy(), np.array(groups, dtype=np.int32).T.copy()
    )
