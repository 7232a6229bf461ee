"""The three attackers of re-identification: prosecutor, journalist, marketer.

tau: the threshold above which a person is at risk. El Emam 2013, Guide to the de-identification of personal health
information; Dankar and El Emam 2010, A method for evaluating marketer re-identification risk.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from medveil.evaluation.population import population_of_classes
from medveil.risk.risk import Comparison, Risk, RiskFinding, Skipped

NOTHING = "nothing was published"


class Prosecutor(Risk):
    """The risk of a person who is known to be in the release.

        highest = 1 / (smallest class), average = classes / n, at risk = share of n in classes with 1 / |E| > tau

    |E|: the people of a class; n: the people of all classes, one counted once in each class that they are in. The value
    is the highest.
    """

    name: ClassVar[str] = "prosecutor"
    title: ClassVar[str] = "Prosecutor risk"

    def assess(self, comparison: Comparison) -> RiskFinding | Skipped:
        sizes = comparison.sizes
        if not len(sizes):
            return Skipped(NOTHING)
        threshold = comparison.settings.threshold
        parts = {
            "highest": 1.0 / float(sizes.min()),
            "average": len(sizes) / float(sizes.sum()),
            f"share above {threshold:g}": float(sizes[1.0 / sizes > threshold].sum() / sizes.sum()),
        }
        return RiskFinding(parts["highest"], 1.0 / float(sizes.sum()), parts=parts, counted=comparison.counted)


class Journalist(Risk):
    """The risk of a person of whom only the population knows, not whether they are in the release.

        highest = 1 / (smallest F), average = max(classes / sum of F, (1/n) sum of f / F),
        at risk = share of n in classes with 1 / F > tau

    f: the people of a class; F: the people of the population whom the class covers. The value is the highest.
    """

    name: ClassVar[str] = "journalist"
    title: ClassVar[str] = "Journalist risk"

    def assess(self, comparison: Comparison) -> RiskFinding | Skipped:
        sizes, population = comparison.sizes, population_of_classes(comparison)
        if population is None:
            return Skipped("there is no population file ('evaluation: {population: FILE}' in the policy)")
        if not len(sizes):
            return Skipped(NOTHING)
        threshold, total = comparison.settings.threshold, float(sizes.sum())
        behind = np.maximum(population, sizes)
        parts = {
            "highest": 1.0 / float(behind.min()),
            "average": max(len(sizes) / float(behind.sum()), float((sizes / behind).sum()) / total),
            f"share above {threshold:g}": float(sizes[1.0 / behind > threshold].sum() / total),
        }
        outside = int(np.count_nonzero(population < sizes))
        note = f"{outside} classes hold more people than the population has of them." if outside else ""
        people = comparison.problem.cells.population
        guesser = 1.0 / max(float(people.sum()), 1.0) if people is not None else None
        return RiskFinding(parts["highest"], guesser, parts=parts, counted=comparison.counted, note=note)


class Marketer(Risk):
    """The share of people whom an attacker who links everybody gets right on average.

        classes / n where the attacker's list holds the people of the release,
        (1/n) sum of f / F where it holds the population

    The value is the first, or the second where there is a population.
    """

    name: ClassVar[str] = "marketer"
    title: ClassVar[str] = "Marketer risk"

    def assess(self, comparison: Comparison) -> RiskFinding | Skipped:
        sizes, population = comparison.sizes, population_of_classes(comparison)
        if not len(sizes):
            return Skipped(NOTHING)
        total = float(sizes.sum())
        parts = {"against the release": len(sizes) / total}
        if population is not None:
            behind = np.maximum(population, sizes)
            parts["against the population"] = float((sizes / behind).sum()) / total
        return RiskFinding(list(parts.values())[-1], 1.0 / total, parts=parts, counted=comparison.counted)
