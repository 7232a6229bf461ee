"""What a release of h-ceiling costs: LM, reconstruction error RCE, and a price for counterfeits, over people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from medveil.loss.reconstruction import ROOM, ordered_error, reconstruction_error
from medveil.methods.h_ceiling.partition import ClassPartition, group_losses, widest
from medveil.methods.h_ceiling.people import Counts, PopulatedPlaces

Numbers = NDArray[np.float64]
ObjectiveName = Literal["lm", "rce", "mix"]


@dataclass(frozen=True)
class Objective:
    """What is made small, as a mean over people.

        lm:  weighted mean over quasi-identifiers of (leaves covered - 1) / (leaves - 1)
        rce: mean over attributes of e + (1 - p)^2 (1 - e), with e as in loss/reconstruction.py
        mix: the mean of both

    plus `price` for each counterfeit a person; a person who is left out loses 1. `ordered[a]`: whether the values of
    quasi-identifier a are in order. `sensitive`: how many sensitive attributes there are, none of which is looked at.
    """

    name: ObjectiveName
    price: float
    weights: Sequence[float]
    ordered: Sequence[bool]
    sensitive: int

    def _errors(self, points: Numbers, attribute: int, size: float) -> Numbers:
        return ordered_error(points, size) if self.ordered[attribute] else reconstruction_error(points)

    def by_level(self, crowd: PopulatedPlaces) -> list[Numbers]:
        """For each quasi-identifier and level, what it adds to the objective of a node where everybody is published
        and there is no counterfeit: no release of the node costs less than the sum of these.
        """
        covered, lost = widest(crowd.hierarchies), group_losses(crowd.hierarchies)
        share = np.asarray(self.weights) / max(float(np.sum(self.weights)), ROOM)
        found = []
        for a, (hierarchy, codes) in enumerate(zip(crowd.hierarchies, crowd.codes, strict=True)):
            column = np.bincount(codes, crowd.people, minlength=len(hierarchy.levels[0].groups)) / crowd.count
            of_levels = []
            for level, points, losses in zip(hierarchy.levels, covered[a], lost[a], strict=True):
                loss = share[a] * losses
                error = self._errors(points, a, hierarchy.size) / (len(crowd.names) + self.sensitive)
                of_levels.append(float((column * self._mixed(loss, error)[level.groups]).sum()))
            found.append(np.array(of_levels))
        return found

    @property
    def share_of_error(self) -> float:
        """How much of the objective RCE is; LM is the rest."""
        return {"lm": 0.0, "rce": 1.0, "mix": 0.5}[self.name]

    def _mixed(self, loss: Numbers, error: Numbers) -> Numbers:
        return (1.0 - self.share_of_error) * loss + self.share_of_error * error

    def of(self, partition: ClassPartition, real: Numbers, counterfeits: float, left_out: Numbers) -> float:
        """What a release costs whose records of each class are `real` with such a probability, and which leaves out
        such a share of the people of each class.
        """
        crowd = partition.crowd
        loss, error = self.by_class(partition, real)
        each = self._mixed(loss, error)
        each = each + left_out * (1.0 - each)
        mean = float((partition.people * each).sum()) / crowd.count
        return mean + self.price * counterfeits / crowd.count

    def by_class(self, partition: ClassPartition, real: Numbers) -> tuple[Numbers, Numbers]:
        """LM and RCE of the people of each class."""
        share = np.asarray(self.weights) / max(float(np.sum(self.weights)), ROOM)
        loss = np.asarray(share @ partition.losses, dtype=np.float64)
        sharpness = self.sharpness(partition)
        return loss, 1.0 - sharpness + np.square(1.0 - real) * sharpness

    def sharpness(self, partition: ClassPartition) -> Numbers:
        """The mean over all attributes of 1 - e in each class; e = 0 for a sensitive attribute."""
        crowd = partition.crowd
        total = np.full(len(partition), float(self.sensitive))
        for a, hierarchy in enumerate(crowd.hierarchies):
            total += 1.0 - self._errors(partition.points[a], a, hierarchy.size)
        return total / (len(crowd.names) + self.sensitive)


def bounds(by_level: Sequence[Numbers], nodes: NDArray[np.int8]) -> Numbers:
    """The sum of what the levels of each node (one a column) add."""
    total = np.zeros(nodes.shape[1])
    for of_levels, levels in zip(by_level, nodes, strict=True):
        total += of_levels[levels]
    return total


def lacking(people: Counts, k: int) -> int:
    """How many people the classes lack to have k each: no fill needs fewer counterfeits.

    >>> lacking(np.array([2, 5, 9, 4]), 5)
    4
    """
    return int(np.maximum(k - people, 0).sum())


def fewest(people: Counts, k: int) -> int:
    """The fewest counterfeits of any fill under which every bundle of a thin class may be another class's.

    The people of thin classes must each be shown elsewhere, and every thin class must show k: max(sum r_i, sum (k -
    r_i)) over the classes with r_i < k.

    >>> fewest(np.array([4, 4, 7]), 5), fewest(np.array([1, 1, 1, 1, 1]), 5)
    (8, 20)
    """
    thin = people[people < k]
    return max(int(thin.sum()), lacking(people, k))
