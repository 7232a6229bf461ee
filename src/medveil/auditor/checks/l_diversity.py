"""l-diversity, counted again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from medveil.auditor.context import ROUNDING, CannotTell, Check, Finding, Refuted, Terms, figure
from medveil.auditor.evidence import Evidence
from medveil.auditor.histogram import AuditedHistogram, count


class LDiversityCheck(Check):
    """Distinct values, entropy, or recursive (c,l), of the worst class.

        distinct:   number of values >= l
        entropy:    log N - (1/N) sum_s n_s log n_s >= log l
        recursive:  r_1 / (r_l + ... + r_m) < c

    n_s: the count of value s in a class; N: their sum; r_i: the i-th largest of them.
    """

    name: ClassVar[str] = "l-diversity"
    terms: ClassVar[frozenset[str]] = frozenset({"variant", "l", "c"})

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        terms = Terms(claim)
        variant, l = terms.word("variant"), terms.positive("l")  # noqa: E741 - the literature's name
        if variant not in {"distinct", "entropy", "recursive"}:
            raise CannotTell(f"there is no check for the variant '{variant}'")
        if variant != "recursive" and "c" in claim["required"]:
            raise Refuted("the claim requires 'c', which is for the recursive variant alone")
        histogram = count(evidence, evidence.shield(claim), evidence.attribute(claim))
        if variant == "distinct":
            least = int(histogram.distinct.min())
            return Finding({"l": least}, least >= l)
        if variant == "entropy":
            entropy = float(_entropies(histogram).min())
            return Finding({"l": figure(math.exp(entropy))}, entropy >= math.log(l) - ROUNDING)
        worst = float(_top_over_tail(histogram, int(l)).max())
        return Finding({"l": l, "c": figure(worst)}, worst < terms.number("c"))


def _entropies(histogram: AuditedHistogram) -> NDArray[np.float64]:
    total = histogram.added(histogram.counts)
    logarithms = histogram.added(histogram.counts * np.log(histogram.counts))
    return np.asarray(np.log(total) - logarithms / total, dtype=np.float64)


def _top_over_tail(histogram: AuditedHistogram, l: int) -> NDArray[np.float64]:  # noqa: E741 - the literature's name
    """Infinite for a class of fewer than l values."""
    order = np.lexsort((-histogram.counts, histogram.classes))
    falling = histogram.counts[order]
    rank = np.arange(len(falling)) - histogram.starts[histogram.classes] + 1
    tail = histogram.added(np.where(rank >= l, falling, 0))
    return np.divide(histogram.largest(falling), tail, out=np.full(len(tail), math.inf), where=tail > 0)
