"""What a method that claims differential privacy offers to be tried on: a mechanism on two neighbouring tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Draw = Callable[[int], Integers]
"""So many runs on one table: one row a run, one column a feature of what came out."""


@dataclass(frozen=True)
class PrivacyTrial:
    """A mechanism, or a part of one, on two neighbouring tables.

    part: `whole`, or the part of the budget that is tried on its own.
    scenario: what the two tables are, in words.
    without, with_: the runs on the table without and with the person, or with as many people as `group` says: what
        changes by exp(epsilon) for one changes by exp(group * epsilon) for a group, which shows with fewer runs.
    """

    part: str
    scenario: str
    epsilon: float
    delta: float
    features: tuple[str, ...]
    without: Draw
    with_: Draw
    runs: int
    group: int = 1

    @property
    def group_delta(self) -> float:
        """What the delta of one person allows a group: delta * (1 + e^epsilon + ... + e^((group - 1) epsilon))."""
        return self.delta * sum(math.exp(number * self.epsilon) for number in range(self.group))
