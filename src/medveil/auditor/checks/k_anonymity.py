"""k-anonymity, counted again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from medveil.auditor.context import Check, Finding, Terms
from medveil.auditor.evidence import Evidence


class KAnonymityCheck(Check):
    """The smallest class has k people: min over classes of |E| >= k."""

    name: ClassVar[str] = "k-anonymity"
    terms: ClassVar[frozenset[str]] = frozenset({"k"})
    bounded_by_records: ClassVar[bool] = True

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        k = Terms(claim).number("k")
        (smallest,) = evidence.one(f"SELECT min(n) FROM ({evidence.sizes(evidence.shield(claim))})")
        return Finding({"k": smallest}, smallest >= k)
