"""How many people no other one equals: in the release, and in the population that it was drawn from."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from medveil.evaluation.population import population_of_classes
from medveil.risk.population_models import pitman_uniques, zayatz_share
from medveil.risk.risk import Comparison, Risk, RiskFinding, Skipped


class SampleUniqueness(Risk):
    """The share of published people whose quasi-identifiers nobody else in the release has.

    U = classes of one person / n
    """

    name: ClassVar[str] = "sample-uniqueness"
    title: ClassVar[str] = "Unique in the release"

    def assess(self, comparison: Comparison) -> RiskFinding | Skipped:
        sizes = comparison.sizes
        if not len(sizes):
            return Skipped("nothing was published")
        return RiskFinding(float(np.count_nonzero(sizes == 1) / sizes.sum()), counted=comparison.counted)


class PopulationUniqueness(Risk):
    """The share of published people whose quasi-identifiers nobody else in the *population* has.

    Counted where the policy names a population. Otherwise, where it tells the population's size N, estimated by
    Pitman's model: the class sizes are taken for a draw from the Ewens-Pitman partition with parameters theta and
    alpha, fitted by maximum likelihood, and

        E[unique in the population] = Gamma(theta + 1) / Gamma(theta + alpha) * N^alpha

    of which the sampled share is in the release. Hoshino 2001, Applying Pitman's sampling formula to microdata
    disclosure risk assessment. Zayatz's estimate stands beside it, as it needs no model of the population: the
    probability that a class of one person in the release has one in the population, where classes of the population
    are as large as those of the release. Zayatz 1991, Estimation of the percent of unique population elements on a
    microdata file using the sample.
    """

    name: ClassVar[str] = "population-uniqueness"
    title: ClassVar[str] = "Unique in the population"

    def assess(self, comparison: Comparison) -> RiskFinding | Skipped:
        sizes, population = comparison.sizes, population_of_classes(comparison)
        if not len(sizes):
            return Skipped("nothing was published")
        total, unique = int(sizes.sum()), int(np.count_nonzero(sizes == 1))
        if population is not None:
            alone = int(np.count_nonzero((sizes == 1) & (population <= 1)))
            return RiskFinding(alone / total, counted=comparison.counted, note="Counted in the population file.")
        size = comparison.settings.population_size
        if size is None:
            return Skipped("the policy names neither a population nor its size ('evaluation: {population_size: N}')")
        if size < total:
            return Skipped(f"the population is said to be {size:,} people, fewer than the release has ({total:,})")
        share = unique / total
        zayatz = share * zayatz_share(sizes, size)
        pitman = pitman_uniques(sizes, size)
        if pitman is None:
            note = "Zayatz's estimate: Pitman's model cannot be fitted to classes like these."
            return RiskFinding(zayatz, parts={"zayatz": zayatz}, counted=comparison.counted, note=note)
        estimate = min(pitman / size, share)
        parts = {"pitman": estimate, "zayatz": zayatz}
        return RiskFinding(estimate, parts=parts, counted=comparison.counted, note="Pitman's estimate.")
