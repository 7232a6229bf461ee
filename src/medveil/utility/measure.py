"""What a measure is: from the original and what was published to a score, or to the reason why there is none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from medveil.evaluation.comparison import Comparison, Score, Skipped

__all__ = ["Comparison", "Measure", "Score", "Skipped"]


class Measure(ABC):
    """A measure of what a release is still good for; found by being there.

    cheap: it may be computed for every release; others only where somebody asks.
    needs_original: there is no figure without the original.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    lower_is_better: ClassVar[bool] = True
    cheap: ClassVar[bool] = True
    needs_original: ClassVar[bool] = True

    @abstractmethod
    def compute(self, comparison: Comparison) -> Score | Skipped:
        """The score, or why there is none."""
