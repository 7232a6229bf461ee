"""What pairs of quasi-identifiers already rule out, before any node is checked.

A node's classes lie within its classes on any two of its quasi-identifiers alone. Records in too small classes there
are in too small classes of the node too, so they must be suppressed whatever the other levels are.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from medveil.lattice import kernels
from medveil.lattice.checker import Checker
from medveil.lattice.tables import parents
from medveil.privacy.model import Requirement

CROSS_LIMIT = 1 << 20
"""The most entries of a cross table."""


class Pairs:
    """For each pair of quasi-identifiers and each pair of their levels, records that are suppressed for certain.

    `small[a, b][i, j]` is for level `space.bottom[a] + i` of a and `space.bottom[b] + j` of b.
    """

    def __init__(self, evaluator: Checker, run: Callable[..., Iterable[NDArray[np.int64]]]) -> None:
        """`run` is `map`, or that of an executor."""
        self.space = evaluator.space
        pairs = list(pairs_of(evaluator.requirements, len(evaluator.space)))
        counted = run(lambda pair: _small(evaluator, *pair), pairs)
        self.small = {(first, second): small for (first, second, _), small in zip(pairs, counted, strict=True)}

    def certain(self) -> NDArray[np.int64]:
        """For every node of the space, by id, the records that some pair suppresses for certain."""
        most = np.zeros(self.space.shape, dtype=np.int64)
        for (first, second), small in self.small.items():
            shape = [1] * len(self.space)
            shape[first], shape[second] = small.shape
            np.maximum(most, small.reshape(shape), out=most)
        return most.ravel()

    def certain_at(self, levels: tuple[int, ...]) -> int:
        """The same for one node."""
        bottom = self.space.bottom
        return max(
            (int(small[levels[a] - bottom[a], levels[b] - bottom[b]]) for (a, b), small in self.small.items()),
            default=0,
        )


def pairs_of(requirements: Sequence[Requirement], width: int) -> Iterator[tuple[int, int, int]]:
    """Pairs of so many quasi-identifiers within some model's shield, each with the largest class size asked there."""
    shields = [(set(r.shield), r.model.least_class_size or 1) for r in requirements]
    for first, second in itertools.combinations(range(width), 2):
        enough = max((k for shield, k in shields if shield.issuperset((first, second))), default=1)
        if enough > 1:
            yield first, second, enough


def _small(evaluator: Checker, first: int, second: int, enough: int) -> NDArray[np.int64]:
    space = evaluator.space
    low = [space.bottom[first], space.bottom[second]]
    number = [_groups(evaluator, first, low[0]), _groups(evaluator, second, low[1])]
    while number[0] * number[1] > CROSS_LIMIT:
        # A coarser pair rules out less, but what it rules out stays so for finer levels.
        wider = 0 if number[0] >= number[1] else 1
        position = (first, second)[wider]
        if low[wider] == space.top[position]:
            return np.zeros((space.shape[first], space.shape[second]), dtype=np.int64)
        low[wider] += 1
        number[wider] = _groups(evaluator, position, low[wider])
    groups = []
    for position, level in zip((first, second), low, strict=True):
        hierarchy = space.hierarchies[position]
        groups.append(np.stack([parents(hierarchy, level, high) for high in range(level, space.top[position] + 1)]))
    cross = evaluator.cross(first, low[0], second, low[1])
    found = np.zeros((len(groups[0]), len(groups[1])), dtype=np.int64)
    kernels.small_in_cross(cross, groups[0], groups[1], enough, np.zeros_like(cross), np.zeros_like(cross), found)
    missing = ((low[0] - space.bottom[first], 0), (low[1] - space.bottom[second], 0))
    return np.pad(found, missing, mode="edge")


def _groups(evaluator: Checker, position: int, level: int) -> int:
    return len(evaluator.space.hierarchies[position].levels[level].labels)
