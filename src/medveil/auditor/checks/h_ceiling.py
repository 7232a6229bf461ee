"""The ceiling on generalization, measured again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pyarrow as pa

from medveil.auditor.context import ROUNDING, CannotTell, Check, Finding, Terms, figure
from medveil.auditor.evidence import Evidence
from medveil.auditor.h_ceiling_degree import degrees
from medveil.auditor.tables import PERSON


class HCeilingCheck(Check):
    """No published row is generalized above h, or all of them on average.

        D(r) = mean over quasi-identifiers of (leaves covered - 1) / (leaves - 1) <= h

    Lee, Kim, Kim and Chung 2017, Utility-preserving anonymization for health data publishing, definition 1.
    """

    name: ClassVar[str] = "h-ceiling"
    terms: ClassVar[frozenset[str]] = frozenset({"h"})

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        terms = Terms(claim)
        h, ceiling = terms.number("h"), terms.optional_word("ceiling") or "record"
        if ceiling not in {"record", "mean"}:
            raise CannotTell(f"there is no check for the ceiling '{ceiling}'")
        quasi = evidence.names("quasi")
        joins, sums = [], []
        for name in quasi:
            column = evidence.column(name)
            of_label = degrees(evidence, name)
            labels = pa.array(of_label, pa.string())
            evidence.keep(f"degree_{column}", pa.table({"label": labels, "d": pa.array(list(of_label.values()))}))
            joins.append(f"JOIN degree_{column} ON rated.{column} IS NOT DISTINCT FROM degree_{column}.label")
            sums.append(f"degree_{column}.d")
        rated, reached = "cells", "max"
        if ceiling == "mean":
            # Who lives where is not in the release, which holds some records several times: the links tell.
            evidence.need_linked()
            people = "DISTINCT " if terms.optional_word("over") == "people" else ""
            rated, reached = f"(SELECT {people}{evidence.columns(quasi)}, {PERSON} FROM kept)", "avg"
        query = f"SELECT {reached}(({' + '.join(sums)}) / {len(quasi)}) FROM {rated} AS rated {' '.join(joins)}"
        (degree,) = evidence.one(query)
        return Finding({"h": figure(degree)}, degree <= h + ROUNDING)
