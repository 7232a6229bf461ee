"""What a measure is: from the original and what was published to a score, or to the reason why there is none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from medveil.methods.problem import Problem
from medveil.utility.coverage import Coverage, cover


@dataclass(frozen=True)
class Score:
    """A figure, with the ends of its confidence interval where it is estimated; `parts` by attribute or query."""

    value: float
    low: float | None = None
    high: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Skipped:
    """Why there is no figure."""

    reason: str


@dataclass(frozen=True)
class Comparison:
    """The original, and what recipients got of it: the published table as text, and what came with it."""

    problem: Problem
    published: pa.Table
    method: Mapping[str, Any] = field(default_factory=dict)
    companions: Mapping[str, pa.Table] = field(default_factory=dict)

    @cached_property
    def coverage(self) -> Mapping[str, Coverage]:
        """For each published quasi-identifier, what its labels stand for."""
        return {
            name: cover(self.published[name], self.problem.cells.domains[name], self.problem.hierarchies[name])
            for name in self.problem.schema.quasi
        }

    @cached_property
    def suppressed(self) -> NDArray[np.bool_]:
        """Which published rows are nothing but `*`."""
        stars = np.ones(self.published.num_rows, dtype=np.bool_)
        for column in self.published.columns:
            stars &= np.asarray(pc.fill_null(pc.equal(column.cast(pa.string()), "*"), fill_value=False))
        return stars


class Measure(ABC):
    """A measure of what a release is still good for; found by being there."""

    name: ClassVar[str]
    title: ClassVar[str]
    lower_is_better: ClassVar[bool] = True

    @abstractmethod
    def compute(self, comparison: Comparison) -> Score | Skipped:
        """The score, or why there is none."""
