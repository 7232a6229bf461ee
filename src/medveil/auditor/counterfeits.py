"""Claims that hold *with counterfeits*: each counterfeit counts as one more person."""

from __future__ import annotations

import copy

import pyarrow as pa

from medveil.auditor.evidence import Evidence
from medveil.auditor.tables import PERSON


class WithCounterfeits(Evidence):
    """Evidence that counts counterfeits along with people. Where records are counted the release holds them already."""

    @classmethod
    def of(cls, evidence: Evidence) -> WithCounterfeits:
        if evidence.counts_people:
            evidence.need_linked()  # before it is copied: links are read once
        joined = copy.copy(evidence)
        joined.__class__ = cls
        assert isinstance(joined, WithCounterfeits)
        return joined

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


class OneClass(Evidence):
    """Evidence of one class alone, given by its counted cells: what a class would be like without some records."""

    @classmethod
    def of(cls, evidence: Evidence, cells: pa.Table) -> OneClass:
        alone = copy.copy(evidence)
        alone.__class__ = cls
        assert isinstance(alone, OneClass)
        alone.keep("one_class", cells)
        return alone

    def _counted(self, selected: str) -> str:
        return f"SELECT {selected}, sum(n)::BIGINT AS n FROM one_class GROUP BY ALL"
