"""Attribute inference, run: what an attacker who knows somebody's quasi-identifiers learns of sensitive values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from medveil.codes.combine import Codes
from medveil.risk.risk import EXACT, Comparison, Risk, RiskFinding, Skipped, counted_rate
from medveil.risk.targets import AttackerGuess, Targets, draw_targets, guess

NO_SENSITIVE = "there is no sensitive attribute"


@dataclass(frozen=True)
class Attempt:
    """The attack on one sensitive attribute: what the attacker says of each target, and what is true."""

    attribute: str
    said: AttackerGuess
    truth: Codes
    usual: int
    """The most common value of the release: what a guesser says."""
    prior: NDArray[np.float64]
    """The share of each target's own value in the whole release."""

    @property
    def rate(self) -> float:
        """How often the attacker is right."""
        return float(np.mean(self.said.value == self.truth))

    @property
    def guesser(self) -> float:
        """How often the guesser is right."""
        return float(np.mean(self.truth == self.usual))


def attempts(comparison: Comparison, targets: Targets) -> list[Attempt]:
    """The attack on every sensitive attribute. Of whom no record may be, the attacker says what a guesser would."""
    found = []
    for name in comparison.sensitive_coverage:
        histogram = comparison.histogram(name)
        truth = targets.values(name)
        size = len(comparison.problem.cells.domains[name])
        overall = np.bincount(histogram.values, histogram.weights, minlength=size)
        said = guess(targets.beliefs(histogram), truth)
        shares = overall / max(float(overall.sum()), 1e-300)
        usual = int(np.argmax(overall))
        said = replace(said, value=np.where(said.value < 0, usual, said.value))
        found.append(Attempt(name, said, truth, usual, shares[truth]))
    return found


class AttributeInference(Risk):
    """How often an attacker who knows somebody's quasi-identifiers guesses a sensitive value rightly.

    The attacker says the most common value among the records that may be the target's, the guesser the most common one
    of the whole release, and so does the attacker where no record may be the target's. The figures are those of the
    attribute where the attacker gains most. `belief doubled`: the share of targets whose true value is at least twice
    as likely among the candidates as in the whole release (skewness: Li, Li and Venkatasubramanian 2007, t-closeness).
    """

    name: ClassVar[str] = "attribute-inference"
    title: ClassVar[str] = "Attack: attribute inference"
    cheap: ClassVar[bool] = False
    needs_original: ClassVar[bool] = True

    def assess(self, comparison: Comparison) -> RiskFinding | Skipped:
        if not comparison.sensitive_coverage:
            return Skipped(NO_SENSITIVE)
        if not len(comparison.classes):
            return Skipped("nothing was published")
        targets = draw_targets(comparison, comparison.random(self.name))
        tried = attempts(comparison, targets)
        worst = max(tried, key=lambda attempt: attempt.rate - attempt.guesser)
        hits = int(np.count_nonzero(worst.said.value == worst.truth))
        rate, low, high = counted_rate(hits, len(targets))
        parts = {f"right about {a.attribute}": a.rate for a in tried}
        parts |= {f"belief doubled, {a.attribute}": float((a.said.truth >= 2 * a.prior).mean()) for a in tried}
        note = f"The figure is that of '{worst.attribute}'."
        return RiskFinding(rate, worst.guesser, low, high, EXACT, len(targets), parts, comparison.counted, note)


class Homogeneity(Risk):
    """How often an attacker who knows somebody's quasi-identifiers can be certain of a sensitive value.

    All records that may be the target's have the same value, and it is the target's own. Without the release nobody
    is certain, unless everybody has the same value. The figure is that of the attribute where it is highest.
    Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam 2007, l-diversity.
    """

    name: ClassVar[str] = "homogeneity"
    title: ClassVar[str] = "Attack: homogeneity"
    cheap: ClassVar[bool] = False
    needs_original: ClassVar[bool] = True

    def assess(self, comparison: Comparison) -> RiskFinding | Skipped:
        if not comparison.sensitive_coverage:
            return Skipped(NO_SENSITIVE)
        if not len(comparison.classes):
            return Skipped("nothing was published")
        targets = draw_targets(comparison, comparison.random(self.name))
        tried = attempts(comparison, targets)
        certain = {a.attribute: (a.said.possible == 1) & (a.said.value == a.truth) for a in tried}
        worst = max(tried, key=lambda a: float(certain[a.attribute].mean()))
        rate, low, high = counted_rate(int(np.count_nonzero(certain[worst.attribute])), len(targets))
        parts = {f"certain of {name}": float(hits.mean()) for name, hits in certain.items()}
        guesser = float(np.all(worst.prior >= 1.0))
        note = f"The figure is that of '{worst.attribute}'."
        return RiskFinding(rate, guesser, low, high, EXACT, len(targets), parts, comparison.counted, note)
