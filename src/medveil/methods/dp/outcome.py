"""What the proved form of IPA lets out: cells by stratum, rows of `*`, and the marginals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from medveil.lattice.space import Levels, Space
from medveil.methods.dp.strata import CLASS_THRESHOLDS

Integers = NDArray[np.int64]
Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Part:
    """The published cells of one stratum.

    values: its informative values, as codes of the table that went in.
    keys, counts: the cells, numbered on the grid at `levels` over these values, ascending, with their noisy counts.
    """

    levels: Levels
    threshold: int
    values: Codes
    keys: Integers
    counts: Integers

    @cached_property
    def classes(self) -> Integers:
        """The number of each cell's class, its informative value aside."""
        return self.keys // max(len(self.values), 1)

    @cached_property
    def informative(self) -> Codes:
        """The informative value of each cell."""
        return self.values[self.keys % max(len(self.values), 1)] if len(self.values) else np.zeros(0, dtype=np.int32)


@dataclass(frozen=True)
class Outcome:
    """Everything that recipients get.

    values: the informative values that were released, as codes of the table that went in.
    stars: for each of them, how many rows have `*` in every dimension.
    marginals: for each dimension the noisy number of records in each group of its marginal level.
    """

    space: Space
    values: Codes
    parts: tuple[Part, ...]
    stars: Integers
    marginals: tuple[Integers, ...]

    @property
    def common_levels(self) -> list[int | None]:
        """The level of each dimension, None where it differs by stratum."""
        each = [{part.levels[position] for part in self.parts} for position in range(len(self.space))]
        return [levels.pop() if len(levels) == 1 else None for levels in each]


def large_classes(parts: Sequence[Part]) -> tuple[Part, ...]:
    """The parts without classes of few rows, which become `*`: where hardly anything of a class passes its threshold,
    noise alone may have done so. A class is what has the same labels, of whichever strata: post-processing.
    """
    kept = []
    for levels in {part.levels: None for part in parts}:
        together = [part for part in parts if part.levels == levels]
        classes = np.concatenate([part.classes for part in together])
        number, owner = np.unique(classes, return_inverse=True)
        rows = np.zeros(len(number), dtype=np.int64)
        np.add.at(rows, owner, np.concatenate([part.counts for part in together]))
        least = CLASS_THRESHOLDS * max(part.threshold for part in together)
        large = number[rows >= least]
        kept += [(part, np.isin(part.classes, large)) for part in together]
    order = {id(part): position for position, part in enumerate(parts)}
    kept.sort(key=lambda one: order[id(one[0])])
    return tuple(replace(part, keys=part.keys[large], counts=part.counts[large]) for part, large in kept)
