"""MS(k, theta)-bounding, counted again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from medveil.auditor.context import ROUNDING, CannotTell, Check, Finding, Terms, figure
from medveil.auditor.evidence import Evidence
from medveil.auditor.histogram import count


class MSBoundingCheck(Check):
    """Every class has k people, and of them at most a share theta(s) has the value s."""

    name: ClassVar[str] = "ms-bounding"
    terms: ClassVar[frozenset[str]] = frozenset({"k", "theta", "of_bound"})

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        terms = Terms(claim)
        k, theta, most = terms.number("k"), terms.number("theta"), terms.number("of_bound")
        single = claim["parameters"].get("values", {})
        if not isinstance(single, Mapping) or not all(isinstance(bound, int | float) for bound in single.values()):
            raise CannotTell("the claim's bounds of single values cannot be read")
        histogram = count(evidence, evidence.shield(claim), evidence.attribute(claim))
        bounds = np.array([single.get(value, theta) for value in histogram.domain.values], dtype=np.float64)
        shares = histogram.counts / histogram.sizes[histogram.classes]
        surest = float((shares / bounds[histogram.codes]).max())
        smallest = int(histogram.sizes.min())
        achieved = {"k": smallest, "of_bound": figure(surest)}
        return Finding(achieved, smallest >= k and surest <= most + ROUNDING)
