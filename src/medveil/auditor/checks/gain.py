"""Models that bound what a class tells about a value beyond what the input tells, measured again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from medveil.auditor.context import ROUNDING, CannotTell, Check, Finding, Terms, figure
from medveil.auditor.evidence import Evidence
from medveil.auditor.histogram import AuditedHistogram, count, input_shares


class DeltaDisclosureCheck(Check):
    """|log p(E, s) - log p(T, s)| < delta for every class E and every value s of the input T.

    A value that a class lacks has log 0, unless the claim says that absent values are ignored.
    """

    name: ClassVar[str] = "delta-disclosure"
    terms: ClassVar[frozenset[str]] = frozenset({"delta", "absent"})

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        terms = Terms(claim)
        delta, absent = terms.number("delta"), terms.word("absent")
        if absent not in {"refuse", "ignore"}:
            raise CannotTell(f"there is no check for 'absent: {absent}'")
        histogram, whole, of_input = _compared(evidence, claim)
        with np.errstate(divide="ignore"):
            worst = float(np.abs(np.log(histogram.shares) - np.log(of_input)).max())
        if absent == "refuse" and histogram.distinct.min() < np.count_nonzero(whole):
            worst = math.inf
        return Finding({"delta": figure(worst)}, worst < delta)


class BetaLikenessCheck(Check):
    """No value's share in a class exceeds that in the input, p, by more than beta p; nor, enhanced, by -p log p."""

    name: ClassVar[str] = "beta-likeness"
    terms: ClassVar[frozenset[str]] = frozenset({"variant", "beta"})

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        terms = Terms(claim)
        beta, variant = terms.number("beta"), terms.word("variant")
        if variant not in {"basic", "enhanced"}:
            raise CannotTell(f"there is no check for the variant '{variant}'")
        histogram, _, of_input = _compared(evidence, claim)
        with np.errstate(divide="ignore"):
            gain = np.maximum(histogram.shares / of_input - 1.0, 0.0)
            bound = -np.log(of_input)
        if variant == "enhanced":
            gain = np.where(gain <= bound + ROUNDING, gain, math.inf)
        worst = float(gain.max())
        return Finding({"beta": figure(worst)}, worst <= beta + ROUNDING)


def _compared(
    evidence: Evidence, claim: Mapping[str, Any]
) -> tuple[AuditedHistogram, NDArray[np.float64], NDArray[np.float64]]:
    """The histogram, the input's share of every value, and that of the value of each pair."""
    attribute = evidence.attribute(claim)
    histogram = count(evidence, evidence.shield(claim), attribute, whole=True)
    whole = input_shares(evidence, attribute, histogram.domain)
    return histogram, whole, whole[histogram.codes]
