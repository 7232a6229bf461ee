"""p-sensitive k-anonymity, counted again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from medveil.auditor.context import Check, Finding, Terms
from medveil.auditor.evidence import Evidence
from medveil.auditor.histogram import count


class PSensitiveKAnonymityCheck(Check):
    """Every class has k people and p distinct values."""

    name: ClassVar[str] = "p-sensitive-k-anonymity"
    terms: ClassVar[frozenset[str]] = frozenset({"p", "k"})
    bounded_by_records: ClassVar[bool] = True

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        terms = Terms(claim)
        p, k = terms.number("p"), terms.number("k")
        histogram = count(evidence, evidence.shield(claim), evidence.attribute(claim))
        values, people = int(histogram.distinct.min()), int(histogram.sizes.min())
        return Finding({"p": values, "k": people}, values >= p and people >= k)
