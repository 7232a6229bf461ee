"""MS(k, theta)-bounding, counted again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from medveil.auditor.context import ROUNDING, CannotTell, Check, Finding, Terms, figure
from medveil.auditor.counterfeits import CounterfeitCheck
from medveil.auditor.evidence import Evidence
from medveil.auditor.histogram import count


class MSBoundingCheck(Check):
    """Every class has k people, and of them at most a share theta(s) has the value s."""

    name: ClassVar[str] = "ms-bounding"

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        terms = Terms(claim)
        k, theta = terms.number("k"), terms.number("theta")
        single = claim["parameters"].get("values", {})
        if not isinstance(single, Mapping) or not all(isinstance(bound, int | float) for bound in single.values()):
            raise CannotTell("the claim's bounds of single values cannot be read")
        histogram = count(evidence, evidence.shield(claim), evidence.attribute(claim))
        bounds = np.array([single.get(value, theta) for value in histogram.domain.values], dtype=np.float64)
        shares = histogram.counts / histogram.sizes[histogram.classes]
        surest = float((shares / bounds[histogram.codes]).max())
        smallest = int(histogram.sizes.min())
        achieved = {"k": smallest, "of_bound": figure(surest)}
        return Finding(achieved, smallest >= k and surest <= 1.0 + ROUNDING)


class MSBoundingWithCounterfeits(CounterfeitCheck):
    name: ClassVar[str] = "ms-bounding with counterfeits"
    check_of_model = MSBoundingCheck
