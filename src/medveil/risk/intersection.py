"""Intersection, run: an attacker who holds two releases of the same people."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from medveil.risk.risk import EXACT, Comparison, Risk, RiskFinding, Skipped, counted_rate
from medveil.risk.targets import Targets, draw_targets


class Intersection(Risk):
    """How often an attacker with two releases of the same people can be certain of a sensitive value.

    For each target the attacker takes the sensitive values that are possible in the one release and in the other; one
    that is left alone must be the target's. The guesser is the better of two attackers who have one release each.
    Ganta, Kasiviswanathan and Smith 2008, Composition attacks and auxiliary information in data privacy.
    """

    name: ClassVar[str] = "intersection"
    title: ClassVar[str] = "Attack: intersection of two releases"
    cheap: ClassVar[bool] = False
    needs_original: ClassVar[bool] = True

    def assess(self, comparison: Comparison) -> RiskFinding | Skipped:
        other = comparison.other
        if other is None:
            return Skipped("there is no second release of the same people (--other)")
        if not comparison.sensitive_coverage:
            return Skipped("there is no sensitive attribute")
        targets = draw_targets(comparison, comparison.random(self.name))
        found = {name: self._certain(comparison, other, targets, name) for name in comparison.sensitive_coverage}
        worst = max(found, key=lambda name: float(found[name][0].mean()))
        both, first, second = found[worst]
        rate, low, high = counted_rate(int(np.count_nonzero(both)), len(targets))
        guesser = max(float(first.mean()), float(second.mean()))
        parts = {f"certain of {name}": float(hits[0].mean()) for name, hits in found.items()}
        parts |= {"with the first release alone": float(first.mean()), "with the second alone": float(second.mean())}
        note = f"The figure is that of '{worst}'."
        return RiskFinding(rate, guesser, low, high, EXACT, len(targets), parts, comparison.counted, note)

    def _certain(
        self, comparison: Comparison, other: Comparison, targets: Targets, name: str
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Who is certainly known from both releases, from the first, from the second."""
        size = len(comparison.problem.cells.domains[name])
        truth = targets.values(name)
        first, second = (_possible(one, targets, name, size) for one in (comparison, other))
        both = np.intersect1d(first, second)
        return _alone(both, size, truth), _alone(first, size, truth), _alone(second, size, truth)


def _possible(one: Comparison, targets: Targets, name: str, size: int) -> NDArray[np.int64]:
    """The values that are possible for each target in one release, as target * size + value."""
    beliefs = Targets(one, targets.cells).beliefs(one.histogram(name))
    return beliefs.classes * size + beliefs.values


def _alone(keys: NDArray[np.int64], size: int, truth: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each target has one possible value, the true one."""
    number = np.bincount(keys // size, minlength=len(truth))
    right = np.zeros(len(truth), dtype=np.bool_)
    right[(keys // size)[keys % size == truth[keys // size]]] = True
    return np.asarray(right & (number == 1))
