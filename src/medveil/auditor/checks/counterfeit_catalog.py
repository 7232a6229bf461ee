"""The catalog of counterfeits, attacked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from medveil.auditor.catalog_flow import most_in_class, place, posteriors
from medveil.auditor.catalog_listing import Counts, Listing, read_listing
from medveil.auditor.catalog_stories import weigh
from medveil.auditor.context import ROUNDING, CannotTell, Check, Finding, Refuted, Terms, figure
from medveil.auditor.counterfeits import OneClass
from medveil.auditor.evidence import Evidence
from medveil.auditor.models import MODELS
from medveil.release.draft import Counting

_ONLY_SIZES = "k-anonymity"


class CounterfeitCatalogCheck(Check):
    """Nobody can tell counterfeits from real records with the catalog at hand.

    lemma_1: in every row the records of its value in the other classes are at least its count, for each class.
    told: counterfeits that an attacker who knows how classes are filled can point at in every placement that release
        and catalog allow jointly.
    posterior: how sure that attacker is of the likeliest counterfeit.
    least_real: the fewest real records that a class has in some placement.
    certainly_real: the share of published records that no placement makes a counterfeit.
    """

    name: ClassVar[str] = "counterfeit-catalog"
    terms: ClassVar[frozenset[str]] = frozenset({"lemma_1", "told", "posterior"})

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        terms = Terms(claim)
        padding, k = terms.word("padding"), int(terms.number("k"))
        if padding not in {"concealed", "published"}:
            raise CannotTell(f"there is no check for the padding '{padding}'")
        listing = read_listing(evidence, claim)
        failures = listing.lemma_failures()
        attacked = self._attack(evidence, listing, padding, k)
        achieved = {"counterfeits": int(listing.counts.sum()), "lemma_1": failures == 0, **attacked}
        required = claim["required"]
        holds = failures == 0
        if "told" in required:
            holds = holds and attacked["told"] <= terms.number("told")
        if "posterior" in required:
            holds = holds and attacked["posterior"] <= terms.number("posterior") + ROUNDING
        note = "" if failures == 0 else f"in {failures:,} listed classes the counterfeits can be told (Lemma 1)"
        return Finding(achieved, holds, note)

    def _attack(self, evidence: Evidence, listing: Listing, padding: str, k: int) -> dict[str, Any]:
        if not len(listing.counts):
            return {"told": 0, "posterior": 0.0, "least_real": int(listing.sizes.min()), "certainly_real": 1.0}
        others = _other_models(evidence)
        certainly = 1.0 - float(listing.held.sum()) / float(listing.sizes.sum())
        if padding == "concealed":
            needy = _Needy(evidence, listing, others).of if others else None
            told = weigh(listing, k, needy, by_size=not evidence.counts_people, alike=not evidence.names("plain"))
            if told is not None:
                return {
                    "told": told.told,
                    "posterior": figure(told.posterior),
                    "least_real": told.least_real,
                    "certainly_real": figure(certainly),
                }
        cap = listing.sizes - 1
        if padding == "published" and not others and not evidence.counts_people:
            cap = np.where(listing.sizes == k, k - 1, 0)
        placement = place(listing, cap)
        if placement is None:
            raise Refuted("no placement of the counterfeits fits the catalog and the way classes are said to be filled")
        told_pairs = placement.told()
        shares, estimated = posteriors(placement)
        hidden = np.where(cap[listing.of_class] > 0, listing.held, 0)
        least = int((listing.sizes - most_in_class(listing, cap)).min())
        posterior = 1.0 if told_pairs.any() and np.any(told_pairs == listing.held) else float(shares.max())
        return {
            "told": int(told_pairs.sum()),
            "posterior": round(posterior, 2) if estimated else figure(posterior),
            "least_real": least,
            "certainly_real": figure(1.0 - float(hidden.sum()) / float(listing.sizes.sum())),
        }


def _other_models(evidence: Evidence) -> list[Mapping[str, Any]]:
    """The claims, other than k-anonymity, for whose sake a class may have been filled."""
    return [
        claim
        for claim in evidence.manifest.claims
        if claim.get("counting") == Counting.WITH_COUNTERFEITS.value
        and claim["model"] != _ONLY_SIZES
        and claim.get("on") is None
    ]


class _Needy:
    """Whether a class would fail a model if some of its records were not there."""

    def __init__(self, evidence: Evidence, listing: Listing, claims: list[Mapping[str, Any]]) -> None:
        self.evidence = evidence
        self.listing = listing
        self.claims = claims
        self.ids = [
            number for (number,) in evidence.connection.execute("SELECT DISTINCT id FROM held ORDER BY id").fetchall()
        ]

    def of(self, number: int, rows: Counts, each: Counts) -> bool:
        """Without `each` records of the values of these catalog rows in the class of this number."""
        cells = self._without(self.ids[number], rows, each)
        alone = OneClass.of(self.evidence, cells)
        for claim in self.claims:
            model = MODELS.get(claim["model"])
            if model is not None and model().check(alone, claim).holds is False:
                return True
        return False

    def _without(self, number: int, rows: Counts, each: Counts) -> pa.Table:
        """The class's cells under the columns that checks count in, less these records."""
        evidence = self.evidence
        sensitive = evidence.names("sensitive")
        taken = pa.table({"row": pa.array(rows), "taken": pa.array(each)})
        evidence.keep("taken", taken)
        keys = ", ".join(f"s{j}" for j in range(len(sensitive)))
        same = " AND ".join(f"numbered.s{j} IS NOT DISTINCT FROM less.s{j}" for j in range(len(sensitive)))
        quasi = ", ".join(f"numbered.{evidence.column(name)}" for name in evidence.names("quasi"))
        counted = "".join(
            f", numbered.s{j} AS {evidence.column(name)}"
            for j, name in enumerate(sensitive)
            if name in evidence.counted
        )
        return evidence.connection.sql(
            f"SELECT {quasi}{counted}, n - coalesce(taken, 0) AS n FROM numbered LEFT JOIN "
            f"(SELECT {keys}, taken FROM listed JOIN taken ON listed.row = taken.row WHERE listed.id = {number}) "
            f"AS less ON {same} WHERE numbered.id = {number} AND n > coalesce(taken, 0)"
        ).to_arrow_table()
