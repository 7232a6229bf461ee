"""Claims that hold *with counterfeits*: each counterfeit counts as one more person."""

from __future__ import annotations

from medveil.auditor.evidence import Evidence
from medveil.auditor.tables import PERSON


class WithCounterfeits(Evidence):
    """Evidence that counts counterfeits along with people. Where records are counted the release holds them already."""

    @classmethod
    def of(cls, evidence: Evidence) -> Evidence:
        if evidence.counts_people:
            evidence.need_linked()  # before it is copied: links are read once
        return evidence.seen_as(cls)

    def _counted(self, selected: str) -> str:
        if not self.counts_people:
            return super()._counted(selected)
        self.need_linked()
        self._join_counterfeits()
        distinct = f"SELECT DISTINCT {selected}, {PERSON} FROM linked_with_counterfeits"
        return f"SELECT * EXCLUDE ({PERSON}), count(*) AS n FROM ({distinct}) GROUP BY ALL"

    def _join_counterfeits(self) -> None:
        """`linked`, and the published rows that no record of the source explains, each as a person of its own."""
        columns = self.columns(self.counted)
        balance = f"SELECT {columns}, n AS d FROM cells UNION ALL SELECT {columns}, -1 AS d FROM kept"
        self.connection.execute(
            f"CREATE OR REPLACE TABLE linked_with_counterfeits AS SELECT {columns}, {PERSON} FROM linked UNION ALL "
            f"SELECT {columns}, chr(0) || row_number() OVER () AS {PERSON} FROM "
            f"(SELECT {columns}, sum(d)::BIGINT AS d FROM ({balance}) GROUP BY ALL HAVING sum(d) > 0), unnest(range(d))"
        )
