"""The normalized certainty penalty NCP of a release."""

from __future__ import annotations

from typing import ClassVar

from medveil.loss.generalization import certainty_penalty
from medveil.utility.measure import Comparison, Measure, Score, Skipped
from medveil.utility.per_attribute import weighted_by_attribute


class NormalizedCertaintyPenalty(Measure):
    """How large a part of the domain a published value covers.

        NCP = mean over records and weighted mean over quasi-identifiers of (leaves covered) / leaves, 0 for a leaf

    A record of the input that is not published counts 1.

    Xu, Wang, Pei, Wang, Shi and Fu 2006, Utility-based anonymization using local recoding; divided by the number of
    attributes, so that it stays between 0 and 1.
    """

    name: ClassVar[str] = "ncp"
    title: ClassVar[str] = "Certainty penalty (NCP)"

    def compute(self, comparison: Comparison) -> Score | Skipped:
        return weighted_by_attribute(
            comparison,
            lambda coverage: certainty_penalty(coverage.covered, coverage.size),
        )
