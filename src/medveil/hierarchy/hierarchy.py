"""Generalization as array look-ups: for each level, from leaf code to group code."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from medveil.errors import InputError
from medveil.table.labels import ANYTHING

ROOT = ANYTHING


@dataclass(frozen=True)
class Level:
    """One level: `groups[leaf]` is the leaf's group, `labels[group]` what is published for it (None: missing),
    `covered[group]` how many leaves of the whole domain it stands for.
    """

    groups: NDArray[np.int32]
    labels: tuple[str | None, ...]
    covered: NDArray[np.float64]


@dataclass(frozen=True)
class Hierarchy:
    """Levels from the values themselves (level 0) to one root.

    Leaves are the values of the column's Domain, in its order; `size` counts the leaves of the whole *declared*
    domain, which may be larger than what the data hold (a zip code has 100,000).
    """

    levels: tuple[Level, ...]
    size: float

    @property
    def height(self) -> int:
        """The number of the top level."""
        return len(self.levels) - 1

    @cached_property
    def losses(self) -> tuple[NDArray[np.float64], ...]:
        """For each level, each *leaf's* loss LM = (leaves covered - 1) / (leaves - 1): 0 for a leaf, 1 for the root."""
        span = max(self.size - 1.0, 1.0)
        return tuple((level.covered[level.groups] - 1.0) / span for level in self.levels)


def build(
    leaves: Sequence[str | None],
    columns: Sequence[Sequence[str | None]],
    covered: Sequence[Sequence[float]] | None,
    size: float,
    name: str,
) -> Hierarchy:
    """A hierarchy from the label of each leaf at each level above 0, and how many domain leaves that label covers.

    `covered` is parallel to `columns`; where it is None, coverage is counted over `leaves`, which then are the whole
    domain. A root is added where the last level is not one group. Levels must be nested.
    """
    count = len(leaves)
    levels = [Level(np.arange(count, dtype=np.int32), tuple(leaves), np.ones(count))]
    for index, column in enumerate(columns):
        labels: dict[str | None, int] = {}
        groups = np.fromiter((labels.setdefault(label, len(labels)) for label in column), np.int32, count)
        if covered is None:
            share = np.bincount(groups, minlength=len(labels)).astype(np.float64)
        else:
            share = np.zeros(len(labels))
            share[groups] = np.asarray(covered[index], dtype=np.float64)
        levels.append(Level(groups, tuple(labels), share))
    top = levels[-1]
    if len(levels) == 1 or len(top.labels) > 1 or (count and top.covered[0] < size):
        levels.append(Level(np.zeros(count, dtype=np.int32), (ROOT,), np.array([size])))
    check_nested(levels, name)
    return Hierarchy(tuple(levels), size)


def check_nested(levels: Sequence[Level], name: str) -> None:
    """Leaves that share a group at one level must share one at every level above."""
    for number, (lower, upper) in enumerate(itertools.pairwise(levels)):
        parent = np.full(len(lower.labels), -1, dtype=np.int32)
        parent[lower.groups] = upper.groups
        if np.any(parent[lower.groups] != upper.groups):
            raise InputError(
                f"The hierarchy of '{name}' is not nested: a group of level {number} lies in several groups above it.",
                "Give every group exactly one parent.",
            )
