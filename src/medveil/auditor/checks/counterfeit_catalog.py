"""The catalog of counterfeits, attacked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from medveil.auditor.catalog_flow import most_in_class, place, posteriors
from medveil.auditor.catalog_listing import Listing, read_listing
from medveil.auditor.context import ROUNDING, CannotTell, Check, Finding, Refuted, Terms, figure
from medveil.auditor.evidence import Evidence
from medveil.auditor.groups import need_groups
from medveil.auditor.learning import SURE, learn
from medveil.release.catalog import CATALOG

EXACTLY_K = "exactly k"
"""How classes are filled where k alone is asked for: those that have fewer, and no farther."""


class CounterfeitCatalogCheck(Check):
    """What anyone may believe who holds release and catalog.

    protection: people. Every class of a group publishes the bundles R of all people of the group, of which r_i are
    really of class i: counted class by class, with the source also who is where.
        k: the fewest people of a group; a record is a given person's with probability 1/|R| <= 1/k.
        least_real: the least probability r_i/|R| of a record to be real.
        learner_sure: of how many people of groups of several classes an attacker is surer than 0.9 who learns from the
            release itself (see `learning`); learner_claimed: in how many of these cases he is right by the claim.

    protection: published. Nothing but Lemma 1 is required; the rest says what that leaves open.
        lemma_1: in every row the records of its value in the other classes are at least its count, for each class.
        told: counterfeits that an attacker who knows how classes are filled can point at in every placement that
            release and catalog allow jointly.
        posterior: how sure that attacker is of the likeliest counterfeit.
        least_real: the fewest real records that a class has in some placement.
        certainly_real: the share of published records that no placement makes a counterfeit.
    """

    name: ClassVar[str] = "counterfeit-catalog"
    terms: ClassVar[frozenset[str]] = frozenset({"k", "lemma_1", "told", "posterior"})
    files: ClassVar[frozenset[str]] = frozenset({CATALOG})

    def check(self, evidence: Evidence, claim: Mapping[str, Any]) -> Finding:
        terms = Terms(claim)
        if terms.optional_word("padding") == "concealed":
            raise CannotTell("medveil 0.1 claimed too much of concealed padding: make the release again")
        protection = terms.optional_word("protection") or terms.word("padding")
        if protection == "people":
            return self._check_people(evidence, claim, terms.number("k"))
        if protection != "published":
            raise CannotTell(f"there is no check for the protection '{protection}'")
        listing = read_listing(evidence, claim)
        failures = listing.lemma_failures()
        exactly = (terms.optional_word("filled") or EXACTLY_K) == EXACTLY_K
        attacked = self._attack(evidence, listing, int(terms.number("k")), exactly=exactly)
        achieved = {"counterfeits": int(listing.counts.sum()), "lemma_1": failures == 0, **attacked}
        required = claim["required"]
        holds = failures == 0
        holds = holds and ("told" not in required or attacked["told"] <= terms.number("told"))
        holds = holds and ("posterior" not in required or attacked["posterior"] <= terms.number("posterior") + ROUNDING)
        note = "" if failures == 0 else f"in {failures:,} listed classes the counterfeits can be told (Lemma 1)"
        return Finding(achieved, holds, note)

    def _check_people(self, evidence: Evidence, claim: Mapping[str, Any], k: float) -> Finding:
        groups = need_groups(evidence, claim)
        if evidence.source is not None and evidence.links.is_file():
            groups.need_people()
        smallest = groups.smallest()
        sure = claimed = 0.0
        for attribute in range(len(groups.sensitive)):
            guesses = [guess for guess in learn(groups, attribute) if guess.belief > SURE]
            number = float(sum(guess.people for guess in guesses))
            if number >= sure:
                sure, claimed = number, sum(guess.people * guess.claimed for guess in guesses)
        achieved = {
            "k": smallest,
            "counterfeits": groups.counterfeits,
            "groups": len(groups.listed),
            "least_real": figure(groups.least_real),
            "learner_sure": int(sure),
            "learner_claimed": figure(round(claimed, 6)),
        }
        return Finding(achieved, smallest >= k)

    def _attack(self, evidence: Evidence, listing: Listing, k: int, *, exactly: bool) -> dict[str, Any]:
        if not len(listing.counts):
            return {"told": 0, "posterior": 0.0, "least_real": int(listing.sizes.min()), "certainly_real": 1.0}
        cap = listing.sizes - 1
        if exactly and not evidence.counts_people:
            cap = np.where(listing.sizes == k, k - 1, 0)
        placement = place(listing, cap)
        if placement is None:
            raise Refuted("no placement of the counterfeits fits the catalog and the way classes are said to be filled")
        told_pairs = placement.forced()
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
