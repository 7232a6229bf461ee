"""The loss metric LM of a release."""

from __future__ import annotations

from typing import ClassVar

from medveil.loss.generalization import loss_metric
from medveil.utility.measure import Comparison, Measure, Score, Skipped
from medveil.utility.per_attribute import weighted_by_attribute


class LossMetric(Measure):
    """How much of each value's detail is gone.

        LM = mean over records and weighted mean over quasi-identifiers of (leaves covered - 1) / (leaves - 1)

    A record of the input that is not published counts 1.

    Iyengar 2002, Transforming data to satisfy privacy constraints.
    """

    name: ClassVar[str] = "lm"
    title: ClassVar[str] = "Loss of detail (LM)"

    def compute(self, comparison: Comparison) -> Score | Skipped:
        return weighted_by_attribute(
            comparison,
            lambda coverage: loss_metric(coverage.covered, coverage.size),
        )
