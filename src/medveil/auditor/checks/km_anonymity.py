"""k^m-anonymity, counted again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from medveil.auditor.context import Check, Finding, Refuted, Terms
from medveil.auditor.evidence import Evidence

MOST = 3


class KMAnonymityCheck(Check):
    """Of every set of at most m published values that somebody has, at least k people have all: min over sets >= k."""

    name: ClassVar[str] = "km-anonymity"
    terms: ClassVar[frozenset[str]] = frozenset({"k", "m"})

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        terms = Terms(claim)
        k, m = terms.number("k"), terms.positive("m")
        if m != int(m) or m > MOST:
            raise Refuted(f"sets of more than {MOST} values are not counted")
        pairs = evidence.sets(claim)
        least = None
        for size in range(1, int(m) + 1):
            tables = ", ".join(f"({pairs}) AS s{i}" for i in range(size))
            same = " AND ".join(f"s0.person = s{i}.person AND s{i - 1}.v < s{i}.v" for i in range(1, size)) or "true"
            values = ", ".join(f"s{i}.v" for i in range(size))
            (smallest,) = evidence.one(
                f"SELECT min(n) FROM (SELECT {values}, count(*) AS n FROM {tables} WHERE {same} GROUP BY ALL)"
            )
            least = smallest if least is None or (smallest is not None and smallest < least) else least
        if least is None:
            raise Refuted("nobody has any value")
        return Finding({"k": int(least), "m": int(m)}, least >= k)
