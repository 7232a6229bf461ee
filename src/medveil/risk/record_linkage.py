"""Record linkage, run: an attacker who holds the quasi-identifiers of a sample of people."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from medveil.risk.risk import EXACT, Comparison, Risk, RiskFinding, Skipped, counted_rate
from medveil.risk.targets import draw_targets


class RecordLinkage(Risk):
    """How often an attacker who knows somebody's quasi-identifiers points at that person's record.

    For each target the attacker takes every published record whose labels cover what they know, and points at one of
    them at random. It is right if it is the target's own; a target who is not published is never found. The guesser
    points at any published record.
    """

    name: ClassVar[str] = "record-linkage"
    title: ClassVar[str] = "Attack: record linkage"
    cheap: ClassVar[bool] = False
    needs_original: ClassVar[bool] = True

    def assess(self, comparison: Comparison) -> RiskFinding | Skipped:
        if not len(comparison.classes):
            return Skipped("nothing was published")
        random = comparison.random(self.name)
        targets = draw_targets(comparison, random)
        candidates = np.maximum(targets.candidates, 1)
        right = (random.integers(0, candidates) == 0) & targets.published
        rate, low, high = counted_rate(int(np.count_nonzero(right)), len(targets))
        alone = targets.published & (targets.candidates == 1)
        return RiskFinding(
            rate,
            1.0 / float(comparison.sizes.sum()),
            low,
            high,
            EXACT,
            len(targets),
            {"one candidate only": float(alone.mean()), "median candidates": float(np.median(targets.candidates))},
            comparison.counted,
        )
