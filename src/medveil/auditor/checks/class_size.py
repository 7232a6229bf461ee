"""The people behind every published combination, what is published of sensitive attributes included."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from medveil.auditor.context import Check, Finding, Refuted, Terms
from medveil.auditor.evidence import Evidence
from medveil.auditor.tables import STAR


class ClassSizeCheck(Check):
    """Every combination of quasi-identifiers and recoded sensitive attributes, as published, has k people.

    Who knows which set of ids somebody's record shows still finds k people: more than k-anonymity, which is about
    quasi-identifiers alone.
    """

    name: ClassVar[str] = "class-size"
    terms: ClassVar[frozenset[str]] = frozenset({"k"})
    bounded_by_records: ClassVar[bool] = True

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        k = Terms(claim).number("k")
        names = [*evidence.names("quasi"), *(n for n in evidence.names("sensitive") if evidence.recoded(n))]
        columns = evidence.columns(names)
        if evidence.counts_people:
            evidence.need_linked()
            counted, number = "kept", evidence.number_of_people
        else:
            starred = " AND ".join(f"coalesce({evidence.column(n)} = '{STAR}', false)" for n in evidence.names())
            hides = evidence.manifest.suppressed == "stars"
            rows = evidence.published_rows(evidence.names() if hides else names)
            counted, number = f"({rows}) WHERE NOT ({starred})" if hides else f"({rows})", "sum(n)::BIGINT"
        (smallest,) = evidence.one(f"SELECT min(n) FROM (SELECT {columns}, {number} AS n FROM {counted} GROUP BY ALL)")
        if smallest is None:
            raise Refuted("the release holds no records")
        return Finding({"k": smallest}, smallest >= k)
