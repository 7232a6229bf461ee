"""The ceiling on generalization, measured again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pyarrow as pa

from medveil.auditor.context import ROUNDING, Check, Finding, Terms, figure
from medveil.auditor.evidence import Evidence
from medveil.auditor.h_ceiling_degree import degrees


class HCeilingCheck(Check):
    """No published row is generalized above h.

        D(r) = mean over quasi-identifiers of (leaves covered - 1) / (leaves - 1) <= h

    Lee, Kim, Kim and Chung 2017, Utility-preserving anonymization for health data publishing, definition 1.
    """

    name: ClassVar[str] = "h-ceiling"
    terms: ClassVar[frozenset[str]] = frozenset({"h"})

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        h = Terms(claim).number("h")
        quasi = evidence.names("quasi")
        joins, sums = [], []
        for name in quasi:
            column = evidence.column(name)
            of_label = degrees(evidence, name)
            labels = pa.array(of_label, pa.string())
            evidence.keep(f"degree_{column}", pa.table({"label": labels, "d": pa.array(list(of_label.values()))}))
            joins.append(f"JOIN degree_{column} ON cells.{column} IS NOT DISTINCT FROM degree_{column}.label")
            sums.append(f"degree_{column}.d")
        (worst,) = evidence.one(f"SELECT max(({' + '.join(sums)}) / {len(quasi)}) FROM cells {' '.join(joins)}")
        return Finding({"h": figure(worst)}, worst <= h + ROUNDING)
